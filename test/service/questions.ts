// The questions that a running service and the sandbox are asked, and where their answers may differ.

import type { Records } from '../../packages/sandbox/src/records.ts';
import type { TraitName } from '../../packages/sandbox/src/traits.ts';

/** A request. Names in braces are replaced: `{run}` is different in each run, the others are those that earlier questions kept. */
export interface Question {
  /** Method and path, such as `GET /v1/feeds`. */
  ask: string;
  /** Sent as JSON, or as it is if it is a text. @default none */
  body?: unknown;
  /** API key that is sent. @default that of the development environment */
  as?: 'production' | 'unknown' | 'none';
  headers?: Record<string, string>;
  /** Paths of values of the body that later questions name. */
  keep?: Record<string, string>;
  /** Number of messages in the inbox to wait for, because they follow from an event. */
  items?: number;
  /** Number of the same requests at once. Their answers are compared in the order of their statuses. @default 1 */
  times?: number;
  /** Compares only names and types, because the answer is about records that only one of the two has. */
  formOnly?: true;
  /** Reason for which the answers differ, as docs/sandbox.md has it. @default they don't */
  differs?: string;
  /** Whether they differ only sometimes. @default false */
  sometimes?: true;
}

/** A difference that docs/sandbox.md names. */
export interface KnownDifference {
  /** Requests, as `Question` has them. */
  ask: RegExp;
  /** Places in the answer, such as `status` and `data.0.tags`. */
  at: RegExp;
  reason: string;
  sometimes?: true;
}

/** Records that both have before the first question. Only the sandbox can be given workflows in this form: the program creates those of the service. */
const RECORDS = {
  notificationGroups: ['{run} group'],
  feeds: ['{run} feed', '{run} other feed'],
  workflows: [
    {
      identifier: '{run}-full',
      name: '{run} full',
      description: 'A button and a feed',
      group: '{run} group',
      tags: ['a'],
      steps: [
        {
          name: 'inapp',
          type: 'in_app',
          content: 'Hello {{name}}{{{raw}}}, {{subscriber.firstName}}',
          feed: '{run} feed',
          template: {
            cta: {
              type: 'redirect',
              data: { url: '/orders/{{name}}' },
              action: { status: 'pending', buttons: [{ type: 'primary', content: 'OK' }] },
            },
          },
        },
      ],
    },
    {
      identifier: '{run}-plain',
      name: '{run} plain',
      group: '{run} group',
      steps: [{ type: 'in_app', content: 'Plain {{n}}' }],
    },
    {
      identifier: '{run}-critical',
      name: '{run} critical',
      group: '{run} group',
      critical: true,
      steps: [{ type: 'in_app', content: 'Critical' }],
    },
    {
      identifier: '{run}-off',
      name: '{run} off',
      group: '{run} group',
      active: false,
      steps: [{ type: 'in_app', content: 'Off' }],
    },
    { identifier: '{run}-empty', name: '{run} empty', group: '{run} group' },
    {
      identifier: '{run}-idle',
      name: '{run} idle',
      group: '{run} group',
      steps: [{ type: 'in_app', content: 'Idle', active: false }],
    },
  ],
} as const satisfies Records;

/** Returns the records of a run. */
export const recordsOf = (run: string): typeof RECORDS => JSON.parse(JSON.stringify(RECORDS).replaceAll('{run}', run));

/** Traits with which the sandbox stands for the service of 24 October 2024. */
export const TRAITS: readonly TraitName[] = [
  'validation-400',
  'keeps-nulls',
  'soft-deletions',
  'old-preferences',
  'marks-of-everybody',
  'any-channel',
  'any-recipient',
  'large-bodies-500',
];

/** Reason for which the sandbox answers 422 to what a service may accept. */
const CONTRACT = 'the contract does not allow the request';

/** Reason for which reads show what was written before them. */
const UNCACHED = 'the service caches reads, and not every write removes them';

/** Reason for which requests at once succeed in the sandbox. */
const ONE_BY_ONE = 'the sandbox answers one request after the other';

/** Asks for something that the contract doesn't allow. */
const outside = (question: Question): Question => ({ ...question, differs: CONTRACT });

/** An id that the service could have given, but hasn't. */
const ID = '65f000000000000000000999';

const MAX_LENGTH = 102_400;

/** Characters that mean something in HTML. */
const MARKUP = `&<>"'\`=/ &amp;`;

const [GROUPS, FEEDS, TOPICS, SUBSCRIBERS, WORKFLOWS] = [
  '/v1/notification-groups',
  '/v1/feeds',
  '/v1/topics',
  '/v1/subscribers',
  '/v1/workflows',
];

const group = (body: unknown, more: Partial<Question> = {}): Question => ({ ask: `POST ${GROUPS}`, body, ...more });
const feed = (body: unknown, more: Partial<Question> = {}): Question => ({ ask: `POST ${FEEDS}`, body, ...more });
const topic = (body: unknown, more: Partial<Question> = {}): Question => ({ ask: `POST ${TOPICS}`, body, ...more });
const subscriber = (body: unknown, more: Partial<Question> = {}): Question => ({
  ask: `POST ${SUBSCRIBERS}`,
  body,
  ...more,
});
const trigger = (body: object, more: Partial<Question> = {}): Question => ({
  ask: 'POST /v1/events/trigger',
  body: { name: '{run}-plain', payload: { n: 1 }, ...body },
  ...more,
});
const withKey = (key: string) => ({ headers: { 'idempotency-key': key } });

