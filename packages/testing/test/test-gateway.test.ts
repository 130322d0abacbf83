import { ApolloClient, HttpLink, InMemoryCache } from '@apollo/client';
import { fetchExchange, Client as UrqlClient } from '@urql/core';
import { GraphQLClient } from 'graphql-request';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import layouts from '../../../examples/testing/layouts.ts';
import { defineModule } from '../../../src/modules/index.ts';
import {
  CreateFeedDocument,
  CreateNotificationGroupDocument,
  NotificationGroupsDocument,
  WorkflowDocument,
} from '../../client/src/index.ts';
import { createTestGateway, type TestGateway, type TestGatewayOptions } from '../src/index.ts';

const WORKFLOW = 'GET /v1/workflows/{id}';

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await createTestGateway({
    now: '2027-01-15T12:00:00Z',
    cache: true,
    clients: { server: { rateLimit: { calls: 40, perSeconds: 60 } } },
  });
});
afterEach(() => gateway.reset());
afterAll(() => gateway.close());

async function load(): Promise<string | undefined> {
  const { data, errors } = await gateway.client.request(WorkflowDocument, { idOrIdentifier: 'payment-failed' });
  return errors?.[0]?.extensions.code ?? data?.workflow?.name;
}

describe('fetch', () => {
  const init = (signal?: AbortSignal) => ({
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `ApiKey ${gateway.key}` },
    body: '{"query":"{ notificationGroups { name } }"}',
    ...(signal && { signal }),
  });

  it('takes a URL of any origin, a relative one, or a request', async () => {
    const inputs = ['https://graphql.example.com/graphql', '/graphql', new URL(gateway.url)];
    const requests = [
      ...inputs.map((input) => [input, init()] as const),
      [new Request('https://a.example/graphql', init())],
    ];
    for (const [input, options] of requests) {
      const response = await gateway.fetch(input ?? '', options);
      expect((await response.json()).data.notificationGroups).toHaveLength(4);
    }
  });

  it('requires a key, as any gateway', async () => {
    const response = await gateway.fetch('/graphql', { ...init(), headers: { 'content-type': 'application/json' } });
    expect((await response.json()).errors[0].extensions.code).toBe('UNAUTHENTICATED');
  });

  it('rejects with the reason of a signal', async () => {
    const controller = new AbortController();
    gateway.fail('GET /v1/notification-groups', { delayMs: 60_000 });
    const sending = gateway.fetch('/graphql', init(controller.signal));
    await expect.poll(() => gateway.calls.length).toBe(1);
    controller.abort(new Error('navigated away'));
    await expect(sending).rejects.toThrow('navigated away');
    await expect(gateway.fetch('/graphql', init(controller.signal))).rejects.toThrow('navigated away');
    expect(gateway.calls).toHaveLength(1);
  });

  it('is the fetch of urql, Apollo Client and graphql-request', async () => {
    const url = 'https://graphql.example.com/graphql';
    const { fetch } = gateway;
    const headers = { authorization: `ApiKey ${gateway.key}` };
    const urql = new UrqlClient({
      url,
      fetch,
      exchanges: [fetchExchange],
      fetchOptions: { headers },
      preferGetMethod: false,
    });
    const apollo = new ApolloClient({
      cache: new InMemoryCache(),
      link: new HttpLink({ uri: url, fetch, headers }),
    });
    const graphqlRequest = new GraphQLClient(url, { fetch, headers });
    const results = await Promise.all([
      urql.query(NotificationGroupsDocument, {}),
      apollo.query({ query: NotificationGroupsDocument }),
      graphqlRequest.request(NotificationGroupsDocument).then((data) => ({ data })),
    ]);
    expect(results.map(({ data }) => data?.notificationGroups?.length)).toEqual([4, 4, 4]);
  });
});

