import type { SubscriberFields } from '../../upstream/endpoints/subscribers.ts';
import { isUpstreamError, OUTCOME_UNKNOWN, type UpstreamError } from '../../upstream/errors.ts';
import type { Abort } from '../../upstream/signal.ts';
import { ImportError, type Outcome, type Results, type SendableRow } from './results.ts';
import type { Row } from './rows.ts';
import type { ImportService } from './service.ts';

/** Sending of the rows of a file. */
export interface Sending {
  /** Rows of the file, which is read again. */
  rows: AsyncGenerator<Row>;
  results: Results;
  service: ImportService;
  /** Number of rows that are applied, also by earlier imports, and that failed. They are updated. */
  progress: { applied: number; failed: number };
  /** Rows that are sent at a time. */
  concurrency: number;
  /** Aborted to stop the import, also by a failure. */
  stopping: Abort;
}

/** Tries after which a row has failed although the service works. Each has the retries of the client. */
const MAX_TRIES = 5;

/** Statuses of an address without the endpoint. */
const NO_ENDPOINT: ReadonlySet<number> = new Set([404, 405, 410]);

/**
 * Sends the rows that are not applied, the first one without company: if it is rejected for a reason that concerns all, no other is sent.
 *
 * @returns the number of rows that the check has found too, and that of others, which are not sent
 * @throws {ImportError} if no row can succeed. Rows in flight are finished before
 */
export async function sendRows(sending: Sending): Promise<{ found: number; others: number }> {
  const { rows, results, stopping, concurrency } = sending;
  let found = 0;
  let others = 0;
  let failure: { error: unknown } | undefined;

  /** Sends one row after the other. */
  async function work(maxRows: number): Promise<void> {
    try {
      for (let sent = 0; sent < maxRows && !stopping.aborted; ) {
        const { value: row, done } = await rows.next();
        if (done === true) {
          return;
        }
        const { line, subscriber } = row;
        const plan = subscriber && results.find({ line, subscriber });
        // guard: test/cli/import-results.test.ts
        if (subscriber === undefined || plan === undefined) {
          others += 1;
          continue;
        }
        found += 1;
        if (plan.outcome !== 'created' && plan.outcome !== 'updated') {
          await sendRow({ line, subscriber, ...plan }, sending);
          sent += 1;
        }
      }
    } catch (error) {
      failure ??= { error };
      stopping.abort();
    }
  }

  await work(1);
  await Promise.all(Array.from({ length: concurrency }, () => work(Number.POSITIVE_INFINITY)));
  if (failure !== undefined) {
    throw failure.error;
  }
  return { found, others };
}

/** Row with its idempotency key, and its outcome so far. */
interface PlannedRow extends SendableRow {
  key: string;
  outcome: Outcome | null;
}

/**
 * Sends a row, again after temporary failures: repeating is safe, because it has the same idempotency key, and an existing subscriber is updated.
 *
 * @throws {ImportError} if no row can succeed
 */
async function sendRow({ line, subscriber, key, outcome }: PlannedRow, sending: Sending): Promise<void> {
  const { results, service, progress } = sending;
  const { subscriberId } = subscriber;
  let isUnknown = outcome === 'unknown';
  let isBroken = false;
  let lastAt = performance.now();
  let failures = 0;
  for (let tries = 0; ; tries += 1) {
    // Before a row was applied, the reason for a broken connection could concern all rows.
    if (isBroken && progress.applied > 0 && !service.answeredSince(lastAt)) {
      // guard: test/cli/import-failures.test.ts
      await probe(service);
    }
    if (!(await service.turn())) {
      return;
    }
    try {
      const { body } = await service.call(`import-${key}`, (upstream) => upstream.createSubscriber(subscriber, key));
      // Mongo and the sandbox set both times at once when they create a record.
      results.record(subscriberId, body.createdAt === body.updatedAt ? 'created' : 'updated');
      service.succeeded();
      progress.applied += 1;
      return;
    } catch (error) {
      if (!isUpstreamError(error)) {
        throw error;
      }
      const failure = { code: error.code, message: describeError(error, subscriber) };
      assertUsable(error, `line ${line}: ${failure.message}`, service.hasApplied);
      isUnknown ||= error.outcome === 'UNKNOWN';
      // guard: test/cli/import-failures.test.ts
      if (isUnknown && error.sent) {
        results.record(subscriberId, 'unknown', failure);
      }
      const isAnswered = isAnswer(error);
      // During an outage, no row fails: only those count that fail while the service answers.
      // guard: test/cli/import-failures.test.ts
      failures += Number(isAnswered || (error.sent && service.answeredSince(lastAt)));
      lastAt = performance.now();
      isBroken = error.sent && error.status === undefined && error.code === 'UPSTREAM_UNAVAILABLE';
      if (isAnswered) {
        service.answered();
      }
      // guard: test/cli/import.test.ts
      if (!isTemporary(error) || failures >= MAX_TRIES) {
        if (!isUnknown) {
          results.record(subscriberId, 'failed', failure);
        }
        progress.failed += 1;
        service.failed(failure.code, failure.message);
        return;
      }
      await service.backOff(error, failure.message, tries);
    }
  }
}