/** Questions about a person's inbox. */
function inbox(id: string) {
  const path = `${SUBSCRIBERS}/${id}`;
  return {
    feed: (query = '', more: Partial<Question> = {}): Question => ({
      ask: `GET ${path}/notifications/feed${query}`,
      ...more,
    }),
    count: (query = ''): Question => ({ ask: `GET ${path}/notifications/unseen${query}` }),
    mark: (messageId: unknown, markAs: unknown = 'read'): Question => ({
      ask: `POST ${path}/messages/mark-as`,
      body: { messageId, markAs },
    }),
    markAll: (body: object): Question => ({ ask: `POST ${path}/messages/mark-all`, body }),
    act: (message: string, type: string, body: object): Question => ({
      ask: `POST ${path}/messages/${message}/actions/${type}`,
      body,
    }),
    preferences: (rest = '', more: Partial<Question> = {}): Question => ({
      ask: `GET ${path}/preferences${rest}`,
      ...more,
    }),
    prefer: (rest: string, body: unknown): Question => ({ ask: `PATCH ${path}/preferences${rest}`, body }),
  };
}

const [ada, bob, cy, nobody] = [inbox('{run}-ada'), inbox('{run}-bob'), inbox('{run}-cy'), inbox('{run}-nobody')];

/** Ids that paths, databases or validators could take for something else. */
const ODD_IDS = [
  'a b',
  'ä',
  'a/b',
  'a+b',
  'a%b',
  'a:b',
  'a.b',
  '$a',
  'a@example.com',
  '__proto__',
  'A',
  `${'x'.repeat(300)}`,
];

