import { describe, expect, it } from 'vitest';
import { createTestGateway, type TestGateway, type TraitName } from '../../packages/testing/src/index.ts';
import events from '../../src/modules/events.ts';
import subscribers from '../../src/modules/subscribers.ts';
import topics from '../../src/modules/topics.ts';
import workflowPages from '../../src/modules/workflows.ts';

// What users see when they test their apps against a service that behaves as real ones do.

const MODULES = { modules: [events, subscribers, topics, workflowPages] };

/** Runs an operation. Returns its data, and the code and outcome of its errors. */
async function run({ client }: Pick<TestGateway, 'client'>, document: string) {
  const { data, errors = [] } = await client.request(document);
  return { data, errors: errors.map(({ extensions: { code, outcome } }) => [code, outcome].filter(Boolean).join(' ')) };
}

const READ = '{ workflow(idOrIdentifier: "payment-failed") { name } }';
const LIST = '{ notificationGroups { name } }';
const CREATE = 'mutation { createFeed(input: { name: "New" }) { __typename } }';
const DELETE = 'mutation { deleteNotificationGroup(input: { id: "g" }) { __typename } }';

const WORKFLOW = { workflow: { name: 'Payment failed' } };
const NOTHING = { data: { workflow: null }, errors: ['UPSTREAM_BAD_RESPONSE'] };

describe.each<TraitName>(['ingress-404', 'framework-404-html', 'framework-404-json', 'firewall-403'])('%s', (trait) => {
  it('is a failure of the service until it recovers', async () => {
    await using gateway = await createTestGateway(MODULES);
    const active = gateway.behave(trait);
    expect(await run(gateway, READ)).toEqual(NOTHING);
    for (const [field, document] of Object.entries({ createFeed: CREATE, deleteNotificationGroup: DELETE })) {
      expect(await run(gateway, document)).toEqual({
        data: { [field]: null },
        errors: ['UPSTREAM_BAD_RESPONSE NOT_APPLIED'],
      });
    }
    active.recover();
    expect(await run(gateway, READ)).toEqual({ data: WORKFLOW, errors: [] });
  });
});

describe.each<TraitName>(['read-timeouts', 'sick-pod', 'byte-order-mark', 'absent-flags'])('%s', (trait) => {
  it('does not disturb reads', async () => {
    await using gateway = await createTestGateway({ ...MODULES, traits: [trait] });
    const document = '{ workflow(idOrIdentifier: "payment-failed") { name critical draft deleted } }';
    for (let i = 0; i < 3; i += 1) {
      expect(await run(gateway, document)).toMatchObject({ data: WORKFLOW, errors: [] });
    }
  });
});

it('write-timeouts: a write that was applied and answered with 408 is UNKNOWN', async () => {
  await using gateway = await createTestGateway(MODULES);
  const active = gateway.behave('write-timeouts');
  expect(await run(gateway, CREATE)).toEqual({ data: { createFeed: null }, errors: ['UPSTREAM_UNAVAILABLE UNKNOWN'] });
  active.recover();
  expect(await run(gateway, CREATE)).toEqual({ data: { createFeed: { __typename: 'ConflictError' } }, errors: [] });
});

it('errors-with-200: an error object is no success', async () => {
  await using gateway = await createTestGateway({ ...MODULES, traits: ['errors-with-200'] });
  expect(await run(gateway, CREATE)).toEqual({ data: { createFeed: null }, errors: ['UPSTREAM_BAD_RESPONSE UNKNOWN'] });
});

it('stored-failures: only a new key succeeds', async () => {
  await using gateway = await createTestGateway({ ...MODULES, traits: ['stored-failures'] });
  const create = (key: string) =>
    gateway.client.request(`mutation { createFeed(input: { name: "New", idempotencyKey: "${key}" }) { __typename } }`);
  const first = await create('a');
  expect(first.errors?.[0]?.extensions).toMatchObject({ code: 'UPSTREAM_UNAVAILABLE', outcome: 'UNKNOWN' });
  const again = await create('a');
  expect(again.errors?.[0]?.extensions).toMatchObject({ code: 'UPSTREAM_UNAVAILABLE', replayed: true });
  expect((await create('b')).data).toEqual({ createFeed: { __typename: 'CreateFeedSuccess' } });
});

