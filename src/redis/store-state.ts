// Knows whether Redis works, and logs when that changes.

import type { Logger } from 'pino';
import type { RedisFailure } from './redis-connection.ts';

export interface StoreStatus {
  /** Whether the store works. If not, this process does without it. */
  isUp: boolean;
  /** Reason why it is down; undefined while it is up or not yet connected. */
  failure: RedisFailure | undefined;
  /** Number of times that this process has started to do without it. */
  fallbacks: number;
}

export interface StoreMessages {
  /** Clause: the effect while the store is down. */
  whileDown: string;
  /** Sentence: the effect once it is up again. */
  onceUp: string;
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

/** Describes a store that is down; undefined without a store, or while it is up or not yet connected. */
export function describeStore(status: Readonly<StoreStatus> | undefined): string | undefined {
  const failure = status?.failure;
  return failure && `Redis is unavailable (${failure.code}${failure.cause === undefined ? '' : `: ${failure.cause}`})`;
}
