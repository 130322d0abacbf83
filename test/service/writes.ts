// Sends writes with idempotency keys through a gateway, and compares the outcomes that it reports with what the service's database has.

import { arrayOf, isRecord, recordOf } from '../../src/lib/is-record.ts';
import { sendOperation } from '../support/send-operation.ts';
import type { Database } from './start-service.ts';

/**
 * Report of the gateway about one request. `EXISTS`: there is a record with the name. `IN_PROGRESS`: the service has locked the key, so nothing is known
 * about the write. `STORED_FAILURE`: the service repeats a failure, so the write needs a new key.
 */
export type Report = 'APPLIED' | 'REPLAYED' | 'EXISTS' | 'IN_PROGRESS' | 'STORED_FAILURE' | 'NOT_APPLIED' | 'UNKNOWN';

/** Write with an idempotency key of its own, which can be sent several times. */
export interface Write {
  kind: Kind;
  /** Name of its record, which no other write has. */
  name: string;
  /** Reports, in order. */
  reports: Report[];
}

interface KindOptions {
  mutation: string;
  input(name: string): object;
  /** Collection and member that have the name. */
  stored: readonly [collection: string, member: string];
}

/** Subscriber that gets the events. */
export const RECIPIENT = 'recipient';

/** Trigger identifier of the workflow whose messages have the name as their content. */
export const WORKFLOW = 'named-message';

const event = (name: string, ids: object = {}) => ({
  event: { workflow: WORKFLOW, subscriberIds: [RECIPIENT], payload: { name }, ...ids },
});

const KINDS = {
  group: {
    mutation: 'createNotificationGroup',
    input: (name) => ({ name }),
    stored: ['notificationgroups', 'name'],
  },
  feed: { mutation: 'createFeed', input: (name) => ({ name }), stored: ['feeds', 'name'] },
  topic: { mutation: 'createTopic', input: (name) => ({ key: name, name }), stored: ['topics', 'key'] },
  subscriber: {
    mutation: 'createSubscriber',
    input: (subscriberId) => ({ subscriberId, firstName: subscriberId }),
    stored: ['subscribers', 'subscriberId'],
  },
  event: { mutation: 'triggerEvent', input: (name) => event(name), stored: ['messages', 'content'] },
  transaction: {
    mutation: 'triggerEvent',
    input: (name) => event(name, { transactionId: name }),
    stored: ['messages', 'content'],
  },
} as const satisfies Record<string, KindOptions>;

export type Kind = keyof typeof KINDS;

/** Kinds of writes that the service's API stores, and those whose messages its worker stores. */
export const RECORDS: readonly Kind[] = ['group', 'feed', 'topic', 'subscriber'];
export const EVENTS: readonly Kind[] = ['event', 'transaction'];
export const ALL_KINDS = [...RECORDS, ...EVENTS];

/** Returns writes of these kinds in turn. @param run beginning of their names */
export const createWrites = (run: string, count: number, kinds: readonly Kind[]): Write[] =>
  Array.from({ length: count }, (_, index) => {
    const kind = kinds[index % kinds.length] ?? 'group';
    return { kind, name: `${run}-${kind}-${index}`, reports: [] };
  });

/** Address of a gateway, and the API key for it. */
export interface Gateway {
  url: string;
  key: string;
}

/** Sends a write, with the same idempotency key each time, and notes what the gateway reports. */
export async function sendWrite({ url, key }: Gateway, { kind, name, reports }: Write): Promise<void> {
  const { mutation, input } = KINDS[kind];
  const type = mutation.slice(0, 1).toUpperCase() + mutation.slice(1);
  const document = `mutation ($input: ${type}Input!) {
    result: ${mutation}(input: $input) {
      ... on ${type}Success { replayed }
      ... on ConflictError { reason }
      ... on MutationError { code message }
    }
  }`;
  const body = await sendOperation(url, document, { input: { ...input(name), idempotencyKey: name } }, `ApiKey ${key}`);
  reports.push(readReport(name, recordOf(body)));
}

function readReport(name: string, body: Readonly<Record<string, unknown>>): Report {
  const { result } = recordOf(body.data);
  if (isRecord(result)) {
    const { code, reason, replayed } = result;
    if (code === undefined) {
      return replayed === true ? 'REPLAYED' : 'APPLIED';
    }
    if (reason === 'ALREADY_EXISTS') {
      return 'EXISTS';
    }
  }
  const { outcome, replayed, upstream } = recordOf(recordOf(arrayOf(body.errors)[0]).extensions);
  if (outcome === 'UNKNOWN' && recordOf(upstream).status === 409) {
    return 'IN_PROGRESS';
  }
  if (outcome !== 'NOT_APPLIED' && outcome !== 'UNKNOWN') {
    throw new Error(`The write ${name} has no outcome: ${JSON.stringify(body)}`);
  }
  return replayed === true ? 'STORED_FAILURE' : outcome;
}

/** Calls a function for each item, for several at a time. */
export async function forEach<T>(items: readonly T[], concurrency: number, call: (item: T) => Promise<void>) {
  const left = items.values();
  await Promise.all(
    Array.from({ length: concurrency }, async () => {
      for (const item of left) {
        await call(item);
      }
    }),
  );
}

/** Returns how often the record of each write is stored, by its name. */
export async function countStored(database: Database, writes: readonly Write[]): Promise<Map<string, number>> {
  const names = new Set(writes.map(({ name }) => name));
  const found = new Map<string, number>();
  for (const stored of new Set(writes.map(({ kind }) => KINDS[kind].stored.join()))) {
    const [collection = '', member = ''] = stored.split(',');
    for (const document of await database.find(collection, {})) {
      const name = String(document[member]);
      if (names.has(name)) {
        found.set(name, (found.get(name) ?? 0) + 1);
      }
    }
  }
  return found;
}

/** Writes whose reports contradict the database, with their reports. */
export interface Contradictions {
  /** Reported as applied, and not stored. */
  lost: string[];
  /** Stored more than once. */
  twice: string[];
  /** Reported as not applied each time, and stored. */
  denied: string[];
}

export const NONE: Contradictions = { lost: [], twice: [], denied: [] };

export function findContradictions(writes: readonly Write[], stored: ReadonlyMap<string, number>): Contradictions {
  const select = (contradicts: (reports: readonly Report[], count: number) => boolean) =>
    writes
      .filter(({ name, reports }) => contradicts(reports, stored.get(name) ?? 0))
      .map(({ name, reports }) => `${name}: ${reports.join(', ')}`);
  return {
    lost: select((reports, count) => count === 0 && reports.some((report) => SUCCESSES.has(report))),
    twice: select((_, count) => count > 1),
    denied: select((reports, count) => count > 0 && reports.every((report) => report === 'NOT_APPLIED')),
  };
}

const SUCCESSES: ReadonlySet<Report> = new Set(['APPLIED', 'REPLAYED']);

/** Returns the writes for which this was reported last. */
export const reportedLast = (writes: readonly Write[], ...reports: Report[]): Write[] =>
  writes.filter((write) => reports.some((report) => report === write.reports.at(-1)));
