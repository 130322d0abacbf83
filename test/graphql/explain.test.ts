import type { Plugin } from 'graphql-yoga';
import { beforeAll, describe, expect, it } from 'vitest';
import type { GatewayContext } from '../../src/graphql/context.ts';
import { getWorkflow, listNotificationGroups } from '../../src/upstream/endpoints.ts';
import { type ExplainResponse, type Explanation, linesOf, sendExplain } from '../support/explain.ts';
import { type StartedGateway, startGateway } from '../support/gateway.ts';
import { type GeneratedBehavior, generatedService } from '../support/generated-service.ts';
import { guards } from '../support/guards.ts';
import { type ScriptedService, startService } from '../support/service.ts';
import { clientsOf, createSigner } from '../support/tokens.ts';

guards('src/modules/toolkit/mutation-run.ts', 'MutationRun.constructor');
guards('src/auth/identity.ts', 'createClientRules.anonymous.hidesCalls');
guards('src/graphql/context.ts', 'createContextFactory.client');
guards('src/http/params.ts', 'readFlags');
guards('src/upstream/calls/recorder.ts', 'createRecorder.curlOf');
guards('src/http/pipeline/respond.ts', 'limitSize');
guards('src/http/pipeline/pipeline.ts', 'createPipeline.handle');
guards('src/http/pipeline/respond.ts', 'createRespond');

const KEY = 'ApiKey key-of-a-server';
const DISTINCT_GROUPS: GeneratedBehavior = {
  seed: 1,
  embeds: 'never',
  groups: 1_000,
  omitsIds: false,
  workflowsPerEntry: 2,
  rejects: false,
};
const TRUSTED = 'query Groups { notificationGroups { name } }';

const signer = createSigner();
let upstream: ScriptedService;
let gateway: StartedGateway;
let now = 0;

beforeAll(async () => {
  upstream = await startService(generatedService(() => DISTINCT_GROUPS));
  gateway = await startGateway(
    {
      upstream: `${upstream.url}/prefix`,
      clients: clientsOf(signer, { explain: true }),
      cache: true,
      maxUpstreamCalls: 20,
      trustedDocuments: { manifests: [{ groups: TRUSTED }] },
    },
    { monotonicNow: () => now },
  );
  return async () => {
    await gateway[Symbol.asyncDispose]();
    await upstream[Symbol.asyncDispose]();
  };
});

const explain = (query: string, headers: Record<string, string> = {}): Promise<ExplainResponse> =>
  sendExplain(gateway, { query }, { authorization: KEY, headers });

/** Returns the explanation of an operation, and checks that nothing was sent. */
async function explanationOf(query: string): Promise<Explanation> {
  const before = upstream.requests.length;
  const { body } = await explain(query);
  expect(upstream.requests.length).toBe(before);
  return body.extensions?.explain ?? expect.unreachable(JSON.stringify(body));
}

