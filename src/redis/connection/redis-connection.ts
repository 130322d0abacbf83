// Opens one connection to Redis, and describes why that fails.

import { SecretError } from '../../files/secret-files.ts';
import { errorCodeOf } from '../../lib/caught.ts';
import { CONNECT_TIMEOUT_MS, createLookup } from '../../network/connector.ts';

/** Part of a client of `@redis/client`. */
interface Client {
  sendCommand(args: readonly (string | Buffer)[]): Promise<unknown>;
  destroy(): void;
}

type ReadServer = () => { url: string; ca?: string[] };

/** Time without data after which a connection is closed: one that is being opened, because an open one is tried more often. */
const MAX_SILENCE_MS = 5_000;

/** One connection to Redis. It doesn't reconnect: the next one reads again where the server is. */
export class RedisConnection {
  /** Resolves once commands can be sent. */
  readonly opened: Promise<void>;
  #client: Client | undefined;
  #isDestroyed = false;
  #usesTls = false;
  #isReply: (error: Error) => boolean = () => false;

  /**
   * @param readServer returns where the server is, and whom to trust
   * @param onError called when the connection can't be used any more
   */
  constructor(readServer: ReadServer, onError: (error: unknown) => void) {
    this.opened = this.#open(readServer, onError);
  }

  /** Sends a command. Texts in its reply are buffers. Commands that are sent in one turn run in their order. */
  readonly send = (...args: readonly (string | Buffer)[]): Promise<unknown> =>
    this.#client?.sendCommand(args) ?? Promise.reject(new RedisError({ code: 'NOT_CONNECTED' }));

  /**
   * Describes an error of the connection, without quoting it.
   *
   * @param prefix beginning of all keys that are used
   * @param hasConnected whether there was a connection to the server before
   */
  describe(error: unknown, prefix: string, hasConnected: boolean): RedisFailure {
    return error instanceof Error && this.#isReply(error)
      ? describeReply(error.message, prefix)
      : describeConnectionError(error, this.#usesTls, hasConnected);
  }

  /** Closes the connection immediately, and rejects pending commands. */
  destroy(): void {
    this.#isDestroyed = true;
    this.#client?.destroy();
  }

  async #open(readServer: ReadServer, onError: (error: unknown) => void): Promise<void> {
    const { createClient, ErrorReply, RESP_TYPES } = await import('@redis/client'); // Only now, because loading is slow.
    const { url, ca } = readServer();
    this.#usesTls = url.startsWith('rediss:');
    this.#isReply = (error) => error instanceof ErrorReply;
    const client = createClient({
      url,
      RESP: 2, // Sufficient, and supported by every server and proxy.
      maintNotifications: 'disabled',
      disableOfflineQueue: true, // Callers do without Redis while it is disconnected, and their calls must not run later.
      commandOptions: {
        timeout: 0, // It would end once a command is written. The caller has its own timer.
        typeMapping: { [RESP_TYPES.BLOB_STRING]: Buffer },
      },
      socket: {
        connectTimeout: CONNECT_TIMEOUT_MS,
        lookup: createLookup(Number(new URL(url).port || 6379)),
        autoSelectFamily: false,
        socketTimeout: MAX_SILENCE_MS,
        reconnectStrategy: false,
        ...(ca !== undefined && { ca }),
      },
    });
    client.on('error', onError); // Also if a reply wasn't understood, because later ones could go to the wrong commands.
    client.on('connect', () => {
      if (this.#isDestroyed) {
        client.destroy(); // destroy() doesn't reach a socket that is still connecting.
      }
    });
    if (this.#isDestroyed) {
      return;
    }
    this.#client = client;
    await client.connect();
    const info = await this.send('INFO', 'server').catch(() => ''); // If the user may not run it, the trial finds out.
    const [, mode] = /^(?:redis|server)_mode:(cluster|sentinel)\b/m.exec(String(info)) ?? [];
    if (mode !== undefined) {
      throw new RedisError(notSupported(mode === 'cluster' ? 'Redis Cluster' : 'Sentinel'));
    }
  }
}

