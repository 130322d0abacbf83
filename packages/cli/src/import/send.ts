// Sends rows, several at a time, and decides which failures are temporary.

import { randomUUID } from 'node:crypto';
import { isRecord } from '../../../../src/lib/is-record.ts';
import type { UpstreamClient } from '../../../../src/upstream/calls.ts';
import { endpoint } from '../../../../src/upstream/endpoint.ts';
import { createSubscriber, type SubscriberBody, type SubscriberFields } from '../../../../src/upstream/endpoints.ts';
import {
  isUpstreamError,
  OUTCOME_UNKNOWN,
  STORED_FAILURE,
  type UpstreamError,
} from '../../../../src/upstream/errors.ts';
import { ImportError, type PendingRow, type Results } from './results.ts';
import type { ImportService } from './service.ts';

export interface Sending {
  results: Results;
  service: ImportService;
  /** Number of rows that are applied, also by earlier imports, and that failed. They are updated. */
  progress: { applied: number; failed: number };
  /** Called for a row that has failed, with its reason. */
  onFailure: (line: number, failure: { code: string; message: string }) => void;
  /** Longest time for which a row waits because the service says so, in milliseconds. */
  maxWaitMs: number;
  /** Rows that are sent at a time. */
  concurrency: number;
  note: (text: string) => void;
  /** Whether members of `data` that a row doesn't have are kept. */
  mergesData: boolean;
  /** Sends rows together. @default they are sent one by one */
  sendTogether?: ((rows: Iterator<PendingRow>, sending: Sending) => Promise<void>) | undefined;
  /** Aborted to stop the import, also by a failure. */
  stopping: AbortController;
}

/** Tries after which a row has failed although the service works. Each has the retries of the client. */
export const MAX_TRIES = 5;

const getSubscriber = endpoint('GET /v1/subscribers/{subscriberId}', {
  identifiedBy: ['subscriberId'],
}).returns<SubscriberBody>();

/**
 * Sends the rows that are not applied, the first one without company: if it is rejected for a reason that concerns all, no other is sent. Rows are sent
 * together only once one was applied, which shows the environment.
 *
 * @throws {ImportError} if no row can succeed. Rows in flight are finished before
 */
export async function sendRows(sending: Sending): Promise<void> {
  const { results, service, concurrency, sendTogether } = sending;
  const rows = results.pending();
  const next = () => sendNext(rows, sending);
  await runWorkers(1, sending, async () => (await next()) && sendTogether !== undefined && !service.pace.hasSucceeded);
  await sendTogether?.(rows, sending);
  await runWorkers(concurrency, sending, next);
}

/** Sends the next row. Returns whether there was one. */
export async function sendNext(rows: Iterator<PendingRow>, sending: Sending): Promise<boolean> {
  const { value: row } = rows.next();
  if (row !== undefined) {
    await sendRow(row, sending);
  }
  return row !== undefined;
}

/** Repeats a step in several workers until it returns false, or the import stops. @throws the first failure, after all workers have ended */
export async function runWorkers(count: number, { stopping }: Sending, step: () => Promise<boolean>): Promise<void> {
  let failure: { error: unknown } | undefined;

  async function work(): Promise<void> {
    try {
      for (let more = true; more && !stopping.signal.aborted; ) {
        more = await step();
      }
    } catch (error) {
      failure ??= { error };
      stopping.abort();
    }
  }

  await Promise.all(Array.from({ length: count }, work));
  if (failure !== undefined) {
    throw failure.error;
  }
}

/**
 * Sends a row, again after temporary failures: repeating is safe, because it has the same idempotency key, and an existing subscriber is updated. If
 * the service has stored a failure, the row gets a new key.
 *
 * @throws {ImportError} if no row can succeed
 */
async function sendRow(row: PendingRow, sending: Sending): Promise<void> {
  const { results, service, progress, maxWaitMs, mergesData } = sending;
  const { line, subscriber, key: firstKey, outcome, since } = row;
  const { subscriberId } = subscriber;
  const startedAt = performance.now();
  let key = outcome === 'uncleared' ? randomUUID() : firstKey; // The service may have stored what it answered then.
  let isUnknown = outcome === 'unknown';
  let fields = subscriber;
  let isBroken = false;
  let lastAt = startedAt;
  let failures = 0;
  for (let tries = 0; ; tries += 1) {
    // Before a row was applied, the reason for a broken connection could concern all rows.
    if (isBroken && progress.applied > 0 && !service.pace.answeredSince(lastAt)) {
      await probe(service);
    }
    if (!(await service.pace.turn())) {
      return;
    }
    try {
      const { body, ...response } = await service.call(`import-${key}`, async (client) => {
        fields = mergesData ? await withStoredData(client, subscriber) : subscriber;
        // What was merged depends on the time of the read, and a service rejects a key that it knows with another body.
        return client.write(createSubscriber, {
          body: fields,
          idempotencyKey: fields === subscriber ? key : randomUUID(),
        });
      });
      results.confirm(body._environmentId);
      const { uncleared = [], date } = response;
      if (uncleared.length > 0) {
        results.record(subscriberId, 'uncleared', { message: `The service did not clear ${uncleared.join(', ')}.` });
      } else {
        results.record(subscriberId, service.isNew(body.createdAt, since, date) ? 'created' : 'updated');
      }
      service.pace.succeeded();
      progress.applied += 1;
      return;
    } catch (error) {
      if (!isUpstreamError(error)) {
        throw error;
      }
      const failure = { code: error.code, message: describeError(error, fields) };
      if (!error.isReplayed) {
        // Others were applied when such a row was rejected before.
        const isAccepted = service.pace.hasSucceeded || (outcome === 'failed' && error.status === 403);
        assertUsable(error, `line ${line}: ${failure.message}`, isAccepted);
      }
      isUnknown ||= error.outcome === 'UNKNOWN';
      if (isUnknown && error.sent) {
        results.record(subscriberId, 'unknown', failure);
      }
      const isAnswered = isAnswer(error);
      // During an outage, no row fails: only those count that fail while the service answers, and doesn't say "wait".
      const counts = isAnswered || error.isReplayed || (error.sent && service.pace.answeredSince(lastAt));
      // Also for a key whose first request is in progress, for five minutes even if its process has died.
      const mustWait = !error.isReplayed && error.retryAfterSeconds !== undefined;
      const isLate = mustWait && counts && performance.now() - startedAt >= maxWaitMs;
      failures += Number(counts && !mustWait);
      lastAt = performance.now();
      isBroken = error.sent && error.status === undefined && error.code === 'UPSTREAM_UNAVAILABLE';
      if (isAnswered) {
        service.pace.answered();
      }
      if (!(error.isTemporary || error.isReplayed) || failures >= MAX_TRIES || isLate) {
        if (!isUnknown) {
          results.record(subscriberId, 'failed', failure);
        }
        progress.failed += 1;
        sending.onFailure(line, failure);
        // Rows that failed before say nothing about the others.
        if (outcome === null) {
          service.pace.failed(`${failure.message} (${failure.code})`);
        }
        return;
      }
      if (error.isReplayed) {
        key = randomUUID();
        continue;
      }
      await service.pace.backOff(error, failure.message, tries);
    }
  }
}