describe('the explanation', () => {
  it('lists the calls of a query, those that data decides after those that return it', async () => {
    const explanation = await explanationOf(
      '{ notificationStats { workflows(first: 5) { notificationGroup { name } } } workflow(idOrIdentifier: "w1") { name } }',
    );
    expect(linesOf(explanation)).toEqual([
      '1 [] GET notifications/graph/stats 1..1 Query.notificationStats',
      '2 [] GET workflows/{workflowIdOrIdentifier} 1..1 Query.workflow',
      '3 [1] GET workflows/{workflowIdOrIdentifier} 0..18 StatsEntry.workflows',
      '4 [3] GET notification-groups 0..1 Workflow.notificationGroup',
      '5 [3,4] GET notification-groups/{id} 0..18 Workflow.notificationGroup',
    ]);
    expect(explanation.budget).toEqual({ min: 2, max: 20, limit: 20 });
    expect(explanation.scopes).toEqual(['stats:read', 'workflows:read', 'groups:read']);
    expect(explanation.calls.map(({ reason }) => reason)).toEqual([
      undefined,
      undefined,
      'One per distinct workflow of the statistics.',
      'None if the service embeds the group in the workflow.',
      'None if the service embeds the group in the workflow.',
    ]);
    expect(gateway.log.at(-1)).toMatchObject({ msg: 'operation', explained: true, upstreamCalls: 0 });
  });

  it.each([
    [
      'one group takes a get',
      '{ notificationGroup(id: "g1") { name } }',
      ['1 [] GET notification-groups/{id} 1..1 Query.notificationGroup'],
    ],
    [
      'two groups take a list, whose groups may lack ids',
      '{ a: notificationGroup(id: "g1") { name } b: notificationGroup(id: "g2") { name } }',
      [
        '1 [] GET notification-groups 1..1 Query.notificationGroup',
        '2 [1] GET notification-groups/{id} 0..2 Query.notificationGroup',
      ],
    ],
    [
      'groups of workflows use a list that another field loads',
      '{ notificationGroups { name } workflow(idOrIdentifier: "w1") { notificationGroup { name } } }',
      [
        '1 [] GET notification-groups 1..1 Query.notificationGroups Workflow.notificationGroup',
        '2 [] GET workflows/{workflowIdOrIdentifier} 1..1 Query.workflow',
        '3 [1,2] GET notification-groups/{id} 0..1 Workflow.notificationGroup',
      ],
    ],
    [
      'an id that several fields load takes one call',
      '{ a: workflow(idOrIdentifier: "w1") { name } workflows(idsOrIdentifiers: ["w1", "w2"]) { name } }',
      [
        '1 [] GET workflows/{workflowIdOrIdentifier} 1..1 Query.workflow Query.workflows',
        '2 [] GET workflows/{workflowIdOrIdentifier} 1..1 Query.workflows',
      ],
    ],
    [
      'identical statistics are two calls of the budget',
      '{ a: notificationStats { count } b: notificationStats { count } }',
      ['1 [] GET notifications/graph/stats 2..2 Query.notificationStats'],
    ],
    [
      'fields that are skipped take none',
      '{ workflow(idOrIdentifier: "w1") { name notificationGroup @skip(if: true) { name } } }',
      ['1 [] GET workflows/{workflowIdOrIdentifier} 1..1 Query.workflow'],
    ],
    ['introspection takes none', '{ __typename __schema { queryType { name } } }', []],
  ])('%s', async (_, query, lines) => {
    expect(linesOf(await explanationOf(query))).toEqual(lines);
  });

  it('lists the calls of a mutation, whose fields run one after another', async () => {
    const update = (key: string) =>
      `${key}: updateWorkflowStatus(input: { workflowId: "${key}", active: true }) { ... on UpdateWorkflowStatusSuccess { workflow { a: notificationGroup { name } b: notificationGroup { name } } } }`;
    const mutation = `mutation { ${update('u1')} ${update('u2')} createNotificationGroup(input: { name: "x" }) { __typename } }`;
    const explanation = await explanationOf(mutation);
    expect(linesOf(explanation)).toEqual([
      '1 [] PUT workflows/{workflowId}/status 1..1 Mutation.updateWorkflowStatus',
      '2 [1] GET workflows/{workflowIdOrIdentifier} 0..1 Mutation.updateWorkflowStatus',
      '3 [1,2] GET notification-groups 0..1 Workflow.notificationGroup',
      '4 [1,2,3] GET notification-groups/{id} 0..2 Workflow.notificationGroup',
      '5 [1,2,3,4] PUT workflows/{workflowId}/status 1..1 Mutation.updateWorkflowStatus',
      '6 [5] GET workflows/{workflowIdOrIdentifier} 0..1 Mutation.updateWorkflowStatus',
      '7 [5,6] GET notification-groups 0..1 Workflow.notificationGroup',
      '8 [5,6,7] GET notification-groups/{id} 0..2 Workflow.notificationGroup',
      '9 [5,6,7,8] POST notification-groups 1..1 Mutation.createNotificationGroup',
    ]);
    const before = upstream.requests.length;
    await gateway.send(mutation, {}, { authorization: KEY });
    const sent = upstream.requests.slice(before).map(({ method, path }) => `${method} ${path}`);
    // Each field reads again, at most as often as explained.
    expect(sent.filter((call) => call.startsWith('GET /prefix/v1/notification-groups'))).toHaveLength(2);
  });

  it('lists each item of a bulk write, which counts toward a limit of its own', async () => {
    const items = Array.from({ length: 25 }, (_, i) => `{ subscriberId: "s${i}" }`);
    const query = `mutation { createSubscribers(input: { subscribers: [${items}] }) { failed } createFeed(input: { name: "it's" }) { __typename } }`;
    const { body } = await explain(query, { 'idempotency-key': 'once' });
    const { calls = [], ...rest } = body.extensions?.explain ?? {};
    expect(rest).toMatchObject({
      budget: { min: 1, max: 1, limit: 20 },
      bulkItems: { min: 25, max: 25, limit: 100 },
      scopes: ['subscribers:write', 'feeds:write'],
    });
    expect(body.data).toEqual({ createSubscribers: null, createFeed: null });
    expect(body.errors).toBeUndefined();
    expect(calls).toHaveLength(26);
    expect(calls[25]?.after).toEqual(calls.slice(0, 25).map(({ id }) => id));
    expect(calls[25]).toMatchObject({ shared: false });
    expect(calls[25]).not.toHaveProperty('cache');
    const keys = calls.map(({ curl }) => /'Idempotency-Key: ([0-9a-f]{64})'/.exec(curl ?? '')?.[1]);
    expect(new Set(keys).size).toBe(26);
    expect(calls[25]?.curl).toBe(
      `curl --request POST '${upstream.url}/prefix/v1/feeds' --header 'Authorization: ApiKey ***' --header 'Content-Type: application/json' --header 'Idempotency-Key: ${keys[25]}' --data-raw '{"name":"it'\\''s"}'`,
    );
  });

  it('shows whether the response is in the cache', async () => {
    const query = '{ workflow(idOrIdentifier: "cached") { name notificationGroup { name } } }';
    const states = async () => (await explanationOf(query)).calls.map(({ cache }) => cache);
    const unknown = { state: 'unknown', freshSeconds: 30 };
    expect(await states()).toEqual([{ state: 'absent', freshSeconds: 30 }, unknown]);
    await gateway.data('{ workflow(idOrIdentifier: "cached") { name } }', {}, { authorization: KEY });
    expect(await states()).toEqual([{ state: 'fresh', freshSeconds: 30 }, unknown]);
    now += 31_000;
    expect(await states()).toEqual([{ state: 'stale', freshSeconds: 30 }, unknown]);
    const { body } = await sendExplain(gateway, { query }, { authorization: 'ApiKey of-another-server' });
    expect(body.extensions?.explain?.calls[0]?.cache).toMatchObject({ state: 'absent' });
    now += 600_000;
    expect(await states()).toEqual([{ state: 'absent', freshSeconds: 30 }, unknown]);
  });

  it('contains no key, also if an id or a text contains it', async () => {
    const key = 'key-of-a-server';
    const { calls } = await explanationOf(
      `mutation { a: createFeed(input: { name: "my ${key}" }) { __typename } b: deleteFeed(input: { id: "${key}" }) { __typename } c: deleteFeed(input: { id: "other" }) { __typename } }`,
    );
    expect(calls.map(({ curl }) => curl !== undefined)).toEqual([false, false, true]);
    expect(JSON.stringify(calls)).not.toContain(key);
  });
});

