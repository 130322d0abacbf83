import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import layouts from '../../../examples/testing/layouts.ts';
import { defineModule } from '../../../src/modules/index.ts';
import { CreateFeedDocument, WorkflowDocument } from '../../client/src/index.ts';
import { createTestGateway, type Fault, type TestGateway } from '../src/index.ts';

const WORKFLOW = 'GET /v1/workflows/{id}';

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await createTestGateway();
});
afterEach(() => gateway.reset());
afterAll(() => gateway.close());

/** Loads a workflow. Returns its name, or the code of the error. */
async function load(idOrIdentifier = 'payment-failed'): Promise<string | undefined> {
  const { data, errors } = await gateway.client.request(WorkflowDocument, { idOrIdentifier });
  return errors?.[0]?.extensions.code ?? data?.workflow?.name;
}

async function createFeed() {
  const { data, errors } = await gateway.client.request(CreateFeedDocument, { input: { name: 'News' } });
  return errors?.[0]?.extensions ?? data?.createFeed;
}

const countCalls = (): number => gateway.calls.filter(({ endpoint }) => endpoint.includes('/workflows/')).length;

it.each<[Fault, string | undefined, number]>([
  [503, 'UPSTREAM_UNAVAILABLE', 3],
  [404, undefined, 1],
  ['timeout', 'UPSTREAM_TIMEOUT', 3],
  ['disconnect', 'UPSTREAM_UNAVAILABLE', 3],
  ['invalid-json', 'UPSTREAM_BAD_RESPONSE', 1],
  [{ body: { data: { name: 'Scripted', _id: 'w1', triggers: [], steps: [], tags: [] } } }, 'UPSTREAM_BAD_RESPONSE', 1],
  [{ status: 429, headers: { 'retry-after': '30' } }, 'RATE_LIMITED', 1],
  [{ status: 502, body: '<h1>Bad gateway</h1>', headers: { 'content-type': 'text/html' } }, 'UPSTREAM_UNAVAILABLE', 3],
  [{ delayMs: 1 }, 'Payment failed', 1],
])('%j has the same effect as over the network', async (fault, outcome, calls) => {
  gateway.fail(WORKFLOW, fault);
  expect(await load()).toBe(outcome);
  expect(countCalls()).toBe(calls);
});

it.each([408, 425, 499, 522] as const)('%i is a status of what stands in front of the service', async (status) => {
  gateway.fail(WORKFLOW, status);
  await load();
  expect(gateway.calls[0]?.status).toBe(status);
});

it('a status has a body as the service sends it', async () => {
  gateway.fail('POST /v1/feeds', 409);
  expect(await createFeed()).toMatchObject({ __typename: 'ConflictError', message: 'Scripted failure.' });
});

it('a delay ends early if the connection does', async () => {
  gateway.fail(WORKFLOW, { delayMs: 60_000 });
  const loading = load();
  await expect.poll(() => gateway.calls.length).toBe(1);
  await gateway.reset();
  expect(await loading).toBe('Payment failed'); // Retried, after the fault was over.
});

describe('the outcome of a write that failed', () => {
  it('is unknown, and the write was not applied', async () => {
    gateway.fail('POST /v1/feeds', 'timeout', { times: 1 });
    expect(await createFeed()).toMatchObject({ code: 'UPSTREAM_TIMEOUT', outcome: 'UNKNOWN' });
    expect(await createFeed()).toMatchObject({ __typename: 'CreateFeedSuccess' });
  });

  it('is unknown, and the write was applied', async () => {
    gateway.fail('POST /v1/feeds', 'disconnect', { times: 1, applied: true });
    expect(await createFeed()).toMatchObject({ outcome: 'UNKNOWN' });
    expect(await createFeed()).toMatchObject({ __typename: 'ConflictError' });
  });
});

describe('several faults', () => {
  it('with `times` apply in order, before the latest without', async () => {
    gateway.fail(WORKFLOW, 500);
    gateway.fail(WORKFLOW, 404);
    gateway.fail(WORKFLOW, 'invalid-json', { times: 1 });
    gateway.fail(WORKFLOW, 500, { times: 1 });
    expect([await load(), await load(), await load(), await load()]).toEqual([
      'UPSTREAM_BAD_RESPONSE',
      'UPSTREAM_ERROR',
      undefined,
      undefined,
    ]);
  });

  it('end one by one, by endpoint, or all', async () => {
    const first = gateway.fail(WORKFLOW, 500);
    {
      using _ = gateway.fail(WORKFLOW, 'invalid-json');
      expect(await load()).toBe('UPSTREAM_BAD_RESPONSE');
    }
    expect(await load()).toBe('UPSTREAM_ERROR');
    gateway.recover('POST /v1/feeds');
    expect(await load()).toBe('UPSTREAM_ERROR');
    first.recover();
    expect(await load()).toBe('Payment failed');
    gateway.fail(WORKFLOW, 500);
    gateway.recover(WORKFLOW);
    expect(await load()).toBe('Payment failed');
  });
});

it('one attempt that fails is retried, and those of other records succeed', async () => {
  gateway.fail(WORKFLOW, 503, { times: 1, params: { id: 'payment-failed' } });
  expect(await load('weekly-digest')).toBe('Weekly digest');
  expect(countCalls()).toBe(1);
  expect(await load()).toBe('Payment failed');
  expect(countCalls()).toBe(3);
});