/**
 * Returns a row with the members of `data` that only the stored subscriber has, because the service replaces `data` as a whole. Nothing is read if the
 * row has no data.
 */
async function withStoredData(client: UpstreamClient, row: SubscriberFields): Promise<SubscriberFields> {
  const { subscriberId, data } = row;
  return isRecord(data)
    ? { ...row, data: merge((await client.read(getSubscriber, { subscriberId }))?.data, data) }
    : row;
}

/** Returns `next` with the members that only `stored` has, at any depth. They are own properties, whatever their names are. Lists are replaced. */
const merge = (stored: unknown, next: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  isRecord(stored)
    ? Object.fromEntries([
        ...Object.entries(stored),
        ...Object.entries(next).map(([name, value]): [string, unknown] => {
          const isDeep = isRecord(value) && Object.hasOwn(stored, name);
          return [name, isDeep ? merge(stored[name], value) : value];
        }),
      ])
    : { ...next };

/** Reads from the service: if it answers, a row that breaks its connection is not an outage. */
async function probe(service: ImportService): Promise<void> {
  if (await service.pace.turn()) {
    const result = await service.readGroups();
    if (!isUpstreamError(result) || isAnswer(result)) {
      service.pace.answered();
    }
  }
}

/** @throws {ImportError} if the failure concerns every row: the service rejects the key, or its address is wrong */
function assertUsable(error: UpstreamError, reason: string, hasApplied: boolean) {
  const { code, status = 0, isForeign, isTemporary, endpoint } = error;
  if (isForeign && hasApplied && status !== 401) {
    return; // A firewall that rejects the content of a row, or an ingress whose backend is missing for a while.
  }
  // A firewall can reject the content of one row with 403.
  if (code === 'UNAUTHENTICATED' || (code === 'FORBIDDEN' && !(status === 403 && hasApplied))) {
    throw new ImportError(`Correct the API key: the service rejected it with ${status} at ${reason}`);
  }
  if (isForeign && !isTemporary) {
    throw new ImportError(
      `Correct what is in front of the service, such as a firewall: it answered ${status} at ${reason}`,
    );
  }
  if (isForeign || (status >= 300 && status < 400) || [404, 405, 410].includes(status)) {
    throw new ImportError(
      `Correct the address of the service: it has no ${endpoint.method} ${endpoint.route} (status ${status}).`,
    );
  }
}

/** Whether the service itself rejected the row. A rate limit says nothing about the row. */
const isAnswer = ({ code, status, isOutage, isForeign }: UpstreamError): boolean =>
  status !== undefined && !isOutage && !isForeign && code !== 'RATE_LIMITED';

/** Shorter values, such as a locale, are too common to be replaced. */
const MIN_LENGTH = 3;

/** End of a message that was truncated. */
const CUT = '…';

/**
 * Returns the message of an error without the values of the row, which are personal data. The service may have quoted them, in upper or lower
 * case. A message that was cut can end with a part of a value, so nothing of it is left. Also leaves out the advice to check the subscriber,
 * because the import sends the row again.
 */
export function describeError({ message }: UpstreamError, { subscriberId: _, ...fields }: SubscriberFields): string {
  const sentence = message.replace(STORED_FAILURE, '').replace(OUTCOME_UNKNOWN, '').trim();
  if (sentence.endsWith(CUT)) {
    return CUT;
  }
  return listValues(fields)
    .filter((value) => value.length >= MIN_LENGTH && value.length <= sentence.length)
    .sort((a, b) => b.length - a.length)
    .reduce((text, value) => text.replace(new RegExp(escapeRegExp(value), 'giu'), CUT), sentence);
}

function listValues(value: unknown): string[] {
  if (typeof value === 'object' && value !== null) {
    return Object.values(value).flatMap(listValues);
  }
  return typeof value === 'string' || typeof value === 'number' ? [String(value)] : [];
}

const escapeRegExp = (text: string): string => text.replace(/[$()*+.?[\\\]^{|}/]/g, '\\$&');
