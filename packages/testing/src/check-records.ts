// Checks the form of records, which plain JavaScript doesn't.

import { z } from 'zod';
import { unknownSetting } from '../../../src/lib/words.ts';
import { findIdProblem } from '../../../src/upstream/input-rules.ts';
import {
  CHANNELS,
  type DayRecord,
  type FilterRecord,
  type NamedRecord,
  type Records,
  type StepRecord,
  type SubscriberRecord,
  type TransactionRecord,
  type WorkflowRecord,
} from '../../sandbox/src/records.ts';

/** A schema for each member, so that a new one can't be forgotten here. */
type Shape<Type> = { [Name in keyof Type]-?: z.ZodType };

const text = z.string('must be a text');
const anyText = text.optional();
const id = text.refine((value) => findIdProblem(value, true) === undefined, {
  error: ({ input }) => findIdProblem(String(input)),
});
const flag = z.boolean('must be true or false').optional();
const object = z.record(text, z.unknown(), 'must be an object').optional();
const list = (item: z.ZodType) => z.array(item, 'must be a list');
const texts = list(text).optional();

const oneOf = (words: readonly string[]) => z.enum(words, `must be one of ${words.join(', ')}`);
const channels = list(oneOf(CHANNELS)).optional();

/** Members and no others: a misspelled one would silently have its default. */
function members<Type>(shape: Shape<Type>) {
  return z.strictObject(shape, {
    error: (issue) =>
      issue.code === 'unrecognized_keys'
        ? `has ${issue.keys.map((key) => unknownSetting(key, Object.keys(shape), 'member')).join(' and ')}`
        : 'must be an object',
  });
}

const named = z.union(
  [z.string(), z.strictObject({ id: id.optional(), name: text } satisfies Shape<Exclude<NamedRecord, string>>)],
  'must be a name, or an object with a name and an id',
);

const filter = members<FilterRecord>({
  value: oneOf(['AND', 'OR']),
  children: list(z.record(text, z.unknown(), 'must be an object')),
});

const step = members<StepRecord>({
  name: anyText,
  type: oneOf([...CHANNELS, 'digest', 'delay']),
  subject: anyText,
  content: z.union([text, z.array(z.record(text, z.unknown()))], 'must be a text or a list of blocks').optional(),
  template: object,
  feed: anyText,
  metadata: object,
  filters: list(filter).optional(),
  active: flag,
  shouldStopOnFail: flag,
  replyCallback: object,
});

const workflow = members<WorkflowRecord>({
  id: id.optional(),
  identifier: id,
  name: anyText,
  description: anyText,
  group: anyText,
  tags: texts,
  active: flag,
  critical: flag,
  createdAt: anyText,
  updatedAt: anyText,
  steps: list(step).optional(),
  preferred: channels,
  data: object,
});

const subscriber = members<SubscriberRecord>({
  id: id.optional(),
  subscriberId: id,
  firstName: anyText,
  lastName: anyText,
  email: anyText,
  phone: anyText,
  avatar: anyText,
  locale: anyText,
  data: object,
  channels: list(z.record(text, z.unknown(), 'must be an object')).optional(),
  createdAt: anyText,
});

const message = members<TransactionRecord>({
  transactionId: id,
  channels,
  id: id.optional(),
  subscriberId: id.optional(),
  workflow: anyText,
  content: anyText,
  payload: object,
  seen: flag,
  read: flag,
  createdAt: anyText,
});

const records = members<Records>({
  notificationGroups: list(named).optional(),
  feeds: list(named).optional(),
  workflows: list(workflow).optional(),
  subscribers: list(subscriber).optional(),
  messages: list(message).optional(),
  statistics: list(
    members<DayRecord>({ date: text, workflows: texts, count: z.int('must be an integer').optional(), channels }),
  ).optional(),
});

/** Checks the form of records, which plain JavaScript doesn't. @throws {TypeError} that names every problem */
export function checkRecords(value: unknown): void {
  const { error } = records.safeParse(value);
  if (error !== undefined) {
    const problems = error.issues.map(({ path, message }) => `${z.core.toDotPath(['records', ...path])} ${message}`);
    throw new TypeError(`${problems.join('; ')}.`);
  }
}
