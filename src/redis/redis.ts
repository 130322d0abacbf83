import type { Logger } from 'pino';
import { openRedis, type RedisWork } from './redis-connection.ts';
import type { RedisFailure } from './redis-failure.ts';
import type { RedisServer } from './redis-server.ts';
import { TIMED_OUT, withReplyTimeout } from './reply-timeout.ts';
import { createStoreState, type StoreMessages } from './store-state.ts';

/** Options of `createRedis`. */
export interface RedisOptions extends RedisServer {
  /** Logs when Redis becomes unavailable and when it is back, without the URL. */
  logger: Logger;
  messages: StoreMessages;
  /**
   * Tries Redis after a failure, whenever it is connected, and regularly. It succeeds on a connection before anything else runs. It must write,
   * because a server that is no longer the primary only reads.
   */
  trial: RedisWork<unknown>;
  /** Maximum wait for Redis, in milliseconds. @default 100 */
  timeoutMs?: number;
  /** Maximum size of a reply, in bytes. A thousand small replies that arrive at once have 40 KB. @default 65536 */
  maxReplyBytes?: number;
  /** Called whenever Redis works again. @default none */
  onUp?: () => void;
}

/** Interval between attempts to use Redis while it responds with errors or not in time. */
const RETRY_INTERVAL_MS = 500;

/** Interval between trials while it works. One of them notices a fail-over if no other call does. */
const CHECK_INTERVAL_MS = 2_000;

/** Maximum time that a starting process waits for Redis. */
const FIRST_CONNECT_MS = 2_000;

/**
 * Connects to a Redis server that callers can do without. If it is unavailable, slow or failing, callers wait for at most one timeout; from then on not at all, until it responds
 * again.
 *
 * @throws {SecretError} if the URL or the certificates are invalid
 * @throws {MissingPackageError} if the Redis client is not installed
 */
export function createRedis({
  url,
  ca,
  logger,
  messages,
  trial,
  timeoutMs = 100,
  maxReplyBytes = 64 * 1024,
  onUp,
}: RedisOptions) {
  const state = createStoreState(logger, messages);
  const connection = openRedis({
    server: { url, ca },
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
      await withReplyTimeout(connection.run(trial), timeoutMs);
      if (!isDisposed) {
        const wasUp = state.status().isUp;
        state.up();
        tryAgainIn(CHECK_INTERVAL_MS);
        if (!wasUp) {
          onUp?.();
        }
      }
    } catch (error) {
      onFailure(error);
    }
  }

  function onFailure(error: unknown): void {
    const isLate = error === TIMED_OUT && connection.isReady();
    fail(isLate ? { code: 'TIMEOUT' } : connection.lastFailure());
    if (isLate) {
      connection.reconnectIfSilent();
    }
  }

  function fail(failure: RedisFailure): void {
    if (isDisposed) {
      return;
    }
    state.down(failure);
    tryAgainIn(RETRY_INTERVAL_MS);
  }

  function tryAgainIn(milliseconds: number): void {
    clearTimeout(nextTrial);
    nextTrial = setTimeout(() => {
      if (connection.isReady()) {
        void tryRedis(); // Otherwise it is tried once the connection is ready.
      }
    }, milliseconds).unref();
  }

  async function runOnceTried<Reply>(work: RedisWork<Reply>): Promise<Reply> {
    await connection.opened;
    await firstTrial;
    if (isDown()) {
      throw TIMED_OUT; // The caller already does without it.
    }
    return connection.run(work);
  }

  return {
    /**
     * Runs commands. Returns undefined if Redis is slow or fails, and from then on immediately, until Redis responds again. Never rejects.
     * The commands may have run nevertheless.
     */
    async run<Reply>(work: RedisWork<Reply>): Promise<Reply | undefined> {
      if (isDown() || isDisposed) {
        return undefined;
      }
      try {
        return await withReplyTimeout(state.status().isUp ? connection.run(work) : runOnceTried(work), timeoutMs);
      } catch (error) {
        onFailure(error);
        return undefined;
      }
    },
    /** Resolves once the first attempt to connect has succeeded or failed, after two seconds at most. Never rejects. */
    connected: () => withReplyTimeout(connection.opened, FIRST_CONNECT_MS).catch(() => {}),
    status: state.status,
    [Symbol.dispose](): void {
      isDisposed = true;
      clearTimeout(nextTrial);
      state[Symbol.dispose]();
      connection.close();
    },
  };
}
