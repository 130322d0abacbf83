// Reads where Redis is, and runs commands in it for callers that can do without it. Knows whether it works, and logs when that changes.

import { getCACertificates } from 'node:tls';
import type { Logger } from 'pino';
import { createSecretFiles, type Secret, type SecretProblem } from '../files/secret-files.ts';
import { assertInstalled } from '../lib/installation.ts';
import { findCertificateProblem } from '../network/tls-files.ts';
import { findRedisUrlProblem } from '../settings/kinds.ts';
import { NOT_REDIS, RedisConnection, RedisError, type RedisFailure } from './connection/redis-connection.ts';

interface RedisServer {
  /** URL such as `redis://user:password@host:6379/0`, or `rediss://…` for TLS. */
  url: Secret;
  /** Certificates of private authorities in PEM, trusted in addition to those of Node.js. @default none */
  ca?: Secret | undefined;
}

/**
 * Reads where the server is, and whom to trust.
 *
 * @throws {SecretError} if a file can't be read, or its content is invalid
 */
function readRedisServer(server: RedisServer): { url: string; ca?: string[] } {
  const sources = { url: server.url, ...(server.ca !== undefined && { ca: server.ca }) };
  const secrets = createSecretFiles({ secrets: sources }, findRedisProblem).secrets();
  const ca = secrets.get('ca');
  return { url: secrets.get('url') ?? '', ...(ca !== undefined && { ca: [...getCACertificates('default'), ca] }) };
}

/** Returns the first problem of a server's URL and certificates, without quoting the URL, or undefined. */
export function findRedisProblem(secrets: ReadonlyMap<string, string>): SecretProblem | undefined {
  const [url, ca] = [secrets.get('url'), secrets.get('ca')];
  const problemOfUrl = url === undefined ? undefined : findRedisUrlProblem(url);
  if (problemOfUrl !== undefined) {
    return { name: 'url', problem: `the URL of Redis ${problemOfUrl}` };
  }
  if (ca === undefined) {
    return undefined;
  }
  if (url?.startsWith('rediss:') === false) {
    return { name: 'ca', problem: 'the URL of Redis must be a URL rediss://…, because ca is set' };
  }
  const problemOfCa = findCertificateProblem(ca);
  return problemOfCa === undefined ? undefined : { name: 'ca', problem: problemOfCa };
}

export interface StoreStatus {
  /** Whether the store works. If not, this process does without it. */
  isUp: boolean;
  /** Reason why it is down; undefined while it is up or not yet connected. */
  failure: RedisFailure | undefined;
  /** Number of times that this process has started to do without it. */
  fallbacks: number;
}

interface StoreMessages {
  /** Clause: the effect while the store is down. */
  whileDown: string;
  /** Sentence: the effect once it is up again. */
  onceUp: string;
}

/** Sends a command, as a connection does. */
export type SendCommand = RedisConnection['send'];

export type RedisWork<Reply> = (send: SendCommand) => Promise<Reply>;

/** Creates the error of work that gets a reply which no Redis sends. */
export const notRedis = (): Error => new RedisError(NOT_REDIS);

/** Options that all stores of a process share. */
export interface SharedRedisOptions {
  /** Logs when Redis becomes unavailable and when it is back, without the URL. */
  logger: Logger;
  /** Maximum wait for Redis, in milliseconds. @default 100 */
  timeoutMs?: number | undefined;
}

export interface RedisStoreOptions extends RedisServer, SharedRedisOptions {
  /** Prefix of keys. */
  prefix: string;
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
 * @throws {SetupError} if the Redis client is not installed
 */
export function createRedis(
  { url, ca, logger, prefix, timeoutMs = 100 }: RedisStoreOptions,
  { messages, trial, onUp }: StoreWork,
) {
  const readServer = () => readRedisServer({ url, ca });
  readServer();
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
    const tried: RedisConnection = connection ?? new RedisConnection(readServer, (error) => giveUp(tried, error));
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
    down(lost.describe(error, prefix, hasConnected));
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
          down(used.describe(error, prefix, hasConnected));
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

/** Period in which at most `MAX_LINES` are logged: an outage and its end. Further changes are logged as one line at the end of the period. */
const PERIOD_MS = 30_000;
const MAX_LINES = 2;

/** Creates the state of a store that is not yet connected. It logs its changes. */
export function createStoreState(logger: Logger, { whileDown, onceUp }: StoreMessages) {
  const status: StoreStatus = { isUp: false, failure: undefined, fallbacks: 0 };
  let lines = 0;
  let changes = 0;
  let period: NodeJS.Timeout | undefined;

  function report(): void {
    changes += 1;
    period ??= setTimeout(endPeriod, PERIOD_MS).unref();
    if (lines < MAX_LINES) {
      lines += 1;
      log();
    }
  }

  function endPeriod(): void {
    period = undefined;
    lines = 0;
    if (changes > 0) {
      log();
    }
  }

  function log(): void {
    const details = { ...(status.failure && { reason: status.failure.code }), ...(changes > 1 && { changes }) };
    changes = 0;
    if (status.failure === undefined) {
      logger.info(details, `Redis is available again. ${onceUp}`);
    } else if (status.failure.cause === undefined) {
      logger.warn(details, `Redis is unavailable. Until it is back, ${whileDown}.`);
    } else {
      logger.error(details, `Redis can't be used: ${status.failure.cause}. Until this is fixed, ${whileDown}.`);
    }
  }

  return {
    status: (): Readonly<StoreStatus> => status,
    up(): void {
      const wasDown = status.failure !== undefined;
      status.isUp = true;
      status.failure = undefined;
      if (wasDown) {
        report();
      }
    },
    down(failure: RedisFailure): void {
      const previous = status.failure;
      status.isUp = false;
      status.failure = failure;
      if (previous === undefined) {
        status.fallbacks += 1;
      }
      if (previous === undefined || (failure.cause !== undefined && failure.cause !== previous.cause)) {
        report();
      }
    },
    [Symbol.dispose]: () => clearTimeout(period),
  };
}

/** Describes a store that is down or not yet connected; undefined without a store, or while it is up. */
export function describeStore(status: Readonly<StoreStatus> | undefined): string | undefined {
  const { code, cause }: RedisFailure = status?.failure ?? { code: 'not connected yet' };
  return (status?.isUp ?? true)
    ? undefined
    : `Redis is unavailable (${code}${cause === undefined ? '' : `: ${cause}`})`;
}