/** Reason why Redis can't be used. */
export interface RedisFailure {
  /** Code from Node.js (`ECONNREFUSED`), the first word of an error of Redis (`WRONGPASS`), or a word of our own. */
  code: string;
  /** Clause with the cause, if waiting doesn't help because the configuration or the server must be changed. */
  cause?: string;
}

/** Error with a failure that this process has found itself. */
export class RedisError extends Error {
  readonly failure: RedisFailure;

  constructor(failure: RedisFailure) {
    super(failure.code);
    this.failure = failure;
  }
}

export const NOT_REDIS: RedisFailure = { code: 'NOT_REDIS', cause: "it doesn't respond like Redis" };

const notSupported = (mode: 'Redis Cluster' | 'Sentinel'): RedisFailure => ({
  code: 'NOT_SUPPORTED',
  cause: `it is a ${mode}, which isn't supported; the URL must lead to one primary under a stable name`,
});

/** Errors of Redis that waiting doesn't resolve. */
const FAILURES_BY_REPLY: readonly [reply: RegExp, failure: RedisFailure][] = [
  [/^WRONGPASS /, { code: 'WRONGPASS', cause: 'the user name or password is wrong' }],
  [/^NOAUTH /, { code: 'NOAUTH', cause: 'it requires a password' }],
  [
    /^NOPERM |^ERR (?:ACL failure in script|The user executing the script)/,
    {
      code: 'NOPERM',
      cause:
        'the user must be allowed to run the commands EVAL, EVALSHA, TIME, INFO, GET, MGET, SET, DEL, PEXPIRE, HVALS, HSET and HDEL',
    },
  ],
  [/^READONLY /, { code: 'READONLY', cause: 'it is a read-only replica; the URL must lead to the primary' }],
  [/^(MOVED|CROSSSLOT|CLUSTERDOWN) |^ERR SELECT is not allowed/, notSupported('Redis Cluster')],
  [/^ERR .*\bAUTH\b.*\bpassword/, { code: 'NO_PASSWORD', cause: 'the URL has a password, but the server has none' }],
  [/^ERR (DB index|invalid DB)/, { code: 'DATABASE', cause: "the URL's database number doesn't exist" }],
];

/** Describes an error that Redis has replied, without quoting it. */
function describeReply(message: string, prefix: string): RedisFailure {
  if (/^NOPERM .*\baccess .*\bkey/.test(message)) {
    return { code: 'NOPERM', cause: `the user must be allowed to use all keys that begin with "${prefix}"` };
  }
  const failure = FAILURES_BY_REPLY.find(([reply]) => reply.test(message))?.[1];
  return failure ?? { code: /^[A-Z]{2,20}(?= )/.exec(message)?.[0] ?? 'ERR' };
}

/**
 * Describes an error of a connection without quoting its message, which could contain secrets.
 *
 * @param hasConnected whether there was a connection to the server before
 */
function describeConnectionError(error: unknown, usesTls: boolean, hasConnected: boolean): RedisFailure {
  if (!(error instanceof Error)) {
    return { code: 'UNKNOWN' };
  }
  if (error instanceof RedisError) {
    return error.failure;
  }
  if (error instanceof SecretError) {
    return { code: 'INVALID_FILE', cause: error.message };
  }
  if (error.message.startsWith('Unknown RESP type')) {
    return NOT_REDIS;
  }
  const codeOfNode = errorCodeOf(error) ?? '';
  const code = /^\w{1,60}$/.test(codeOfNode) ? codeOfNode : error.constructor.name;
  if (/^(DEPTH_ZERO_SELF|SELF|CERT|UNABLE_TO|ERR_TLS_CERT)_/.test(code)) {
    return { code, cause: "its certificate isn't trusted; set ca to the certificate of its authority" };
  }
  if (usesTls && /^(ConnectionTimeoutError$|EPROTO$|ERR_SSL_)/.test(code)) {
    return { code, cause: "it doesn't respond to TLS; if it doesn't use TLS, the URL must start with redis://" };
  }
  if (!usesTls && !hasConnected && /^(ECONNRESET|SocketClosedUnexpectedlyError)$/.test(code)) {
    return { code, cause: 'it closes the connection; if it requires TLS, the URL must start with rediss://' };
  }
  return { code };
}