describe('the clock', () => {
  it('is that of the service', async () => {
    gateway.clock.advance({ hours: 1, seconds: 30 });
    expect(gateway.clock.now()).toEqual(new Date('2027-01-15T13:00:30Z'));
    gateway.clock.set('2027-02-01T00:00:00Z');
    const { data } = await gateway.client.request(CreateFeedDocument, { input: { name: 'New' } });
    const feed = data?.createFeed?.__typename === 'CreateFeedSuccess' ? data.createFeed.feed : undefined;
    expect(Number.parseInt(feed?.id?.slice(0, 8) ?? '', 16)).toBe(Date.parse('2027-02-01T00:00:00Z') / 1000);
  });

  it('ages cached data', async () => {
    await load();
    gateway.clearCalls();
    await load();
    expect(gateway.calls).toEqual([]);
    gateway.clock.advance({ minutes: 5 });
    gateway.fail(WORKFLOW, 503);
    const { extensions } = await gateway.client.request(WorkflowDocument, { idOrIdentifier: 'payment-failed' });
    expect(extensions?.cache).toEqual({ stale: true, ageSeconds: 300 });
  });

  it('closes an open circuit breaker', async () => {
    using outage = gateway.fail(WORKFLOW, 503);
    for (let i = 0; i < 7; i += 1) {
      expect(await load()).toBe('UPSTREAM_UNAVAILABLE'); // Three calls each.
    }
    outage.recover();
    gateway.clearCalls();
    expect(await load()).toBe('UPSTREAM_UNAVAILABLE');
    expect(gateway.calls).toEqual([]);
    gateway.clock.advance({ minutes: 1 });
    expect(await load()).toBe('Payment failed');
  });

  it('refills rate limits', async () => {
    const query = () =>
      gateway.client.request(NotificationGroupsDocument, {}, { headers: { 'cache-control': 'no-cache' } });
    let last = await query();
    for (let i = 0; i < 40; i += 1) {
      last = await query();
    }
    expect(last.errors?.[0]?.extensions.code).toBe('RATE_LIMITED');
    gateway.clock.advance({ seconds: 60 });
    expect((await query()).errors).toBeUndefined();
  });

  it('rejects what is no time', () => {
    expect(() => gateway.clock.advance({ seconds: -1 })).toThrow('positive duration, such as { seconds: 30 }');
    expect(() => gateway.clock.advance({})).toThrow(RangeError);
    expect(() => gateway.clock.set('tomorrow')).toThrow('The time "tomorrow" is invalid.');
  });
});

it('records the calls, without the credential', async () => {
  const input = { name: 'New', idempotencyKey: 'k1' };
  await gateway.client.request(CreateNotificationGroupDocument, { input });
  expect(gateway.calls).toEqual([
    {
      endpoint: 'POST /v1/notification-groups',
      method: 'POST',
      path: '/v1/notification-groups',
      params: {},
      query: {},
      headers: expect.objectContaining({
        'content-type': 'application/json',
        'idempotency-key': expect.stringMatching(/^[\w-]{20,}$/),
      }),
      environment: 'development',
      body: { name: 'New' },
      status: 201,
    },
  ]);
  gateway.clearCalls();
  await gateway.client.request('{ notificationStats(days: 2) { key } group: notificationGroup(id: "a b") { id } }');
  expect(gateway.calls.toSorted((one, other) => one.path.localeCompare(other.path))).toMatchObject([
    { endpoint: 'GET /v1/notification-groups/{id}', path: '/v1/notification-groups/a%20b', params: { id: 'a b' } },
    { endpoint: 'GET /v1/notifications/graph/stats', query: { days: '2' }, body: undefined, status: 200 },
  ]);
  expect(JSON.stringify(gateway.calls)).not.toContain(gateway.key);
});

it('records calls that neither the service nor the test responds to, by the endpoint of the module', async () => {
  await using extended = await createTestGateway({ modules: [layouts] });
  await extended.client.request('{ layout(id: "a") { name } }');
  expect(extended.calls).toMatchObject([{ endpoint: 'GET /v1/layouts/{id}', params: { id: 'a' }, status: 404 }]);
});

