// Opens one connection to Redis, and describes its failures.

import {
  describeConnectionError,
  describeReply,
  notSupported,
  RedisError,
  type RedisFailure,
} from './redis-failure.ts';
import { type RedisServer, readRedisServer } from './redis-server.ts';

/** Sends a command. Texts in its reply are buffers. Commands that are sent in one turn run in their order. */
export type SendCommand = (...args: readonly (string | Buffer)[]) => Promise<unknown>;

/** Part of a client of `@redis/client`. */
interface Client {
  sendCommand(args: readonly (string | Buffer)[]): Promise<unknown>;
  destroy(): void;
}

const CONNECT_TIMEOUT_MS = 2_000;

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

  /** @param onError called when the connection can't be used any more */
  constructor(server: RedisServer, onError: (error: unknown) => void) {
    this.opened = this.#open(server, onError);
  }

  readonly send: SendCommand = (...args) =>
    this.#client?.sendCommand(args) ?? Promise.reject(new RedisError({ code: 'NOT_CONNECTED' }));

  /**
   * Describes an error of the connection, without quoting it.
   *
   * @param hasConnected whether there was a connection to the server before
   */
  describe(error: unknown, hasConnected: boolean): RedisFailure {
    return error instanceof Error && this.#isReply(error)
      ? describeReply(error.message)
      : describeConnectionError(error, this.#usesTls, hasConnected);
  }

  /** Closes the connection immediately, and rejects pending commands. */
  destroy(): void {
    this.#isDestroyed = true;
    this.#client?.destroy();
  }

  async #open(server: RedisServer, onError: (error: unknown) => void): Promise<void> {
    const { createClient, ErrorReply, RESP_TYPES } = await import('@redis/client'); // Only now, because loading is slow.
    const { url, ca } = readRedisServer(server);
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
    const [, mode] = /\bredis_mode:(cluster|sentinel)\b/.exec(String(info)) ?? [];
    if (mode !== undefined) {
      throw new RedisError(notSupported(mode === 'cluster' ? 'Redis Cluster' : 'Sentinel'));
    }
  }
}