/** All questions, in the order in which they are asked. */
export const QUESTIONS: readonly Question[] = [
  // Workflows
  {
    ask: `GET ${WORKFLOWS}/{run}-full`,
    keep: {
      full: 'data._id',
      group: 'data._notificationGroupId',
      template: 'data.steps.0._templateId',
      feed: 'data.steps.0.template._feedId',
    },
  },
  { ask: `GET ${WORKFLOWS}/{run}-plain`, keep: { plain: 'data._id' } },
  { ask: `GET ${WORKFLOWS}/{run}-critical`, keep: { critical: 'data._id' } },
  { ask: `GET ${WORKFLOWS}/{run}-off` },
  { ask: `GET ${WORKFLOWS}/{run}-empty` },
  { ask: `GET ${WORKFLOWS}/{run}-idle` },
  { ask: `GET ${WORKFLOWS}/{full}` },
  { ask: `GET ${WORKFLOWS}/{run}-none` },
  { ask: `GET ${WORKFLOWS}/${ID}` },
  { ask: `GET ${WORKFLOWS}/{full}`, as: 'production' },
  { ask: `GET ${WORKFLOWS}/{full}`, as: 'unknown' },
  { ask: `GET ${WORKFLOWS}/{full}`, as: 'none' },
  { ask: `GET ${WORKFLOWS}?limit=100&query={run}` },
  { ask: `GET ${WORKFLOWS}?limit=2&page=1&query={run}` },
  { ask: `GET ${WORKFLOWS}?query={run}%20fUlL` },
  { ask: `GET ${WORKFLOWS}?query={run}-none` },
  { ask: `GET ${WORKFLOWS}?limit=1`, formOnly: true },
  { ask: `GET ${WORKFLOWS}?query=`, formOnly: true },
  { ask: `GET ${WORKFLOWS}?limit=101&query={run}` },
  { ask: `GET ${WORKFLOWS}?limit=0&query={run}` },
  outside({ ask: `GET ${WORKFLOWS}?page=-1&query={run}` }),
  { ask: `GET ${WORKFLOWS}?page=x&query={run}` },
  { ask: `PUT ${WORKFLOWS}/{plain}/status`, body: { active: false } },
  { ask: `PUT ${WORKFLOWS}/{plain}/status`, body: { active: false } },
  trigger({ to: '{run}-ada' }),
  { ask: `PUT ${WORKFLOWS}/{plain}/status`, body: { active: true } },
  { ask: `PUT ${WORKFLOWS}/{run}-plain/status`, body: { active: true } },
  { ask: `PUT ${WORKFLOWS}/${ID}/status`, body: { active: true } },
  { ask: `PUT ${WORKFLOWS}/malformed/status`, body: { active: true } },
  { ask: `PUT ${WORKFLOWS}/{plain}/status`, body: {} },
  { ask: `PUT ${WORKFLOWS}/{plain}/status`, body: { active: 'yes' } },
  { ask: `PUT ${WORKFLOWS}/{plain}/status`, body: { active: true }, as: 'production' },

  // Notification groups
  group({ name: '{run} new' }, { keep: { newGroup: 'data._id' } }),
  group({ name: '{run} new' }, { keep: { sameName: 'data._id' } }),
  outside(group({ name: '' })),
  group({}),
  group({ name: 1 }),
  group({ name: null }),
  group({ name: '{run} more', color: 'red' }),
  group({ name: `{run} ${'x'.repeat(1000)}` }),
  group({ name: '{run} 🙂 & more' }),
  group({ name: '{run}' }, { as: 'none' }),
  group({ name: '{run}' }, { as: 'unknown' }),
  { ask: `GET ${GROUPS}/{newGroup}` },
  { ask: `GET ${GROUPS}/{newGroup}`, as: 'production' },
  { ask: `GET ${GROUPS}/${ID}` },
  { ask: `GET ${GROUPS}/malformed` },
  { ask: `GET ${GROUPS}` },
  { ask: `PATCH ${GROUPS}/{newGroup}`, body: { name: '{run} renamed' } },
  { ask: `PATCH ${GROUPS}/{newGroup}`, body: {} },
  { ask: `PATCH ${GROUPS}/{newGroup}`, body: { name: '{run} renamed' }, as: 'production' },
  { ask: `PATCH ${GROUPS}/${ID}`, body: { name: '{run} none' } },
  { ask: `PATCH ${GROUPS}/malformed`, body: { name: '{run} none' } },
  { ask: `DELETE ${GROUPS}/{newGroup}`, as: 'production' },
  outside({ ask: `PATCH ${GROUPS}/{newGroup}`, body: { name: '' } }),
  { ask: `DELETE ${GROUPS}/{newGroup}` },
  { ask: `DELETE ${GROUPS}/{newGroup}` },
  { ask: `DELETE ${GROUPS}/{sameName}` },
  { ask: `DELETE ${GROUPS}/malformed` },
  { ask: `GET ${GROUPS}/{newGroup}` },

  // Feeds
  feed({ name: '{run} new' }, { keep: { newFeed: 'data._id' } }),
  feed({ name: '{run} new' }),
  feed({ name: '{run} NEW' }),
  outside(feed({ name: '' })),
  feed({}),
  feed({ name: 1 }),
  feed({ name: ' {run} spaces ' }),
  feed({ name: '{run} new' }, { as: 'production' }),
  { ask: `GET ${FEEDS}` },
  { ask: `GET ${FEEDS}`, as: 'unknown' },
  { ask: `DELETE ${FEEDS}/{newFeed}`, as: 'production' },
  { ask: `DELETE ${FEEDS}/{newFeed}` },
  { ask: `DELETE ${FEEDS}/{newFeed}` },
  { ask: `DELETE ${FEEDS}/{feed}` },
  { ask: `DELETE ${FEEDS}/${ID}` },
  { ask: `DELETE ${FEEDS}/malformed` },
  feed({ name: '{run} new' }),

  // Subscribers
  subscriber(
    {
      subscriberId: '{run}-ada',
      firstName: 'Ada',
      lastName: 'Byron',
      email: 'ada@example.com',
      phone: '+49123',
      avatar: 'https://example.com/a.png',
      locale: 'en_US',
      data: { plan: 'team', nested: { a: [1, null] } },
    },
    { keep: { ada: 'data._id' } },
  ),
  subscriber({ subscriberId: '{run}-bob' }, { keep: { bob: 'data._id' } }),
  subscriber({ subscriberId: '{run}-cy', email: null, firstName: null, data: null, channels: null }),
  subscriber({ subscriberId: '{run}-cy', email: 'cy@example.com', firstName: 'Cy', data: { a: 1 } }),
  subscriber({ subscriberId: '{run}-cy', data: { b: 2 } }),
  subscriber({ subscriberId: '{run}-cy' }),
  subscriber({ subscriberId: '{run}-cy', email: null, firstName: null, data: null }),
  subscriber({ subscriberId: '{run}-cy', firstName: '', email: '' }),
  { ask: `GET ${SUBSCRIBERS}/{run}-cy` },
  subscriber({ subscriberId: ' {run}-dee ' }),
  { ask: `GET ${SUBSCRIBERS}/{run}-dee` },
  subscriber({ subscriberId: '' }),
  subscriber({ subscriberId: '  ' }),
  subscriber({}),
  subscriber({ subscriberId: 1 }),
  subscriber({ subscriberId: null }),
  subscriber({ subscriberId: '{run}-bad', email: 'no address' }),
  subscriber({ subscriberId: '{run}-avatar', avatar: 'no address' }, { differs: 'the sandbox checks avatars' }),
  subscriber({ subscriberId: '{run}-bad', locale: 'no locale' }),
  subscriber({ subscriberId: '{run}-bad', firstName: 1 }),
  outside(subscriber({ subscriberId: '{run}-data', data: 'text' })),
  subscriber({ subscriberId: '{run}-bad', email: 'no address', locale: 'no locale' }),
  { ask: `GET ${SUBSCRIBERS}/{run}-bad` },
  subscriber({ subscriberId: '{run}-more', color: 'red' }),
  subscriber({ subscriberId: '{run}-channels', firstName: 'New', channels: [] }),
  subscriber({
    subscriberId: '{run}-channels',
    firstName: 'Changed',
    channels: [{ providerId: 'none', credentials: { webhookUrl: 'https://example.com' } }],
  }),
  { ask: `GET ${SUBSCRIBERS}/{run}-channels`, differs: 'the fields beside refused channels are stored' },
  subscriber({
    subscriberId: '{run}-channels-2',
    firstName: 'New',
    channels: [{ providerId: 'none', credentials: { webhookUrl: 'https://example.com' } }],
  }),
  { ask: `GET ${SUBSCRIBERS}/{run}-channels-2` },
  subscriber(
    { subscriberId: '{run}-large', firstName: 'x'.repeat(MAX_LENGTH) },
    { differs: 'the error about a large body has no id' },
  ),
  subscriber({ subscriberId: '{run}-x' }, { as: 'none' }),
  subscriber({ subscriberId: '{run}-x' }, { as: 'unknown' }),
  subscriber({ subscriberId: '{run}-twice', firstName: 'Twice' }, { times: 3, differs: ONE_BY_ONE, sometimes: true }),
  { ask: `GET ${SUBSCRIBERS}/{run}-twice` },
  subscriber({ subscriberId: '{run}-twice', firstName: 'Again' }, { times: 2 }),
  { ask: `GET ${SUBSCRIBERS}/{run}-ada` },
  { ask: `GET ${SUBSCRIBERS}/{run}-ada`, as: 'production' },
  { ask: `GET ${SUBSCRIBERS}/{run}-none` },
  { ask: `GET ${SUBSCRIBERS}?limit=100`, formOnly: true },
  { ask: `GET ${SUBSCRIBERS}?limit=1`, formOnly: true },
  { ask: `GET ${SUBSCRIBERS}?limit=1&page=1`, formOnly: true },
  { ask: `GET ${SUBSCRIBERS}?page=100000`, formOnly: true },
  { ask: `GET ${SUBSCRIBERS}?limit=101` },
  { ask: `GET ${SUBSCRIBERS}?limit=0`, formOnly: true },
  outside({ ask: `GET ${SUBSCRIBERS}?page=-1`, formOnly: true }),
  { ask: `GET ${SUBSCRIBERS}?page=x`, formOnly: true },
  { ask: `PUT ${SUBSCRIBERS}/{run}-bob`, body: { firstName: 'Bob', email: 'bob@example.com', data: { a: 1 } } },
  { ask: `PUT ${SUBSCRIBERS}/{run}-bob`, body: { firstName: null, email: null, data: null } },
  { ask: `PUT ${SUBSCRIBERS}/{run}-bob`, body: {} },
  { ask: `PUT ${SUBSCRIBERS}/{run}-bob`, body: { email: 'no address' } },
  { ask: `PUT ${SUBSCRIBERS}/{run}-bob`, body: { subscriberId: '{run}-other', firstName: 'Bob' } },
  { ask: `PUT ${SUBSCRIBERS}/{run}-none`, body: { firstName: 'None' } },
  { ask: `GET ${SUBSCRIBERS}/{run}-bob` },
  { ask: `DELETE ${SUBSCRIBERS}/{run}-none` },
  subscriber({ subscriberId: '{run}-gone', firstName: 'Gone' }),
  { ask: `DELETE ${SUBSCRIBERS}/{run}-gone`, as: 'production' },
  { ask: `DELETE ${SUBSCRIBERS}/{run}-gone` },
  { ask: `DELETE ${SUBSCRIBERS}/{run}-gone` },
  { ask: `GET ${SUBSCRIBERS}/{run}-gone` },
  { ask: `PUT ${SUBSCRIBERS}/{run}-gone`, body: { firstName: 'Back' } },
  trigger({ to: '{run}-gone' }),
  subscriber({ subscriberId: '{run}-gone', firstName: 'Back' }),
  { ask: `POST ${SUBSCRIBERS}/bulk`, body: { subscribers: [{ subscriberId: '{run}-gone', firstName: 'Back' }] } },
  { ask: `GET ${SUBSCRIBERS}/{run}-gone` },
  subscriber({ subscriberId: '{run}-gone', lastName: 'Back' }),
  {
    ask: `POST ${SUBSCRIBERS}/bulk`,
    body: { subscribers: [{ subscriberId: '{run}-bulk' }, { subscriberId: '{run}-bob', firstName: 'Bulk' }] },
  },
  { ask: `POST ${SUBSCRIBERS}/bulk`, body: { subscribers: [] } },
  { ask: `POST ${SUBSCRIBERS}/bulk`, body: {} },
  { ask: `POST ${SUBSCRIBERS}/bulk`, body: { subscribers: [{}] } },
  {
    ask: `POST ${SUBSCRIBERS}/bulk`,
    body: { subscribers: Array.from({ length: 501 }, (_, at) => ({ subscriberId: `{run}-bulk-${at}` })) },
  },
  { ask: `GET ${SUBSCRIBERS}/{run}-bulk` },
  { ask: `GET ${SUBSCRIBERS}/{run}-bob`, differs: UNCACHED },
  ...ODD_IDS.flatMap((id): Question[] => [
    subscriber({ subscriberId: `{run}${id}`, firstName: 'Odd' }),
    { ask: `GET ${SUBSCRIBERS}/{run}${encodeURIComponent(id)}` },
    trigger({ to: `{run}${id}` }),
    inbox(`{run}${encodeURIComponent(id)}`).feed('', { items: 1 }),
  ]),

  // Topics
  topic({ key: '{run}', name: '{run} topic' }, { keep: { topic: 'data._id' } }),
  topic({ key: '{run}', name: '{run} topic' }),
  outside(topic({ key: '{run}-empty', name: '' })),
  outside(topic({ key: '', name: '{run} topic' })),
  topic({ key: '{run}-no-name' }),
  topic({ name: '{run} no key' }),
  topic({ key: 1, name: '{run}' }),
  topic({ key: '{run} ä/b', name: '{run} odd' }),
  { ask: `GET ${TOPICS}/{run}` },
  { ask: `GET ${TOPICS}/{run}%20%C3%A4%2Fb` },
  { ask: `GET ${TOPICS}/{run}`, as: 'production' },
  { ask: `GET ${TOPICS}/{run}-none` },
  { ask: `GET ${TOPICS}?key={run}` },
  { ask: `GET ${TOPICS}?key={run}-none` },
  { ask: `GET ${TOPICS}?key=`, formOnly: true },
  { ask: `GET ${TOPICS}`, formOnly: true },
  { ask: `GET ${TOPICS}?pageSize=1`, formOnly: true },
  { ask: `GET ${TOPICS}?pageSize=10&page=1`, formOnly: true },
  { ask: `GET ${TOPICS}?pageSize=11` },
  outside({ ask: `GET ${TOPICS}?pageSize=0`, formOnly: true }),
  { ask: `GET ${TOPICS}?page=-1`, formOnly: true },
  { ask: `GET ${TOPICS}?page=x`, formOnly: true },
  { ask: `POST ${TOPICS}/{run}/subscribers`, body: { subscribers: ['{run}-ada', '{run}-bob', '{run}-none'] } },
  { ask: `POST ${TOPICS}/{run}/subscribers`, body: { subscribers: ['{run}-bob', '{run}-bob'] } },
  outside({ ask: `POST ${TOPICS}/{run}/subscribers`, body: { subscribers: [] } }),
  { ask: `POST ${TOPICS}/{run}/subscribers`, body: {} },
  { ask: `POST ${TOPICS}/{run}/subscribers`, body: { subscribers: '{run}-ada' } },
  { ask: `POST ${TOPICS}/{run}-auto/subscribers`, body: { subscribers: ['{run}-none'] } },
  { ask: `GET ${TOPICS}/{run}-auto` },
  { ask: `GET ${TOPICS}/{run}` },
  { ask: `GET ${TOPICS}?key={run}` },
  { ask: `DELETE ${TOPICS}/{run}` },
  { ask: `PATCH ${TOPICS}/{run}`, body: { name: '{run} renamed' } },
  outside({ ask: `PATCH ${TOPICS}/{run}`, body: { name: '' } }),
  { ask: `PATCH ${TOPICS}/{run}`, body: {} },
  { ask: `PATCH ${TOPICS}/{run}-none`, body: { name: '{run} none' } },
  { ask: `POST ${TOPICS}/{run}/subscribers/removal`, body: { subscribers: ['{run}-none'] } },
  outside({ ask: `POST ${TOPICS}/{run}/subscribers/removal`, body: { subscribers: [] } }),
  { ask: `POST ${TOPICS}/{run}-none/subscribers/removal`, body: { subscribers: ['{run}-ada'] } },
  { ask: `DELETE ${TOPICS}/{run}-auto` },
  { ask: `DELETE ${TOPICS}/{run}-auto` },

  // Events
  trigger({
    name: '{run}-full',
    to: '{run}-ada',
    payload: { name: 'Ann' },
    overrides: { email: { from: 'a@example.com' } },
    transactionId: '{run}-1',
  }),
  ada.feed('', { items: 1, keep: { message: 'data.0._id' } }),
  trigger({ name: '{run}-full', to: '{run}-ada', payload: { name: 'Ann' }, transactionId: '{run}-1' }),
  trigger({ name: '{run}-full', to: '{run}-dee', payload: { name: MARKUP, raw: MARKUP }, transactionId: '{run}-html' }),
  inbox('{run}-dee').feed('', { items: 1 }),
  trigger({ to: ['{run}-ada', '{run}-bob'], transactionId: '{run}-2' }),
  ada.feed('', { items: 2 }),
  bob.feed('', { items: 1, keep: { message2: 'data.0._id' } }),
  trigger({ to: [{ type: 'Topic', topicKey: '{run}' }], actor: '{run}-ada', transactionId: '{run}-3' }),
  bob.feed('', { items: 2 }),
  ada.feed('', { items: 2 }),
  trigger({ to: { subscriberId: '{run}-eve', firstName: 'Eve', email: 'eve@example.com' }, transactionId: '{run}-4' }),
  inbox('{run}-eve').feed('', { items: 1 }),
  { ask: `GET ${SUBSCRIBERS}/{run}-eve` },
  trigger(
    { to: { subscriberId: '{run}-eve', email: 'no address' } },
    { differs: 'the sandbox checks the fields of recipients' },
  ),
  trigger({ to: [{ type: 'Topic', topicKey: '{run}-none' }, '{run}-eve'] }),
  trigger({ to: [{ type: 'Topic', topicKey: '{run}-none' }] }),
  trigger({ to: '{run}-eve', payload: undefined }),
  trigger({ to: '{run}-eve', payload: null }),
  trigger({ to: '{run}-eve', payload: 'text' }),
  outside(trigger({ to: '{run}-eve', payload: {}, overrides: null })),
  outside(trigger({ to: '{run}-eve', transactionId: '' })),
  trigger({ to: '{run}-eve', transactionId: 1 }),
  trigger({ to: '{run}-eve', tenant: '{run}-none' }),
  trigger({ name: '{run}-none', to: '{run}-eve' }),
  trigger({ name: '{run}-off', to: '{run}-eve' }),
  trigger({ name: '{run}-empty', to: '{run}-eve' }),
  trigger({ name: '{run}-idle', to: '{run}-eve' }),
  outside(trigger({ name: '', to: '{run}-eve' })),
  trigger({ name: undefined, to: '{run}-eve' }),
  trigger({}),
  outside(trigger({ to: '' })),
  trigger({ to: null }),
  outside(trigger({ to: [] })),
  outside(trigger({ to: [null] })),
  outside(trigger({ to: {} })),
  outside(trigger({ to: 1 })),
  outside(trigger({ to: [{ type: 'Topic' }] })),
  trigger({ to: Array.from({ length: 100 }, (_, at) => `{run}-many-${at % 3}`) }),
  outside(trigger({ to: Array.from({ length: 101 }, (_, at) => `{run}-many-${at}`) })),
  trigger({ to: '{run}-eve' }, { as: 'none' }),
  trigger({ to: '{run}-eve' }, { as: 'production' }),
  trigger({ to: '{run}-eve', payload: { n: 'x'.repeat(MAX_LENGTH) }, name: '{run}-none' }),
  {
    ask: 'POST /v1/events/trigger/bulk',
    body: {
      events: [
        { name: '{run}-plain', to: '{run}-cy', payload: { n: 5 }, transactionId: '{run}-5' },
        { name: '{run}-plain', to: '{run}-cy' },
        { name: '{run}-none', to: '{run}-cy', payload: {} },
        { name: '{run}-off', to: '{run}-cy', payload: {} },
      ],
    },
  },
  { ask: 'POST /v1/events/trigger/bulk', body: { events: [] } },
  { ask: 'POST /v1/events/trigger/bulk', body: {} },
  outside({ ask: 'POST /v1/events/trigger/bulk', body: { events: [{}] } }),
  {
    ask: 'POST /v1/events/trigger/bulk',
    body: { events: Array.from({ length: 101 }, () => ({ name: '{run}-none', to: '{run}-cy', payload: {} })) },
  },
  cy.feed('', { items: 1 }),
  { ask: 'DELETE /v1/events/trigger/{run}-1' },
  { ask: 'DELETE /v1/events/trigger/{run}-none' },

  // The inbox
  ada.feed('?limit=1'),
  ada.feed('?limit=100&page=1'),
  ada.feed('?feedIdentifier={run}%20feed'),
  ada.feed('?feedIdentifier={run}%20feed&feedIdentifier={run}%20other%20feed'),
  ada.feed('?feedIdentifier={run}%20other%20feed'),
  ada.feed('?feedIdentifier={run}-none'),
  ada.feed('?feedIdentifier={feed}'),
  ada.feed('?seen=true'),
  ada.feed('?seen=false&read=false'),
  ada.feed('?limit=101'),
  ada.feed('?limit=0'),
  ada.feed('?limit=x'),
  outside(ada.feed('?page=-1')),
  nobody.feed(),
  ada.count(),
  ada.count('?seen=true'),
  ada.count('?limit=1'),
  ada.count('?limit=0'),
  outside(ada.count('?limit=x')),
  ada.count('?feedIdentifier={run}%20feed'),
  ada.count('?feedIdentifier={run}-none'),
  nobody.count(),
  ada.mark(['{message}'], 'seen'),
  ada.feed('?feedIdentifier={run}%20feed'),
  ada.mark(['{message}'], 'unseen'),
  ada.mark(['{message}'], 'read'),
  ada.mark(['{message}'], 'unread'),
  ada.mark(['{message2}'], 'read'),
  bob.feed(),
  ada.mark([ID]),
  ada.mark(['malformed']),
  ada.mark([]),
  ada.mark(undefined),
  ada.mark(['{message}'], 'none'),
  ada.mark(['{message}'], undefined),
  nobody.mark(['{message}']),
  ada.count(),
  ada.markAll({ markAs: 'seen' }),
  ada.markAll({ markAs: 'read', feedIdentifier: ['{run} feed'] }),
  ada.markAll({ markAs: 'read', feedIdentifier: [] }),
  ada.markAll({ markAs: 'read' }),
  ada.markAll({ markAs: 'unread' }),
  ada.markAll({ markAs: 'unseen', feedIdentifier: ['{run} feed'] }),
  ada.markAll({}),
  nobody.markAll({ markAs: 'read' }),
  ada.feed(),
  ada.act('{message}', 'primary', { status: 'done', payload: { a: 1 } }),
  ada.act('{message}', 'secondary', { status: 'done' }),
  ada.act('{message}', 'secondary', { status: 'done' }),
  ada.act('{message}', 'primary', {}),
  ada.act('{message2}', 'primary', { status: 'done' }),
  ada.act(ID, 'primary', { status: 'done' }),
  ada.act('malformed', 'primary', { status: 'done' }),
  nobody.act('{message}', 'primary', { status: 'done' }),
  ada.feed('?feedIdentifier={run}%20feed'),

  // Preferences
  ada.preferences(),
  ada.preferences('/global'),
  ada.preferences('', { as: 'unknown' }),
  nobody.preferences(),
  nobody.preferences('/global'),
  ada.prefer('/{plain}', { channel: { type: 'in_app', enabled: false } }),
  ada.preferences(),
  trigger({ to: ['{run}-ada', '{run}-bob'], transactionId: '{run}-6' }),
  bob.feed('?limit=3', { items: 3 }),
  { ask: 'GET /v1/messages?transactionId={run}-6&subscriberId={run}-ada' },
  ada.feed('', { differs: UNCACHED }),
  ada.prefer('/{plain}', { enabled: false }),
  ada.prefer('/{plain}', { enabled: true, channel: { type: 'in_app', enabled: true } }),
  ada.prefer('/{plain}', { channel: { type: 'none', enabled: true } }),
  ada.prefer('/{plain}', { channel: { type: 'email' } }),
  { ...ada.prefer('/{plain}', {}), differs: 'a change of nothing is accepted' },
  ada.prefer('/{critical}', { channel: { type: 'in_app', enabled: false } }),
  ada.prefer('/{run}-plain', { enabled: true }),
  ada.prefer(`/${ID}`, { enabled: true }),
  ada.prefer('/malformed', { enabled: true }),
  nobody.prefer('/{plain}', { enabled: true }),
  ada.prefer('', { preferences: [{ type: 'sms', enabled: false }] }),
  ada.prefer('', { enabled: false }),
  ada.preferences('/global'),
  trigger({ to: ['{run}-ada', '{run}-bob'], transactionId: '{run}-7' }),
  bob.feed('?limit=4', { items: 4 }),
  {
    ask: 'GET /v1/messages?transactionId={run}-7&subscriberId={run}-ada',
    differs: 'global preferences apply, also to a service with workflow preferences of 2024',
    sometimes: true,
  },
  ada.prefer('', { enabled: true, preferences: [] }),
  ada.prefer('', {}),
  ada.prefer('', { preferences: [{ type: 'none', enabled: true }] }),
  nobody.prefer('', { enabled: true }),
  outside(cy.mark('{message}', 'unread')),
  outside(cy.markAll({ markAs: 'none' })),
  outside(cy.markAll({ markAs: 'unseen', feedIdentifier: '{run} feed' })),

  // Messages
  { ask: 'GET /v1/messages?subscriberId={run}-bob' },
  { ask: 'GET /v1/messages?subscriberId={run}-bob&limit=1&page=1' },
  { ask: 'GET /v1/messages?subscriberId={run}-bob&channel=email' },
  outside({ ask: 'GET /v1/messages?subscriberId={run}-bob&channel=none' }),
  { ask: 'GET /v1/messages?subscriberId={run}-none' },
  { ask: 'GET /v1/messages?transactionId={run}-1' },
  { ask: 'GET /v1/messages?transactionId={run}-1&transactionId={run}-3' },
  { ask: 'GET /v1/messages?transactionId[]={run}-1' },
  { ask: 'GET /v1/messages?transactionId={run}-none' },
  { ask: 'GET /v1/messages?transactionId={run}-1', as: 'production' },
  { ask: 'GET /v1/messages?transactionId={run}-1&limit=1001' },
  outside({ ask: 'GET /v1/messages?transactionId={run}-1&limit=0' }),
  outside({ ask: 'GET /v1/messages?transactionId={run}-1&page=-1' }),
  { ask: 'GET /v1/messages?transactionId={run}-1&page=x' },
  { ask: 'DELETE /v1/messages/{message2}', as: 'production' },
  { ask: 'DELETE /v1/messages/{message2}' },
  { ask: 'DELETE /v1/messages/{message2}' },
  { ask: `DELETE /v1/messages/${ID}` },
  { ask: 'DELETE /v1/messages/malformed' },
  trigger({ to: '{run}-left', transactionId: '{run}-8' }),
  inbox('{run}-left').feed('', { items: 1, keep: { message3: 'data.0._id' } }),
  { ask: `DELETE ${SUBSCRIBERS}/{run}-left` },
  { ask: 'GET /v1/messages?transactionId={run}-8' },
  { ask: 'DELETE /v1/messages/{message3}' },
  { ask: 'DELETE /v1/messages/transaction/{run}-8' },
  { ask: 'DELETE /v1/messages/transaction/{run}-1?channel=email' },
  { ask: 'DELETE /v1/messages/transaction/{run}-1?channel=none' },
  { ask: 'DELETE /v1/messages/transaction/{run}-1', as: 'production' },
  { ask: 'DELETE /v1/messages/transaction/{run}-1' },
  { ask: 'DELETE /v1/messages/transaction/{run}-1' },
  { ask: 'DELETE /v1/messages/transaction/{run}-none' },
  trigger({ name: '{run}-full', to: '{run}-bob', transactionId: '{run}-1' }),

  // Statistics
  { ask: 'GET /v1/notifications/graph/stats', formOnly: true },
  { ask: 'GET /v1/notifications/graph/stats?days=2', formOnly: true },
  outside({ ask: 'GET /v1/notifications/graph/stats?days=0', formOnly: true }),
  outside({ ask: 'GET /v1/notifications/graph/stats?days=-1', formOnly: true }),
  { ask: 'GET /v1/notifications/graph/stats?days=x', formOnly: true },

  // Idempotency keys
  group({ name: '{run} once' }, withKey('{run}-1')),
  group({ name: '{run} once' }, withKey('{run}-1')),
  group({ name: '{run} other' }, withKey('{run}-1')),
  feed({ name: '{run} once' }, withKey('{run}-1')),
  group({ name: '{run} once' }, { ...withKey('{run}-1'), as: 'production' }),
  group({ name: '{run} at once' }, { ...withKey('{run}-2'), times: 2, differs: ONE_BY_ONE, sometimes: true }),
  group({}, withKey('{run}-3')),
  group({}, withKey('{run}-3')),
  feed({ name: '{run} new' }, withKey('{run}-4')),
  feed({ name: '{run} new' }, withKey('{run}-4')),
  { ask: `PATCH ${GROUPS}/malformed`, body: { name: '{run}' }, ...withKey('{run}-5') },
  { ask: `PATCH ${GROUPS}/malformed`, body: { name: '{run}' }, ...withKey('{run}-5') },
  group({ name: '{run} long' }, { ...withKey('x'.repeat(256)), differs: 'a key that is too long is repeated' }),
  group({ name: '{run} empty' }, withKey('')),
  group({ name: '{run} locked' }, { ...withKey('{run}-6'), as: 'unknown' }),
  { ask: `PATCH ${GROUPS}/{group}`, body: { name: '{run} group' }, ...withKey('{run}-7') },
  { ask: `PATCH ${GROUPS}/{group}`, body: { name: '{run} group' }, ...withKey('{run}-7') },
  { ask: `PUT ${SUBSCRIBERS}/{run}-bob`, body: { firstName: 'Put' }, ...withKey('{run}-8') },
  { ask: `PUT ${SUBSCRIBERS}/{run}-bob`, body: { firstName: 'Put' }, ...withKey('{run}-8') },
  trigger({ to: '{run}-bob' }, withKey('{run}-9')),
  trigger({ to: '{run}-bob' }, withKey('{run}-9')),
  { ask: `POST ${TOPICS}/{run}/subscribers/removal`, body: { subscribers: ['{run}-x'] }, ...withKey('{run}-10') },
  { ask: `POST ${TOPICS}/{run}/subscribers/removal`, body: { subscribers: ['{run}-x'] }, ...withKey('{run}-10') },

  // Bodies and paths
  feed('{"name":'),
  feed([]),
  feed('"text"'),
  { ask: `POST ${FEEDS}` },
  outside(feed('{"name":"{run}"}', { headers: { 'content-type': 'text/plain' } })),
  { ask: 'GET /v1/none' },
  outside({ ask: `PUT ${FEEDS}`, body: { name: '{run}' } }),
  { ask: `GET ${SUBSCRIBERS}/%` },
  { ask: `GET ${GROUPS}/` },
];

const LEFT_OUT = 'members that no client needs are left out';

/** Differences that docs/sandbox.md names. */
export const KNOWN_DIFFERENCES: readonly KnownDifference[] = [
  { ask: /feed|messages/, at: /\.(?:_jobId|expireAt|template|actorSubscriber)$/, reason: LEFT_OUT },
  { ask: /feed|messages/, at: /\.buttons\.\*\.(?:_id|id)$/, reason: LEFT_OUT },
  { ask: /preferences/, at: /\.(?:type|overrides)$/, reason: LEFT_OUT },
  { ask: /workflows/, at: /\.(?:variants|workflowIntegrationStatus)$/, reason: LEFT_OUT },
  { ask: /workflows\?/, at: /\.notificationGroup\./, reason: LEFT_OUT },
  { ask: /subscribers/, at: /\.deletedAt$/, reason: LEFT_OUT },
  { ask: /groups\/?$/, at: /\.\*\.id$/, reason: 'also listed records have an id beside _id' },
  { ask: /bulk$/, at: /\.__v$/, reason: 'subscribers created in bulk have __v' },
  { ask: /./, at: /\.transactionId$/, reason: 'transactions without an id get one of another form' },
];
