// Runs commands in Redis for callers that can do without it.

import type { Logger } from 'pino';
import { assertInstalled } from '../lib/optional-packages.ts';
import {
  RedisConnection,
  RedisError,
  type RedisServer,
  readRedisServer,
  type SendCommand,
} from './redis-connection.ts';
import { createStoreState, type StoreMessages } from './store-state.ts';

export type RedisWork<Reply> = (send: SendCommand) => Promise<Reply>;

export interface RedisStoreOptions extends RedisServer {
  /** Logs when Redis becomes unavailable and when it is back, without the URL. */
  logger: Logger;
  /** Prefix of keys. @default 'notigraph:' and the name of the store */
  prefix?: string;
  /** Maximum wait for Redis, in milliseconds. @default 100 */
  timeoutMs?: number | undefined;
}

interface StoreWork {
  messages: StoreMessages;
  /**
   * Tries Redis on every connection before anything else runs, after a failure, and regularly. It must write, because a server that is no longer
   * the primary only reads.
   */
  trial: RedisWork<unknown>;
  /** Called whenever Redis works again. @default none */
  onUp?: () => void;
}

/** Time until the trial after a call that failed. */
const RETRY_MS = 500;

/** Maximum time until the next connection. */
const MAX_RECONNECT_MS = 1_000;

/** Time until the next trial while Redis works. It notices a fail-over if no other call does. */
const CHECK_MS = 2_000;

/** Maximum time that a starting process waits for Redis. */
const FIRST_CONNECT_MS = 2_000;

/**
 * Connects to a Redis server that callers can do without. If it is unavailable, slow or failing, callers wait for at most one timeout; from then
 * on not at all, until a trial succeeds. A connection whose trial fails is replaced: the name may lead to another server by now.
 *
 * @throws {SecretError} if the URL or the certificates are invalid
 * @throws {MissingPackageError} if the Redis client is not installed
 */
export function createRedis(
  { url, ca, logger, timeoutMs = 100 }: RedisStoreOptions,
  { messages, trial, onUp }: StoreWork,
) {
  const server = { url, ca };
  readRedisServer(server);
  assertInstalled('redis');
  const { status, up, down, [Symbol.dispose]: disposeState } = createStoreState(logger, messages);
  /** Undefined between two connections, and once closed. */
  let connection: RedisConnection | undefined;
  let hasConnected = false;
  let failedTrials = 0;
  let nextTrial: NodeJS.Timeout | undefined;

  function tryAgainIn(milliseconds: number): void {
    clearTimeout(nextTrial);
    nextTrial = setTimeout(() => void tryRedis(), milliseconds).unref();
  }

  /** Finds out whether Redis works, with a new connection if there is none. */
  async function tryRedis(): Promise<void> {
    const tried: RedisConnection = connection ?? new RedisConnection(server, (error) => giveUp(tried, error));
    connection = tried;
    try {
      await tried.opened;
      hasConnected = true;
      await withTimeout(trial(tried.send), timeoutMs);
    } catch (error) {
      giveUp(tried, error);
    }
    if (tried === connection) {
      const { isUp } = status();
      up();
      failedTrials = 0;
      tryAgainIn(CHECK_MS);
      if (!isUp) {
        onUp?.();
      }
    }
  }

  /** Closes a connection, and plans the next one. */
  function giveUp(lost: RedisConnection, error: unknown): void {
    if (lost !== connection) {
      return;
    }
    connection = undefined;
    lost.destroy();
    down(lost.describe(error, hasConnected));
    tryAgainIn(Math.min(MAX_RECONNECT_MS, 50 * 2 ** failedTrials) * (0.5 + Math.random() / 2));
    failedTrials += 1;
  }

  const firstTrial = tryRedis();

  return {
    /**
     * Runs commands. Returns undefined if Redis is slow or fails, and from then on immediately, until Redis responds again. Never rejects.
     * The commands may have run nevertheless.
     */
    async run<Reply>(work: RedisWork<Reply>): Promise<Reply | undefined> {
      const used = connection;
      const { isUp, failure } = status();
      if (used === undefined || failure !== undefined) {
        return undefined;
      }
      const runOnceTried = () => firstTrial.then(() => (status().isUp ? work(used.send) : undefined));
      try {
        return await withTimeout(isUp ? work(used.send) : runOnceTried(), timeoutMs);
      } catch (error) {
        if (used === connection) {
          if (status().isUp) {
            tryAgainIn(RETRY_MS);
          }
          down(used.describe(error, hasConnected));
        }
        return undefined;
      }
    },
    /** Resolves once the first attempt to connect has succeeded or failed, after two seconds at most. Never rejects. */
    connected: () => withTimeout(firstTrial, FIRST_CONNECT_MS).catch(() => {}),
    status,
    [Symbol.dispose](): void {
      clearTimeout(nextTrial);
      disposeState();
      connection?.destroy();
      connection = undefined;
    },
  };
}

/**
 * Settles like the promise, or rejects after the time. On a busy process, a timer fires before a reply is read that has been waiting in the socket
 * all the time. So each half counts once, however late its timer is, and sockets are read a last time.
 */
function withTimeout<T>(promise: Promise<T>, milliseconds: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const half = milliseconds / 2;
    const rejectLate = () => setImmediate(reject, new RedisError({ code: 'TIMEOUT' })); // Immediates run after sockets were read.
    let timer = setTimeout(() => {
      timer = setTimeout(rejectLate, half);
    }, half);
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
