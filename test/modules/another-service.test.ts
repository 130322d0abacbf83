import { beforeEach, describe, expect, it, vi } from 'vitest';
import { createTestGateway } from '../../packages/testing/src/index.ts';
import { sendExplain } from '../support/explain.ts';
import { startGateway, type TestDeps } from '../support/gateway.ts';
import { ofFile } from '../support/lifetime.ts';
import { subscriber } from '../support/records.ts';
import { type Script, startService } from '../support/service.ts';

// The module that docs/another-service.md shows, in front of two real ones.

const billing = ofFile(await startService(() => ({ body: {} })));
vi.stubEnv('BILLING_URL', billing.url).stubEnv('BILLING_KEY', 'fake-billing-key');
const { default: plans } = await import('../../examples/testing/plans.ts');
vi.unstubAllEnvs();
beforeEach(() => billing.forget());

const PLAN = '{ subscriber(subscriberId: "s1") { plan } }';

const cancel = (id: string) => `mutation { cancelPlan(subscriberId: "${id}") }`;

it('a module calls another service with its own credential, a deadline, codes, and no effect in explanations', async () => {
  let status = 200;
  billing.script = () => ({ status, body: { s1: 'gold' } });
  await using gateway = await startGateway({
    service: ({ path, headers }) =>
      headers.authorization !== 'ApiKey a'
        ? { status: 401, body: { statusCode: 401, message: 'Unknown key.' } }
        : path.endsWith('/s1')
          ? { body: { data: subscriber({ subscriberId: 's1' }) } }
          : { status: 404, body: { statusCode: 404, message: 'Not found.' } },
    modules: [plans],
  });

  for (const query of [PLAN, cancel('s1')]) {
    const { body } = await sendExplain(gateway, { query }, { authorization: 'ApiKey a' });
    expect(body.extensions?.explain?.notExplained).toEqual(query === PLAN ? undefined : ['Mutation.cancelPlan']);
    expect(body.errors).toBeUndefined();
  }
  expect(await gateway.run(cancel('s2'))).toEqual(['BAD_USER_INPUT']);
  expect(await gateway.run(cancel('s1'), 'stolen')).toEqual(['UNAUTHENTICATED']);
  expect(billing.calls()).toEqual([]);

  expect(await gateway.run(PLAN)).toEqual({ subscriber: { plan: 'gold' } });
  expect(await gateway.run(cancel('s1'))).toEqual({ cancelPlan: true });
  expect(billing.requests.map(({ method, path, headers }) => [method, path, headers.authorization])).toEqual([
    ['GET', '/plans?subscriber=s1', 'Bearer fake-billing-key'],
    ['DELETE', '/plans?subscriber=s1', 'Bearer fake-billing-key'],
  ]);

  status = 503;
  const failed = await gateway.send(cancel('s1'), {}, { authorization: 'ApiKey a' });
  expect(failed.body.errors).toMatchObject([{ extensions: { code: 'BILLING_UNAVAILABLE', outcome: 'UNKNOWN' } }]);
  status = 200;
  const held = billing.hold('GET /plans?subscriber=s1');
  const late = gateway.run(PLAN);
  await held.arrived;
  expect(await late).toEqual(['BILLING_UNAVAILABLE']);
  held.release();
  expect(gateway.log.filter(({ msg }) => msg === 'the billing service failed')).toHaveLength(2);
});

describe('a loader per operation asks once for the plans of all subscribers', () => {
  const ids = Array.from({ length: 20 }, (_, i) => `s${i}`);
  const data = Object.fromEntries(ids.map((id) => [id, { plan: `plan of ${id}` }]));
  const query = `{ ${ids.map((id) => `${id}: subscriber(subscriberId: "${id}") { plan }`)} }`;
  /** Responds with the plans that the request names. */
  const respond: Script = ({ path }) => ({
    body: Object.fromEntries(
      new URLSearchParams(path.split('?')[1]).getAll('subscriber').map((id) => [id, `plan of ${id}`]),
    ),
  });
  const once = [`GET /plans?${ids.map((id) => `subscriber=${id}`).join('&')}`];

  it.each<[string, TestDeps, Record<string, unknown>]>([
    ['in production', {}, {}],
    ['in development', { onUndeclaredCall: expect.unreachable }, {}],
    ['with the report of the cost', {}, { upstream: true }],
    ['with that report in development', { onUndeclaredCall: expect.unreachable }, { upstream: true }],
  ])('%s', async (_, deps, extensions) => {
    billing.script = respond;
    const service: Script = ({ path }) => ({
      body: { data: subscriber({ subscriberId: path.split('/').at(-1) ?? '' }) },
    });
    await using gateway = await startGateway({ service, modules: [plans] }, deps);
    for (let run = 0; run < 2; run += 1) {
      billing.forget();
      expect(await gateway.data(query, {}, { extensions })).toEqual(data);
      expect(billing.calls()).toEqual(once); // Each operation has its own loader.
    }
  });

  it('in the test gateway', async () => {
    billing.script = respond;
    await using gateway = await createTestGateway({
      modules: [plans],
      records: { subscribers: ids.map((subscriberId) => ({ subscriberId })) },
    });
    expect((await gateway.client.request(query)).data).toEqual(data);
    expect(billing.calls()).toEqual(once);
  });
});
