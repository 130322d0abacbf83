import { createHash } from 'node:crypto';
import type { SubscriberBody } from '../../upstream/endpoints/subscribers.ts';
import { isUpstreamError, type UpstreamError } from '../../upstream/errors.ts';
import type { Signal } from '../../upstream/signal.ts';
import { describeError } from './describe-error.ts';
import { ImportError } from './import-error.ts';
import type { Pace } from './pace.ts';
import type { RowResult } from './results.ts';
import type { Row } from './row.ts';
import type { ImportService } from './service.ts';
import type { ServiceHealth } from './service-health.ts';

/** State that the rows of an import share. */
export interface Sending {
  /** Id of the run. */
  run: string;
  service: ImportService;
  pace: Pace;
  health: ServiceHealth;
  /** Aborted when no more calls should be made. Those in flight end by themselves. */
  stopping: Signal;
  /** Returns the number of rows that are being sent. */
  inFlight(): number;
  /** Returns whether a row of the file was applied, in this run or in an earlier one. */
  hasApplied(): boolean;
  /** Longest pause before the second try of a row, in milliseconds. It doubles with every try. */
  firstPauseMs: number;
  /** Called with the result of a row. */
  record(result: RowResult): void;
}

/** Tries after which a row has failed although the service works. Each has the retries of the client. */
const MAX_TRIES = 5;

const MAX_PAUSE_MS = 30_000;

/** Statuses of an address without the endpoint. */
const NO_ENDPOINT: ReadonlySet<number> = new Set([404, 405, 410]);

/**
 * Sends a row, again after temporary failures: repeating is safe, because it has the same idempotency key, and an existing subscriber is updated.
 * Records its result, unless the import is stopping before the row could have been applied.
 *
 * @throws {ImportError} if no row can succeed
 */
export async function sendRow(row: Row, sending: Sending): Promise<void> {
  const { run, service, pace, health, stopping, record } = sending;
  const { line, subscriber } = row;
  const key = deriveKey(run, row);
  const base = { line, subscriberId: subscriber.subscriberId };
  let result: RowResult | undefined;
  let lastAt = performance.now();
  let failures = 0;
  let isBroken = false;
  try {
    for (let pauses = 0; ; pauses += 1) {
      if (isBroken) {
        await probe(sending, lastAt);
      }
      await pace.turn();
      if (stopping.aborted) {
        return;
      }
      const call = service.prepare(`import-${run}-${line}`);
      try {
        const { body } = await call.upstream.createSubscriber(subscriber, key);
        result = { ...base, outcome: outcomeOf(body) };
        health.succeeded();
        return;
      } catch (error) {
        if (!isUpstreamError(error)) {
          throw error;
        }
        const { code } = error;
        const message = describeError(error, subscriber);
        assertUsable(error, { line, message, hasApplied: health.hasApplied });
        const isUnknown = result !== undefined || error.outcome === 'UNKNOWN';
        if (result === undefined || error.sent) {
          result = isUnknown ? { ...base, outcome: 'unknown', code, message } : undefined;
        }
        const isAnswered = isAnswer(error);
        // During an outage, no row fails: only those count that fail while the service answers.
        failures += Number(isAnswered || (error.sent && health.answeredSince(lastAt)));
        lastAt = performance.now();
        isBroken = error.sent && error.status === undefined && code === 'UPSTREAM_UNAVAILABLE';
        if (isAnswered) {
          health.answered();
        }
        if (!isTemporary(error) || failures >= MAX_TRIES) {
          result ??= { ...base, outcome: 'failed', code, message };
          health.failed(result);
          return;
        }
        await pace.wait(health.planPause(error, message, backoff(sending.firstPauseMs, pauses)));
      } finally {
        health.paused(pace.note(call.rateLimit(), sending.inFlight()));
      }
    }
  } finally {
    if (result !== undefined) {
      record(result);
    }
  }
}

/**
 * Reads from the service unless it answered another row in the meantime: if it answers, a row that breaks its connection is not an outage. Does
 * nothing before a row was applied, because the reason could concern all rows.
 */
async function probe(
  { run, service, pace, health, stopping, inFlight, hasApplied }: Sending,
  lastAt: number,
): Promise<void> {
  if (!hasApplied() || health.answeredSince(lastAt)) {
    return;
  }
  await pace.turn();
  if (stopping.aborted) {
    return;
  }
  const call = service.prepare(`import-${run}`);
  try {
    await call.upstream.listNotificationGroups();
    health.answered();
  } catch (error) {
    if (!isUpstreamError(error)) {
      throw error;
    }
    if (isAnswer(error)) {
      health.answered();
    }
  } finally {
    health.paused(pace.note(call.rateLimit(), inFlight()));
  }
}

/** Returns the key of a row: the same whenever its run is resumed, another one in the next run. */
const deriveKey = (run: string, { line, subscriber }: Row): string =>
  createHash('sha256')
    .update(JSON.stringify(['import', run, line, subscriber]))
    .digest('hex');

/** Mongo and the sandbox set both times at once when they create a record. */
const outcomeOf = ({ createdAt, updatedAt }: SubscriberBody): RowResult['outcome'] =>
  createdAt === updatedAt ? 'created' : 'updated';

/** @throws {ImportError} if the failure concerns every row: the service rejects the key, or its address is wrong */
function assertUsable(
  { code, status = 0 }: UpstreamError,
  { line, message, hasApplied }: { line: number; message: string; hasApplied: boolean },
): void {
  // A firewall can reject the content of one row with 403.
  if (code === 'UNAUTHENTICATED' || (code === 'FORBIDDEN' && !(status === 403 && hasApplied))) {
    throw new ImportError(
      `The service rejected the API key with ${status} at line ${line}: ${message}`,
      'Correct the key, and run the command again to send the others.',
    );
  }
  if (NO_ENDPOINT.has(status) || (status >= 300 && status < 400)) {
    throw new ImportError(
      `There is no POST /v1/subscribers at the service's address (status ${status}).`,
      'Correct the address, and run the command again to send the others.',
    );
  }
}

const isTemporary = ({ code, conflict, status = 0 }: UpstreamError): boolean =>
  ['RATE_LIMITED', 'OVERLOADED', 'UPSTREAM_UNAVAILABLE', 'UPSTREAM_TIMEOUT'].includes(code) ||
  (code === 'UPSTREAM_ERROR' && status >= 500) ||
  conflict === 'IDEMPOTENCY_IN_PROGRESS';

/** Whether the service itself rejected the row. A rate limit says nothing about the row. */
const isAnswer = ({ code, status, isOutage }: UpstreamError): boolean =>
  status !== undefined && !isOutage && code !== 'RATE_LIMITED';

/** Returns the pause after a number of pauses, with jitter. */
const backoff = (firstMs: number, pauses: number): number =>
  Math.min(MAX_PAUSE_MS, firstMs * 2 ** pauses) * (0.5 + Math.random() / 2);