it('apply to endpoints of modules', async () => {
  const stored = new Set(['a']);
  await using extended = await createTestGateway({
    modules: [layouts],
    endpoints: {
      'GET /v1/layouts/{id}': ({ params }) => ({ body: { data: { _id: params.id, name: 'A' } } }),
      'DELETE /v1/layouts/{id}': ({ params }) => ({ status: stored.delete(String(params.id)) ? 204 : 404 }),
    },
  });
  const send = (text: string) => extended.client.request(text);
  const read = '{ layout(id: "a") { name } }';
  using failure = extended.fail('GET /v1/layouts/{key}', 503, { params: { key: 'a' } });
  expect((await send(read)).errors?.[0]?.extensions.code).toBe('UPSTREAM_UNAVAILABLE');
  expect(extended.calls.map(({ status }) => status)).toEqual([503, 503, 503]);
  failure.recover();
  expect((await send(read)).data).toEqual({ layout: { name: 'A' } });

  extended.fail('DELETE /v1/layouts/{id}', 'timeout', { applied: true });
  const removed = await send('mutation { deleteLayout(input: { id: "a" }) { __typename } }');
  expect(removed.errors?.[0]?.extensions.outcome).toBe('UNKNOWN');
  expect(stored).toEqual(new Set());
  // @ts-expect-error Neither the service nor the test has it.
  expect(() => extended.fail('GET /v1/layouts/{id}/x', 503)).toThrow('The service has no endpoint');
});

it('apply to endpoints that only modules declare, and calls name them', async () => {
  const things = defineModule('things', ({ builder, declareCalls, endpoint, requireScopes }) => {
    const get = endpoint('GET /v1/things/{id}').returns<{ name: string }>();
    const latest = endpoint('GET /v1/things/latest').returns<{ name: string }>();
    builder.queryField('things', (t) =>
      t.stringList({
        nullable: true,
        extensions: {
          ...requireScopes('things:read'),
          ...declareCalls('2', { endpoint: latest, max: 1, reason: 'It follows the first.' }),
        },
        description: 'Reads two.',
        resolve: async (_root, _args, { upstream }) => [
          (await upstream.read(get, { id: 'a' }))?.name ?? 'none',
          (await upstream.read(latest, {}))?.name ?? 'none',
        ],
      }),
    );
  });
  await using extended = await createTestGateway<'GET /v1/things/{id}' | 'GET /v1/things/latest'>({
    modules: [things],
  });
  const readOne = extended.fail('GET /v1/things/{key}', { body: { name: 'one' } }, { params: { key: 'a' } });
  extended.fail('GET /v1/things/latest', { body: { name: 'two' } });
  expect((await extended.client.request('{ things }')).data).toEqual({ things: ['one', 'two'] });
  readOne.recover();
  extended.fail('GET /v1/things/{id}', 'timeout');
  const { errors } = await extended.client.request('{ things }');
  expect(errors?.[0]?.extensions).toMatchObject({ code: 'UPSTREAM_TIMEOUT', retryable: true });
  expect(extended.calls.map(({ endpoint, params }) => [endpoint, params])).toEqual([
    ['GET /v1/things/{id}', { id: 'a' }],
    ['GET /v1/things/latest', {}],
    ...Array.from({ length: 3 }, () => ['GET /v1/things/{id}', { id: 'a' }]),
  ]);
  extended.recover('GET /v1/things/{id}');
});

it('rejects misuse', () => {
  // @ts-expect-error The route doesn't exist.
  expect(() => gateway.fail('GET /v1/workflow/{id}', 503)).toThrow(
    /^The service has no endpoint "GET \/v1\/workflow\/\{id\}"\. It has:\n {2}PUT [\s\S]*\n {2}GET \/v1\/workflows\/\{workflowIdOrIdentifier\}\n/,
  );
  // @ts-expect-error Not a fault.
  expect(() => gateway.fail(WORKFLOW, 'disconect')).toThrow(
    'Unknown fault "disconect". Use a status, "timeout", "disconnect", "invalid-json" or a response.',
  );
  // @ts-expect-error Not a status of a failure.
  expect(() => gateway.fail(WORKFLOW, 99)).toThrow('The status of a fault must be from 200 to 599, not 99.');
  expect(() => gateway.fail(WORKFLOW, { delayMs: -1 })).toThrow('"delayMs" must not be negative');
  expect(() => gateway.fail(WORKFLOW, 503, { times: 0 })).toThrow('"times" must be a positive integer, not 0.');
  // @ts-expect-error The endpoint has no such parameter.
  expect(() => gateway.fail(WORKFLOW, 503, { params: { key: 'x' } })).toThrow('has no parameter "key"');
  // @ts-expect-error Unknown option.
  expect(() => gateway.fail(WORKFLOW, 503, { time: 1 })).toThrow(
    'The fault has the unknown option "time" (did you mean "times"?).',
  );
  expect(() => gateway.recover('GET /' as 'POST /v1/feeds')).toThrow('The service has no endpoint "GET /".');
});
