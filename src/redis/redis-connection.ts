import { assertInstalled } from '../settings/optional-packages.ts';
import { findRedisUrlProblem } from '../settings/redis-url.ts';
import { describeRedisFailure, type RedisFailure } from './redis-failure.ts';
import type { RedisValue, ScriptCall } from './redis-script.ts';
import { createReplyGuard } from './reply-guard.ts';

/** Connection to Redis that reconnects by itself. */
export interface RedisConnection {
  /** Resolves when the connection is ready for the first time. Rejects if the first attempt fails or the connection is closed before. */
  readonly opened: Promise<void>;
  /** Returns whether the connection is ready. */
  isReady(): boolean;
  /** Runs a script. Rejects immediately if there is no connection. Has no timeout. */
  run<Reply>(call: ScriptCall<Reply>): Promise<Reply>;
  /** Returns the last failure, without any part of the URL. */
  lastFailure(): RedisFailure;
  /** Closes the connection immediately and rejects pending commands. */
  close(): void;
}

/** Options of `openRedis`. */
export interface ConnectionOptions {
  url: string;
  /** Maximum size of a reply, in bytes. */
  maxReplyBytes: number;
  /** Called whenever the connection is ready. */
  onReady(): void;
  /** Called when connecting fails, or the connection is lost. */
  onLost(): void;
}

interface Client {
  readonly isReady: boolean;
  /** Sends a command. Texts in its reply are buffers. */
  send(args: readonly RedisValue[]): Promise<unknown>;
  destroy(): void;
}

const CONNECT_TIMEOUT_MS = 2_000;

/** Maximum delay before reconnecting. */
const MAX_RECONNECT_DELAY_MS = 1_000;

/** Time without data after which a connection is considered dead. Pings keep a working one busy. */
const SOCKET_TIMEOUT_MS = 5_000;
const PING_INTERVAL_MS = 2_000;

/** Maximum pending commands, which is only reached if Redis hangs. */
const MAX_PENDING = 1_000;

/**
 * Starts to connect.
 *
 * @throws {TypeError} if the URL is invalid; the message doesn't quote it
 * @throws {MissingPackageError} if the Redis client is not installed
 */
export function openRedis({ url, maxReplyBytes, onReady, onLost }: ConnectionOptions): RedisConnection {
  const problem = findRedisUrlProblem(url);
  if (problem !== undefined) {
    throw new TypeError(`The URL of Redis ${problem}.`);
  }
  assertInstalled('redis');
  const { promise: opened, resolve, reject } = Promise.withResolvers<void>();
  opened.catch(() => {}); // Prevents an unhandled rejection if nobody waits for it.
  const guard = createReplyGuard(maxReplyBytes);
  const usesTls = url.startsWith('rediss:');
  let client: Client | undefined;
  let isClosed = false;
  let wasReady = false;
  let lastFailure: RedisFailure = { code: 'NOT_CONNECTED' };
  let isReply: (error: Error) => boolean = () => false;
  const describe = (error: unknown) => describeRedisFailure(error, { usesTls, wasReady }, isReply);

  function onError(error: unknown): void {
    lastFailure = describe(error);
    reject(error);
    if (client?.isReady === true && !(error instanceof Error && isReply(error))) {
      guard.disconnect(); // The reply wasn't understood, so that later ones could go to the wrong commands.
    }
    if (!isClosed) {
      onLost();
    }
  }

  /** Loads the package and connects. It is loaded only now, because loading is slow and only needed with Redis. */
  async function open(): Promise<void> {
    const { createClient, ErrorReply, RESP_TYPES } = await import('@redis/client');
    isReply = (error) => error instanceof ErrorReply;
    if (isClosed) {
      return;
    }
    const created = createClient({
      url,
      RESP: 2, // Sufficient, and supported by every server and proxy.
      maintNotifications: 'disabled',
      disableOfflineQueue: true, // Callers do without Redis while it is disconnected, and their calls must not run later.
      commandOptions: { timeout: 0 }, // The caller has its own timer.
      commandsQueueMaxLength: MAX_PENDING,
      pingInterval: PING_INTERVAL_MS,
      socket: {
        connectTimeout: CONNECT_TIMEOUT_MS,
        socketTimeout: SOCKET_TIMEOUT_MS,
        reconnectStrategy: (retries) => Math.min(MAX_RECONNECT_DELAY_MS, 50 * 2 ** retries) * (0.5 + Math.random() / 2),
      },
    });
    const options = { typeMapping: { [RESP_TYPES.BLOB_STRING]: Buffer } };
    client = {
      get isReady() {
        return created.isReady;
      },
      send: (args) => guard.run(() => created.sendCommand(args, options)),
      destroy: () => created.destroy(),
    };
    created.on('error', onError);
    created.on('ping-interval', guard.replied);
    created.on('ready', () => {
      wasReady = true;
      guard.replied();
      resolve();
      onReady();
    });
    created.on('connect', () => {
      if (isClosed) {
        created.destroy(); // destroy() doesn't reach a socket that is still connecting.
      }
    });
    await guard.run(() => created.connect());
  }

  open().catch(onError);

  return {
    opened,
    isReady: () => client?.isReady === true,
    async run({ script, keys, args }) {
      const connected = client;
      if (connected === undefined) {
        throw new Error(lastFailure.code);
      }
      const parameters = [String(keys.length), ...keys, ...args];
      try {
        const reply = await connected.send(['EVALSHA', script.sha1, ...parameters]).catch((error: unknown) => {
          if (error instanceof Error && isReply(error) && error.message.startsWith('NOSCRIPT ')) {
            return connected.send(['EVAL', script.source, ...parameters]); // Redis keeps the script from now on.
          }
          throw error;
        });
        guard.replied();
        return script.readReply(reply);
      } catch (error) {
        if (connected.isReady) {
          lastFailure = describe(error); // Without a connection, the reason for the disconnect is more useful.
        }
        throw error;
      }
    },
    lastFailure: () => lastFailure,
    close() {
      isClosed = true;
      reject(new Error('closed'));
      client?.destroy();
      guard[Symbol.dispose]();
    },
  };
}
