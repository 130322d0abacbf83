import { expect, it } from 'vitest';
import { startGateway } from '../support/gateway.ts';
import { guards } from '../support/guards.ts';
import { feed, group, subscriber, workflow } from '../support/records.ts';
import { sampleOf } from '../support/samples.ts';
import type { Script } from '../support/service.ts';

guards('src/graphql/values.ts', 'listOf');

/** Values that are wrong for most members. Some break code that trusts their type. */
const WRONG: readonly unknown[] = [
  {},
  [],
  'x',
  5,
  true,
  null,
  [null],
  [{}],
  { length: 1 },
  { toString: 1, valueOf: 1 },
];

const step = {
  _id: 's',
  name: 'Step',
  filters: [{ type: 'GROUP', children: [{ field: 'a', value: 'b' }] }],
  template: { type: 'email', content: [{ type: 'text' }], variables: [{ name: 'a' }] },
  metadata: { timed: { weekDays: ['monday'], monthDays: [1] } },
};

const flow = workflow({
  steps: [step],
  data: { a: 1 },
  triggers: [{ type: 'event', identifier: 'w1', variables: [{ name: 'a' }] }],
});

/** Bodies of responses, and the fields that read them, each selected without others, which could hide its error. */
const CASES: readonly [body: object, fields: readonly string[]][] = [
  [
    flow,
    [
      'id',
      'name',
      'tags',
      'data',
      'active',
      'notificationGroupId',
      'notificationGroup { id name }',
      'preferenceSettings { email }',
      'triggers { identifier variables { name } }',
      'steps { id filters { children { value } } }',
      'steps { template { content } }',
      'steps { template { contentBlocks variables { name } } }',
      'steps { metadata { timed { weekDays monthDays } } }',
    ].map((field) => `{ workflow(idOrIdentifier: "w1") { ${field} } }`),
  ],
  [{ ...flow, _id: undefined, id: undefined }, ['{ workflow(idOrIdentifier: "w1") { name } }']],
  [
    [
      { _id: '2026-03-01', count: 1, templates: ['w1'], channels: ['email'] },
      { _id: '2026-03-02', count: 2, templates: ['w2'], channels: ['sms'] },
    ],
    [
      ...['key', 'count', 'date', 'channels', 'workflowIds', 'workflows { id }'].map(
        (field) => `{ notificationStats { ${field} } }`,
      ),
      '{ notificationStats(days: 3, fillGaps: true) { key } }',
    ],
  ],
  [
    [group(), group({ _id: 'g2' })],
    [
      '{ notificationGroups { id name } }',
      '{ a: notificationGroup(id: "g1") { id } b: notificationGroup(id: "g2") { id } }',
    ],
  ],
  [
    subscriber({ channels: [{ providerId: 'fcm', credentials: { deviceTokens: ['a'] } }], data: { a: 1 } }),
    ['id', 'subscriberId', 'channels', 'data', 'createdAt', 'isOnline', 'revision'].map(
      (field) =>
        `mutation { createSubscriber(input: { subscriberId: "a" }) { ... on CreateSubscriberSuccess { subscriber { ${field} } } } }`,
    ),
  ],
  [
    [feed()],
    ['mutation { deleteFeed(input: { id: "f" }) { ... on DeleteFeedSuccess { remainingFeeds { id name } } } }'],
  ],
  [
    flow,
    [
      'mutation { updateWorkflowStatus(input: { workflowId: "w1", active: true }) { ... on UpdateWorkflowStatusSuccess { changed workflow { id active } } } }',
    ],
  ],
  [
    { acknowledged: true, status: 'deleted' },
    [
      'mutation { deleteNotificationGroup(input: { id: "g" }) { ... on DeleteNotificationGroupSuccess { acknowledged status } } }',
    ],
  ],
];

/** Yields the value with each of its members replaced by a wrong one, and the path of that member. */
function* corrupt(value: unknown, path: string): Generator<[unknown, string]> {
  for (const wrong of WRONG) {
    yield [wrong, `${path} = ${JSON.stringify(wrong)}`];
  }
  if (typeof value !== 'object' || value === null) {
    return;
  }
  for (const [name, member] of Object.entries(value)) {
    for (const [wrong, where] of corrupt(member, `${path}.${name}`)) {
      yield [Array.isArray(value) ? value.with(Number(name), wrong) : { ...value, [name]: wrong }, where];
    }
  }
}

/** Operations in flight at a time. */
const CONCURRENCY = 20;

it('a value of a wrong type is a fault of the service, wherever it is', async () => {
  const bodies = new Map<string | undefined, unknown>();
  const script: Script = ({ headers: { authorization } }) => {
    const isFirst = bodies.has(authorization);
    const data = bodies.get(authorization);
    bodies.delete(authorization);
    return isFirst ? { body: { data } } : { status: 404, body: { statusCode: 404 } };
  };
  await using gateway = await startGateway({ service: script, maxRetries: 0 });
  const cases = CASES.flatMap(([right, documents]) =>
    [...corrupt(right, 'data')].flatMap(([body, where]) => documents.map((document) => ({ document, body, where }))),
  );
  const faults: unknown[] = [];
  const pending = sampleOf(cases, 19).entries(); // A prime, so that the sample has each document and each wrong value.
  const sendAll = async () => {
    for (const [i, { document, body, where }] of pending) {
      const authorization = `ApiKey ${i}`;
      bodies.set(authorization, body);
      const { codes } = await gateway.send(document, {}, { authorization });
      if (codes.some((code) => code !== 'UPSTREAM_BAD_RESPONSE')) {
        faults.push([document, where, ...codes]);
      }
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, sendAll));
  expect(faults).toEqual([]);
});