it('a reset restores records, clock, cache, rate limits and faults, and forgets calls', async () => {
  await load();
  await gateway.client.request(CreateFeedDocument, { input: { name: 'New' } });
  gateway.clock.advance({ days: 1 });
  gateway.fail(WORKFLOW, 503);
  await gateway.reset();
  expect(gateway.calls).toEqual([]);
  expect(gateway.clock.now()).toEqual(new Date('2027-01-15T12:00:00Z'));
  expect(await load()).toBe('Payment failed');
  expect(gateway.calls[0]?.endpoint).toBe('GET /v1/workflows/{workflowIdOrIdentifier}');
  const { data } = await gateway.client.request(CreateFeedDocument, { input: { name: 'New' } });
  expect(data?.createFeed?.__typename).toBe('CreateFeedSuccess');
});

it('is closed once, and says so', async () => {
  const closed = await createTestGateway({ records: {} });
  await Promise.all([closed.close(), closed.close()]);
  await expect(closed.fetch('/graphql')).rejects.toThrow('The test gateway is closed.');
  await expect(closed.reset()).rejects.toThrow('The test gateway is closed.');
});

it.each([
  [{ upstream: 'https://example.com' }, 'A test gateway has a service of its own. Remove the option "upstream".'],
  [
    { record: {}, maxRetrys: 1 },
    'createTestGateway has the unknown option "record" (did you mean "records"?).\ncreateTestGateway has the unknown option "maxRetrys"',
  ],
  [{ maxRetries: -1 }, 'maxRetries must be'],
  [{ now: 'yesterday' }, 'The time "yesterday" is invalid.'],
])('rejects the options %j', async (options: object, message) => {
  await expect(createTestGateway(options as TestGatewayOptions)).rejects.toThrow(message);
});

describe('a call that explanations do not list', () => {
  const notes = defineModule('notes', ({ builder, declareCalls, endpoint, requireScopes }) => {
    const get = endpoint('GET /v1/notes/{id}').returns<{ next: string }>();
    const getLast = endpoint('GET /v1/last/{id}').returns<object>();
    const extensions = { ...requireScopes('notes:read'), ...declareCalls('1') };
    const options = { nullable: true, extensions, description: 'Reads notes.' } as const;
    builder.queryFields((t) => ({
      inSequence: t.boolean({
        ...options,
        async resolve(_root, _args, ctx) {
          const first = await ctx.upstream.read(get, { id: 'a' });
          return first && (await ctx.upstream.read(getLast, { id: first.next })) !== null;
        },
      }),
      inBackground: t.boolean({
        ...options,
        async resolve(_root, _args, ctx) {
          const first = ctx.upstream.read(get, { id: 'a' });
          void first.then((note) => note && ctx.upstream.read(getLast, { id: note.next })).catch(() => {});
          return true;
        },
      }),
    }));
  });
  const UNDECLARED = /calls GET \/v1\/last\/\{id\}, which explanations list only if it is declared\. Add the maximum/;
  const start = (released: Promise<void> = Promise.resolve(), onLast: () => void = () => {}) =>
    createTestGateway({
      modules: [notes],
      endpoints: {
        'GET /v1/notes/{id}': async () => {
          await released;
          return { body: { data: { next: 'b' } } };
        },
        'GET /v1/last/{id}': () => {
          onLast();
          return { status: 204 };
        },
      },
    });

  it('fails the request that made it, with what to declare', async () => {
    await using gateway = await start();
    await expect(gateway.client.request('{ inSequence }')).rejects.toThrow(UNDECLARED);
    await expect(gateway.client.explain('{ inSequence }')).resolves.toMatchObject({
      explanation: { budget: { max: 1 } },
    });
    expect(gateway.calls.map(({ endpoint }) => endpoint)).toEqual(['GET /v1/notes/{id}', 'GET /v1/last/{id}']);
  });

  it.each(['reset', 'close'] as const)('fails %s, if it was made after the response', async (end) => {
    const released = Promise.withResolvers<void>();
    const arrived = Promise.withResolvers<void>();
    const gateway = await start(released.promise, arrived.resolve);
    await gateway.client.request('{ inBackground }');
    released.resolve();
    await arrived.promise;
    await expect(gateway[end]()).rejects.toThrow(UNDECLARED);
    await gateway.close();
  });
});
