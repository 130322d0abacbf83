// Sends rows together, many in one call, and those one by one that the service doesn't apply so.

import { randomUUID } from 'node:crypto';
import { arrayOf, recordOf } from '../../../../src/lib/is-record.ts';
import { createSubscribers, type SubscriberFields } from '../../../../src/upstream/endpoints.ts';
import { isUpstreamError } from '../../../../src/upstream/errors.ts';
import type { PendingRow, RowOutcome } from './results.ts';
import { describeError, MAX_TRIES, runWorkers, type Sending, sendNext } from './send.ts';

/** Maximum rows of a call. The service rejects more. */
const MAX_ROWS = 500;

/** Maximum size of the rows of a call in bytes. The service fails on bodies above 100 KiB. */
const MAX_BYTES = 100_000;

/** Calls that are in flight at a time. More are not faster. */
const CONCURRENCY = 2;

/** Number of calls as which the service counts one. */
const COST = 100;

/** Failed calls in succession after which rows are sent one by one. */
const MAX_FAILURES = 3;

/** Stored while a call is in flight, in case the process is killed. */
const INTERRUPTED = { message: 'The import was interrupted before the service responded.' };

/** If it may have been applied, the client doesn't repeat it. The rows are sent one by one then, which shows which ones it has created. */
const createMany = {
  ...createSubscribers.takes<{ body: { subscribers: readonly SubscriberFields[] } }>(),
  repeatable: false,
  timeoutMs: 15_000, // It takes longer than a call with one row.
};

/** Sends rows together, and all one by one once the service refuses that. */
export async function sendTogether(rows: Iterator<PendingRow>, sending: Sending): Promise<void> {
  const { results, service, progress, note } = sending;
  let hasSucceeded = false;
  let failures = 0;

  function fail(reason: string, count = 1): void {
    failures += count;
    if (failures >= MAX_FAILURES && failures - count < MAX_FAILURES) {
      note(`The service does not accept POST /v1/subscribers/bulk (${reason}), so rows are sent one by one.`);
    }
  }

  /** Sends rows in one call. Returns those that it has not applied. */
  async function send(batch: readonly PendingRow[]): Promise<readonly PendingRow[]> {
    const body = { subscribers: batch.map(({ subscriber }) => subscriber) };
    const write = { body, idempotencyKey: randomUUID() };
    const record = (outcomes: ReadonlyMap<unknown, RowOutcome>, otherwise?: RowOutcome) => {
      for (const { subscriberId } of body.subscribers) {
        results.record(subscriberId, outcomes.get(subscriberId) ?? otherwise, otherwise && INTERRUPTED);
      }
    };
    for (let tries = 0; failures < MAX_FAILURES && (await service.pace.turn()); tries += 1) {
      record(new Map(), 'unknown');
      try {
        const id = `import-${write.idempotencyKey}`;
        const outcomes = outcomesOf((await service.call(id, (client) => client.write(createMany, write), COST)).body);
        record(outcomes);
        const left = batch.filter(({ subscriber }) => !outcomes.has(subscriber.subscriberId));
        if (left.length < batch.length) {
          service.pace.succeeded();
          hasSucceeded = true;
          failures = 0;
          progress.applied += batch.length - left.length;
        } else {
          fail('it has applied no row');
        }
        return left;
      } catch (error) {
        if (!isUpstreamError(error)) {
          throw error;
        }
        if (error.outcome === 'UNKNOWN') {
          fail(error.code);
          return batch.map((row) => ({ ...row, outcome: 'unknown' }));
        }
        record(new Map());
        const isAbsent = !hasSucceeded && (error.isForeign || error.status === 405);
        if (isAbsent || !error.isTemporary || (tries >= MAX_TRIES && !hasSucceeded)) {
          if (error.code !== 'BAD_USER_INPUT') {
            fail(error.status === undefined ? error.code : `status ${error.status}`, isAbsent ? MAX_FAILURES : 1);
          }
          return batch;
        }
        const message = describeError(error, { subscriberId: '', data: body });
        await service.pace.backOff(error, message, Math.min(tries, MAX_TRIES));
      }
    }
    return batch;
  }

  await runWorkers(CONCURRENCY, sending, async () => {
    const [together, alone] = takeRows(rows, results.startedAt);
    const left = [...alone, ...(together.length > 1 ? await send(together) : together)].values();
    await runWorkers(Math.ceil(sending.concurrency / CONCURRENCY), sending, () => sendNext(left, sending));
    return together.length + alone.length > 0;
  });
}

/** Reads the outcomes of rows, by their ids, from a response. */
function outcomesOf(body: unknown): Map<unknown, RowOutcome> {
  const { created, updated } = recordOf(body);
  const entriesOf = (list: unknown, outcome: RowOutcome) =>
    arrayOf(list).map((item) => [recordOf(item).subscriberId, outcome] as const);
  return new Map([...entriesOf(updated, 'updated'), ...entriesOf(created, 'created')]);
}

/** Takes the next rows: those of a call, and those among them that can't be in it. */
function takeRows(rows: Iterator<PendingRow>, startedAt: number): [PendingRow[], PendingRow[]] {
  const [together, alone]: [PendingRow[], PendingRow[]] = [[], []];
  for (let bytes = 0; together.length < MAX_ROWS && alone.length < MAX_ROWS && bytes <= MAX_BYTES; ) {
    const { value: row } = rows.next();
    if (row === undefined) {
      break;
    }
    const size = isAlone(row, startedAt) ? 0 : Buffer.byteLength(JSON.stringify(row.subscriber)) + 1; // With a comma.
    bytes += size;
    (size > 0 && bytes <= MAX_BYTES ? together : alone).push(row);
  }
  return [together, alone];
}

/**
 * Whether a row must be sent alone: an earlier import has sent it or may have, or it has what the response of the call doesn't show, or channels,
 * which it would store unchecked.
 */
const isAlone = ({ subscriber, outcome, since }: PendingRow, startedAt: number): boolean =>
  outcome !== null ||
  since < startedAt ||
  subscriber.channels !== undefined ||
  Object.values(subscriber).includes(null);