/** Reads from the service: if it answers, a row that breaks its connection is not an outage. */
async function probe(service: ImportService): Promise<void> {
  if (!(await service.turn())) {
    return;
  }
  try {
    await service.call('import', (upstream) => upstream.listNotificationGroups());
    service.answered();
  } catch (error) {
    if (!isUpstreamError(error)) {
      throw error;
    }
    if (isAnswer(error)) {
      service.answered();
    }
  }
}

/** @throws {ImportError} if the failure concerns every row: the service rejects the key, or its address is wrong */
function assertUsable({ code, status = 0 }: UpstreamError, reason: string, hasApplied: boolean): void {
  // A firewall can reject the content of one row with 403.
  // guard: test/cli/import.test.ts
  if (code === 'UNAUTHENTICATED' || (code === 'FORBIDDEN' && !(status === 403 && hasApplied))) {
    throw new ImportError(`The service rejected the API key with ${status} at ${reason}`, {
      remedy: 'Correct the key, and run the command again to send the others.',
    });
  }
  // guard: test/cli/import-failures.test.ts
  if (NO_ENDPOINT.has(status) || (status >= 300 && status < 400)) {
    throw new ImportError(`There is no POST /v1/subscribers at the service's address (status ${status}).`, {
      remedy: 'Correct the address, and run the command again to send the others.',
    });
  }
}

const isTemporary = ({ code, conflict, status = 0 }: UpstreamError): boolean =>
  ['RATE_LIMITED', 'OVERLOADED', 'UPSTREAM_UNAVAILABLE', 'UPSTREAM_TIMEOUT'].includes(code) ||
  (code === 'UPSTREAM_ERROR' && status >= 500) ||
  conflict === 'IDEMPOTENCY_IN_PROGRESS';

/** Whether the service itself rejected the row. A rate limit says nothing about the row. */
const isAnswer = ({ code, status, isOutage }: UpstreamError): boolean =>
  status !== undefined && !isOutage && code !== 'RATE_LIMITED';

/** Shorter values, such as a locale, are too common to be replaced. */
const MIN_LENGTH = 3;

/** End of a message that was truncated. */
const CUT = '…';

/**
 * Returns the message of an error without the values of the row, which are personal data. The service may have quoted them, in upper or lower
 * case, or cut. Also leaves out the advice to check the subscriber, because the import sends the row again.
 */
function describeError({ message }: UpstreamError, { subscriberId: _, ...fields }: SubscriberFields): string {
  const values = listValues(fields)
    .filter((value) => value.length >= MIN_LENGTH)
    .sort((a, b) => b.length - a.length);
  const sentence = message.replace(OUTCOME_UNKNOWN, '').trim();
  return values.reduce((text, value) => withoutCut(without(text, value), value), sentence);
}

function listValues(value: unknown): string[] {
  if (typeof value === 'object' && value !== null) {
    return Object.values(value).flatMap(listValues);
  }
  return typeof value === 'string' || typeof value === 'number' ? [String(value)] : [];
}

function without(text: string, value: string): string {
  // A longer value can't be in the text, and would only take time.
  return value.length <= text.length ? text.replace(new RegExp(escapeRegExp(value), 'giu'), CUT) : text;
}

/** Removes the beginning of a value from the end of a text that was truncated. */
function withoutCut(text: string, value: string): string {
  if (!text.endsWith(CUT)) {
    return text;
  }
  const rest = text.slice(0, -CUT.length);
  const lowerRest = rest.toLowerCase();
  const lowerValue = value.toLowerCase();
  for (let length = Math.min(value.length, rest.length); length >= MIN_LENGTH; length -= 1) {
    if (lowerRest.endsWith(lowerValue.slice(0, length))) {
      return `${rest.slice(0, -length)}${CUT}`;
    }
  }
  return text;
}

const escapeRegExp = (text: string): string => text.replace(/[$()*+.?[\\\]^{|}/]/g, '\\$&');
