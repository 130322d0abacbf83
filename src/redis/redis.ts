import type { Logger } from 'pino';
import { openRedis } from './redis-connection.ts';
import type { RedisFailure } from './redis-failure.ts';
import type { ScriptCall } from './redis-script.ts';
import { TIMED_OUT, withReplyTimeout } from './reply-timeout.ts';
import { createStoreState, type StoreMessages, type StoreStatus } from './store-state.ts';

/** Options of `createRedis`. */
export interface RedisOptions {
  /** URL such as `redis://user:password@host:6379/0`, or `rediss://…` for TLS. */
  url: string;
  /** Logs when Redis becomes unavailable and when it is back, without the URL. */
  logger: Logger;
  messages: StoreMessages;
  /**
   * Returns the call with which Redis is tried after a failure, and whenever it is connected. It succeeds on a connection before any other call
   * runs.
   */
  trial: () => ScriptCall<unknown>;
  /** Maximum wait for Redis, in milliseconds. @default 100 */
  timeoutMs?: number;
  /** Maximum size of a reply, in bytes. A thousand small replies that arrive at once have 40 KB. @default 65536 */
  maxReplyBytes?: number;
  /** Called whenever Redis works again. @default none */
  onUp?: () => void;
}

/** Redis server that callers can do without. */
export interface Redis extends Disposable {
  /**
   * Runs a script. Returns undefined if Redis is slow or fails, and from then on immediately, until Redis responds again. Never rejects.
   * The script may have run nevertheless.
   */
  run<Reply>(call: ScriptCall<Reply>): Promise<Reply | undefined>;
  /** Resolves once the first attempt to connect has succeeded or failed, after two seconds at most. Never rejects. */
  connected(): Promise<void>;
  status(): Readonly<StoreStatus>;
}

/** Interval between attempts to use Redis while it responds with errors or not in time. */
const RETRY_INTERVAL_MS = 500;

/** Maximum time that a starting process waits for Redis. */
const FIRST_CONNECT_MS = 2_000;

/**
 * Connects to Redis. If it is unavailable, slow or failing, callers wait for at most one timeout; from then on not at all, until it responds
 * again.
 *
 * @throws {TypeError} if the URL is invalid
 * @throws {MissingPackageError} if the Redis client is not installed
 */
export function createRedis({
  url,
  logger,
  messages,
  trial,
  timeoutMs = 100,
  maxReplyBytes = 64 * 1024,
  onUp,
}: RedisOptions): Redis {
  const state = createStoreState(logger, messages);
  const connection = openRedis({
    url,
    maxReplyBytes,
    onReady: () => {
      firstTrial = tryRedis();
    },
    onLost: () => fail(connection.lastFailure()),
  });
  const isDown = () => state.status().failure !== undefined;
  let isDisposed = false;
  let firstTrial: Promise<void> | undefined;
  let nextTrial: NodeJS.Timeout | undefined;

  /** Finds out whether Redis works, and tries again until it does. */
  async function tryRedis(): Promise<void> {
    clearTimeout(nextTrial);
    try {
      await withReplyTimeout(connection.run(trial()), timeoutMs);
      if (!isDisposed) {
        state.up();
        onUp?.();
      }
    } catch (error) {
      onFailure(error);
    }
  }

  const onFailure = (error: unknown) =>
    fail(error === TIMED_OUT && connection.isReady() ? { code: 'TIMEOUT' } : connection.lastFailure());

  function fail(failure: RedisFailure): void {
    if (isDisposed) {
      return;
    }
    state.down(failure);
    clearTimeout(nextTrial);
    nextTrial = setTimeout(() => {
      if (connection.isReady()) {
        void tryRedis(); // Otherwise it is tried once the connection is ready.
      }
    }, RETRY_INTERVAL_MS).unref();
  }

  async function runOnceTried<Reply>(call: ScriptCall<Reply>): Promise<Reply> {
    await connection.opened;
    await firstTrial;
    if (isDown()) {
      throw TIMED_OUT; // The caller already does without it.
    }
    return connection.run(call);
  }

  return {
    async run(call) {
      if (isDown() || isDisposed) {
        return undefined;
      }
      try {
        return await withReplyTimeout(state.status().isUp ? connection.run(call) : runOnceTried(call), timeoutMs);
      } catch (error) {
        onFailure(error);
        return undefined;
      }
    },
    connected: () => withReplyTimeout(connection.opened, FIRST_CONNECT_MS).catch(() => {}),
    status: state.status,
    [Symbol.dispose]() {
      isDisposed = true;
      clearTimeout(nextTrial);
      state[Symbol.dispose]();
      connection.close();
    },
  };
}