describe('a plugin of the host', () => {
  it('sends nothing either through the context, and sees no errors of writes that were not sent', async () => {
    const results: unknown[] = [];
    const plugin: Plugin<GatewayContext> = {
      async onExecute({ args }) {
        const { upstream: client } = args.contextValue as GatewayContext;
        await client.read(listNotificationGroups, {});
        await client.read(getWorkflow, { workflowIdOrIdentifier: 'w1' });
        return { onExecuteDone: ({ result }) => void results.push(result) };
      },
    };
    await using extended = await startGateway({ upstream: upstream.url, plugins: [plugin] });
    const before = upstream.requests.length;
    const query = 'mutation { createFeed(input: { name: "x" }) { __typename } }';
    const { body } = await sendExplain(extended, { query }, { authorization: KEY });
    expect(upstream.requests.length).toBe(before);
    expect(results).toEqual([{ data: { createFeed: null } }]);
    expect(linesOf(body.extensions?.explain ?? expect.unreachable())).toEqual([
      '1 [] GET notification-groups 1..1',
      '2 [] GET workflows/{workflowIdOrIdentifier} 1..1',
      '3 [] POST feeds 1..1 Mutation.createFeed',
    ]);
  });
});

describe('problems that need no call', () => {
  it('are errors, next to the calls of other fields', async () => {
    const { body } = await explain(
      '{ a: workflow(idOrIdentifier: "..") { name } b: workflows(idsOrIdentifiers: ["w1", ""]) { name } c: notificationStats(days: 0) { count } d: notificationGroup(id: "") { name } }',
    );
    expect(body.data).toEqual({ a: null, b: null, c: null, d: null });
    expect(body.errors?.map(({ path, extensions }) => [path?.[0], extensions.code]).sort()).toEqual(
      ['a', 'b', 'c', 'd'].map((key) => [key, 'BAD_USER_INPUT']),
    );
    expect(body.extensions?.explain?.calls).toHaveLength(1);
  });

  it('include calls beyond the budget', async () => {
    const ids = Array.from({ length: 25 }, (_, i) => `"w${i}"`);
    const { body } = await explain(`{ workflows(idsOrIdentifiers: [${ids}]) { notificationGroup { name } } }`);
    expect(body.extensions?.explain?.budget).toEqual({ min: 20, max: 20, limit: 20 });
    expect(body.extensions?.explain?.calls).toHaveLength(20);
    expect(body.errors?.map(({ extensions }) => extensions.code)).toEqual(Array(5).fill('BUDGET_EXCEEDED'));
  });

  it('include an explanation that is too large, after which nothing has an unknown outcome', async () => {
    await using small = await startGateway({ upstream: upstream.url, maxResponseBytes: 1_024 });
    const fields = ['a', 'b', 'c', 'd'].map((name) => `${name}: createFeed(input: { name: "${name}" }) { __typename }`);
    const { body } = await sendExplain(small, { query: `mutation { ${fields} }` }, { authorization: KEY });
    expect(body.errors?.map(({ path, extensions }) => [path, extensions.code])).toEqual([
      [undefined, 'RESULT_LIMIT_EXCEEDED'],
    ]);
    expect(JSON.stringify(body)).not.toContain('UNKNOWN');
  });
});