it('rate-limit-categories: an exhausted category leaves the others alone', async () => {
  await using gateway = await createTestGateway({ ...MODULES, traits: ['rate-limit-categories'] });
  expect((await run(gateway, LIST)).errors).toEqual(['RATE_LIMITED']);
  const trigger =
    'mutation { triggerEvent(input: { event: { workflow: "payment-failed", subscriberIds: ["customer-1001"] } }) { __typename } }';
  expect(await run(gateway, trigger)).toEqual({
    data: { triggerEvent: { __typename: 'TriggerEventSuccess' } },
    errors: [],
  });
});

describe.each<TraitName>(['validation-by-field', 'validation-list', 'validation-paths', 'validation-cause'])(
  '%s',
  (trait) => {
    it('names the field, without its value', async () => {
      await using gateway = await createTestGateway({ ...MODULES, traits: [trait] });
      const document =
        'mutation { createSubscriber(input: { subscriberId: "u", email: "not-an-address" }) { ... on InvalidInputError { issues { path message } } } }';
      const { data, errors } = await run(gateway, document);
      expect({ data, errors }).toEqual({
        data: { createSubscriber: { issues: [{ path: ['input', 'email'], message: expect.any(String) }] } },
        errors: [],
      });
      expect(JSON.stringify(data)).not.toContain('a private value');
    });
  },
);

describe.each<TraitName>(['deletions-204', 'deletions-with-record'])('%s', (trait) => {
  it('confirms a deletion', async () => {
    await using gateway = await createTestGateway({ ...MODULES, traits: [trait] });
    const { data } = await run(gateway, '{ notificationGroups { id } }');
    const [{ id = '' } = {}] = Object(data).notificationGroups;
    const document = `mutation { deleteNotificationGroup(input: { id: "${id}" }) { ... on DeleteNotificationGroupSuccess { acknowledged } } }`;
    expect(await run(gateway, document)).toEqual({
      data: { deleteNotificationGroup: { acknowledged: true } },
      errors: [],
    });
  });
});

it('null-items: each costs only its own place', async () => {
  await using gateway = await createTestGateway({ ...MODULES, traits: ['null-items'] });
  const { data, errors } = await run(gateway, LIST);
  expect(Object(data).notificationGroups).toEqual([
    null,
    ...Array.from({ length: 4 }, () => ({ name: expect.any(String) })),
  ]);
  expect(errors).toEqual(['UPSTREAM_BAD_RESPONSE']);
  const stats = await run(gateway, '{ notificationStats(days: 3) { workflowIds } }');
  const days: ({ workflowIds: string[] } | null)[] = Object(stats.data).notificationStats;
  expect(days.filter((day) => day === null)).toHaveLength(1);
  expect(days.flatMap((day) => day?.workflowIds ?? [])).not.toContain(null);
});

it('total-count: tells whether there are more pages', async () => {
  await using gateway = await createTestGateway({ ...MODULES, traits: ['total-count'] });
  const page = (number: number) =>
    run(gateway, `{ subscribers(page: ${number}, limit: 6) { hasMore subscribers { subscriberId } } }`);
  expect(await page(0)).toMatchObject({ data: { subscribers: { hasMore: true } }, errors: [] });
  expect(await page(1)).toMatchObject({ data: { subscribers: { hasMore: false } }, errors: [] });
});

it('event-error-text: an event has its result', async () => {
  await using gateway = await createTestGateway({ ...MODULES, traits: ['event-error-text'] });
  const { data, errors } = await run(
    gateway,
    'mutation { triggerEvents(input: { events: [{ workflow: "payment-failed", subscriberIds: ["customer-1001"] }, { workflow: "unknown", subscriberIds: ["customer-1001"] }] }) { ... on TriggerEventsSuccess { events { status problems } } ... on MutationError { message } } }',
  );
  expect({ data, errors }).toEqual({
    data: {
      triggerEvents: {
        events: [
          { status: 'PROCESSED', problems: [] },
          { status: 'ERROR', problems: [expect.stringContaining('unknown')] },
        ],
      },
    },
    errors: [],
  });
});
