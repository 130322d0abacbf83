import { assertInstalled } from '../settings/optional-packages.ts';
import { describeRedisFailure, isNotPrimary, NotSupportedError, type RedisFailure } from './redis-failure.ts';
import { type RedisServer, readRedisServer } from './redis-server.ts';
import { createReplyGuard } from './reply-guard.ts';

/** Sends a command. Texts in its reply are buffers. Commands that are sent in one turn run in their order. */
export type SendCommand = (...args: readonly (string | Buffer)[]) => Promise<unknown>;

/** Commands that lead to one result. */
export type RedisWork<Reply> = (send: SendCommand) => Promise<Reply>;

interface ConnectionOptions {
  /** Read again for every connection, so that an address or a password in a file can change. */
  server: RedisServer;
  /** Maximum size of a reply, in bytes. */
  maxReplyBytes: number;
  /** Called whenever the connection is ready. */
  onReady(): void;
  /** Called when connecting fails, or the connection is lost. */
  onLost(): void;
}

interface Client {
  readonly send: SendCommand;
  destroy(): void;
}

const CONNECT_TIMEOUT_MS = 2_000;

/** Maximum delay before reconnecting. */
const MAX_RECONNECT_DELAY_MS = 1_000;

/** Time without data after which a connection is considered dead. Trials keep a working one busy. */
const MAX_SILENCE_MS = 5_000;

/** No reply has arrived for too long. The socket's own timeout doesn't notice while commands are sent. */
class SilenceError extends Error {
  readonly code = 'TIMEOUT';
}

/** Maximum pending commands, which is only reached if Redis hangs. */
const MAX_PENDING = 1_000;

/**
 * Starts to connect to Redis. The connection reconnects by itself.
 *
 * @throws {SecretError} if the URL or the certificates are invalid; the message doesn't quote them
 * @throws {MissingPackageError} if the Redis client is not installed
 */
export function openRedis({ server, maxReplyBytes, onReady, onLost }: ConnectionOptions) {
  readRedisServer(server);
  assertInstalled('redis');
  const { promise: opened, resolve, reject } = Promise.withResolvers<void>();
  opened.catch(() => {}); // Prevents an unhandled rejection if nobody waits for it.
  const guard = createReplyGuard(maxReplyBytes);
  /** Client of the current connection. Each connection has its own, because a client can't change its server. */
  let client: Client | undefined;
  let isReady = false;
  let isClosed = false;
  let usesTls = false;
  let wasReady = false;
  /** Attempts to connect since the last script that succeeded. */
  let attempts = 0;
  let repliedAt = 0;
  let nextAttempt: NodeJS.Timeout | undefined;
  let lastFailure: RedisFailure = { code: 'NOT_CONNECTED' };
  let isReply: (error: Error) => boolean = () => false;
  const describe = (error: unknown) => describeRedisFailure(error, { usesTls, wasReady }, isReply);

  function replied(): void {
    guard.replied();
    repliedAt = performance.now();
  }

  /** Gives the connection up and plans the next one. */
  function reconnect(error: unknown): void {
    if (isClosed || nextAttempt !== undefined) {
      return;
    }
    lastFailure = describe(error);
    reject(error);
    client?.destroy();
    client = undefined;
    isReady = false;
    const delay = Math.min(MAX_RECONNECT_DELAY_MS, 50 * 2 ** attempts) * (0.5 + Math.random() / 2);
    attempts += 1;
    nextAttempt = setTimeout(() => {
      nextAttempt = undefined;
      connect().catch(reconnect);
    }, delay).unref();
    onLost();
  }

  /** Loads the package and connects. It is loaded only now, because loading is slow and only needed with Redis. */
  async function connect(): Promise<void> {
    const { createClient, ErrorReply, RESP_TYPES } = await import('@redis/client');
    isReply = (error) => error instanceof ErrorReply;
    if (isClosed) {
      return;
    }
    const { url, ca } = readRedisServer(server);
    usesTls = url.startsWith('rediss:');
    const created = createClient({
      url,
      RESP: 2, // Sufficient, and supported by every server and proxy.
      maintNotifications: 'disabled',
      disableOfflineQueue: true, // Callers do without Redis while it is disconnected, and their calls must not run later.
      commandOptions: { timeout: 0 }, // The caller has its own timer.
      commandsQueueMaxLength: MAX_PENDING,
      socket: {
        connectTimeout: CONNECT_TIMEOUT_MS,
        socketTimeout: MAX_SILENCE_MS,
        reconnectStrategy: false,
        ...(ca !== undefined && { ca }),
      },
    });
    const options = { typeMapping: { [RESP_TYPES.BLOB_STRING]: Buffer } };
    const opening: Client = {
      send: (...args) => guard.run(() => created.sendCommand(args, options)),
      destroy: () => created.destroy(),
    };
    client = opening;
    const onFailure = (error: unknown) => {
      if (client === opening) {
        reconnect(error); // Also if a reply wasn't understood, because later ones could go to the wrong commands.
      }
    };
    created.on('error', onFailure);
    created.on('connect', () => {
      if (client !== opening) {
        created.destroy(); // destroy() doesn't reach a socket that is still connecting.
      }
    });
    try {
      await guard.run(() => created.connect());
      await assertSupported(opening);
    } catch (error) {
      onFailure(error);
    }
    if (client === opening) {
      isReady = true;
      wasReady = true;
      replied();
      resolve();
      onReady();
    }
  }

  connect().catch(reconnect);

  return {
    /** Resolves when the connection is ready for the first time. Rejects if the first attempt fails or the connection is closed before. */
    opened,
    isReady: () => isReady,
    /** Runs commands. Rejects immediately if there is no connection. Has no timeout. */
    async run<Reply>(work: RedisWork<Reply>): Promise<Reply> {
      const current = client;
      if (current === undefined || !isReady) {
        throw new Error(lastFailure.code);
      }
      try {
        const reply = await work(current.send);
        replied();
        attempts = 0;
        return reply;
      } catch (error) {
        if (client === current) {
          if (error instanceof Error && isReply(error)) {
            replied();
          }
          lastFailure = describe(error); // Without a connection, the reason for the disconnect is more useful.
          if (isNotPrimary(lastFailure)) {
            reconnect(error); // The name may lead to the new primary by now.
          }
        }
        throw error;
      }
    },
    /** Reconnects if nothing has arrived for so long that the server is probably unreachable. Called when a reply is late. */
    reconnectIfSilent(): void {
      if (isReady && performance.now() - repliedAt > MAX_SILENCE_MS) {
        reconnect(new SilenceError());
      }
    },
    /** Returns the last failure, without any part of the URL. */
    lastFailure: () => lastFailure,
    /** Closes the connection immediately and rejects pending commands. */
    close(): void {
      isClosed = true;
      isReady = false;
      reject(new Error('closed'));
      clearTimeout(nextAttempt);
      client?.destroy();
      client = undefined;
      guard[Symbol.dispose]();
    },
  };
}

/** @throws {NotSupportedError} if the server is part of a cluster, or a Sentinel */
async function assertSupported({ send }: Client): Promise<void> {
  const info = await send('INFO', 'server').catch(() => ''); // If the user may not run it, trials find out.
  const [, mode] = /\bredis_mode:(cluster|sentinel)\b/.exec(String(info)) ?? [];
  if (mode !== undefined) {
    throw new NotSupportedError(mode === 'cluster' ? 'Redis Cluster' : 'Sentinel');
  }
}