describe('a request for an explanation', () => {
  it('can use GET and trusted documents', async () => {
    const parameters = new URLSearchParams({ documentId: 'groups', extensions: '{"explain":true}' });
    const response = await fetch(`${gateway.url}?${parameters}`, { headers: { authorization: KEY } });
    expect((await response.json()).extensions.explain.budget).toEqual({ min: 1, max: 1, limit: 20 });
  });

  it('is refused without the scopes of the operation', async () => {
    const authorization = await signer.bearer({ scope: 'groups:read' });
    const query = '{ workflow(idOrIdentifier: "w1") { name } }';
    expect(await sendExplain(gateway, { query }, { authorization })).toMatchObject({
      status: 403,
      body: { errors: [{ extensions: { code: 'FORBIDDEN', scope: 'workflows:read' } }] },
    });
    const allowed = await sendExplain(gateway, { query: TRUSTED }, { authorization });
    expect(allowed.body.extensions?.explain?.calls).toHaveLength(1);
    expect(JSON.stringify(allowed)).not.toContain('key-of-acme');
  });

  it.each([[{ explain: 'true' }], [{ upstream: 1 }]])('must be a boolean: %j', async (extensions) => {
    const response = await fetch(gateway.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: KEY },
      body: JSON.stringify({ query: TRUSTED, extensions }),
    });
    expect([response.status, (await response.json()).errors[0].extensions.code]).toEqual([400, 'BAD_REQUEST']);
  });

  it('is refused to browsers, and without a credential, unless their setting is on', async () => {
    await using open = await startGateway({ upstream: upstream.url, clients: clientsOf(signer, { explain: true }) });
    await using standard = await startGateway({ upstream: upstream.url, clients: clientsOf(signer) });
    const bearer = await signer.bearer();
    const messages: string[] = [];
    for (const [on, authorization] of [
      [open, KEY],
      [open, bearer],
      [standard, KEY],
      [standard, bearer],
      [standard, null],
    ] as const) {
      const { status, body } = await sendExplain(on, { query: TRUSTED }, { authorization });
      messages.push(`${status} ${body.errors?.[0]?.message ?? 'explained'}`);
    }
    expect(messages).toEqual([
      '200 explained',
      '200 explained',
      '200 explained',
      '403 "extensions.explain" is not allowed, because clients.browser.explain is off.',
      '403 "extensions.explain" is not allowed, because clients.browser.explain is off.',
    ]);
    const request = { authorization: bearer, extensions: { upstream: true } };
    const { body } = await standard.send('{ notificationGroups { id } }', {}, request);
    expect(body.errors?.[0]?.message).toBe(
      '"extensions.upstream" is not allowed, because clients.browser.explain is off.',
    );
  });
});
