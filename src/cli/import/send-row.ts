import { createHash } from 'node:crypto';
import { isUpstreamError, type UpstreamError } from '../../upstream/errors/errors.ts';
import type { SubscriberBody } from '../../upstream/resources/subscribers.ts';
import type { Signal } from '../../upstream/transport/signal.ts';
import { describeError } from './describe-error.ts';
import type { Health } from './health.ts';
import { ImportError } from './import-error.ts';
import type { Pace } from './pace.ts';
import type { RowResult } from './results.ts';
import type { Row } from './row.ts';
import type { ImportService } from './service.ts';

/** State that the rows of an import share. */
export interface Sending {
  /** Id of the run. */
  run: string;
  service: ImportService;
  pace: Pace;
  health: Health;
  /** Aborted when no more calls should be made. Those in flight end by themselves. */
  stopping: Signal;
  /** Returns the number of rows that are being sent. */
  inFlight(): number;
}

/** Tries after which a row has failed although the service works. Each has the retries of the client. */
const MAX_TRIES = 5;

const FIRST_PAUSE_MS = 500;
const MAX_PAUSE_MS = 30_000;

/**
 * Sends a row, again after temporary failures: repeating is safe, because it has the same idempotency key, and an existing subscriber is updated.
 *
 * @returns undefined if the import is stopping, and the row was not sent
 * @throws {ImportError} if no row can succeed
 */
export async function sendRow(row: Row, sending: Sending): Promise<RowResult | undefined> {
  const { run, service, pace, health, stopping } = sending;
  const { line, subscriber } = row;
  const key = deriveKey(run, row);
  const base = { line, subscriberId: subscriber.subscriberId };
  let unknown: RowResult | undefined;
  let lastAt = performance.now();
  let failures = 0;
  for (let pauses = 0; ; pauses += 1) {
    await pace.turn();
    if (stopping.aborted) {
      return unknown;
    }
    const call = service.prepare(`import-${run}-${line}`);
    try {
      const { body } = await call.upstream.createSubscriber(subscriber, key);
      health.succeeded();
      return { ...base, outcome: outcomeOf(body) };
    } catch (error) {
      if (!isUpstreamError(error)) {
        throw error;
      }
      assertUsable(error);
      const isUnknown = unknown !== undefined || error.outcome === 'UNKNOWN';
      const result: RowResult = {
        ...base,
        outcome: isUnknown ? 'unknown' : 'failed',
        code: error.code,
        message: describeError(error, subscriber),
      };
      unknown = isUnknown ? result : undefined;
      // During an outage, no row fails: only those count that fail while the service answers.
      failures += Number(isAnswer(error) || (error.sent && health.answeredSince(lastAt)));
      lastAt = performance.now();
      if (!isTemporary(error) || failures >= MAX_TRIES) {
        health.failed(result);
        return result;
      }
      await pace.wait(health.planPause(error, (error.retryAfterSeconds ?? 0) * 1_000 + backoff(pauses)));
    } finally {
      pace.note(call.rateLimit(), sending.inFlight());
    }
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

/** @throws {ImportError} if the service rejects the key, which concerns every row */
function assertUsable({ code, message, status }: UpstreamError): void {
  if (code === 'UNAUTHENTICATED' || code === 'FORBIDDEN') {
    throw new ImportError(`The service rejected the API key with ${status}: ${message}`);
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
const backoff = (pauses: number): number =>
  Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** pauses) * (0.5 + Math.random() / 2);
