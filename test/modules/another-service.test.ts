import { expect, it, vi } from 'vitest';
import { sendExplain } from '../support/explain.ts';
import { startGateway } from '../support/gateway.ts';
import { subscriber } from '../support/records.ts';
import { startService } from '../support/service.ts';

// The module that docs/another-service.md shows, in front of two real ones.

const PLAN = '{ subscriber(subscriberId: "s1") { plan } }';
const cancel = (id: string) => `mutation { cancelPlan(subscriberId: "${id}") }`;

it('a module calls another service with its own credential, a deadline, codes, and no effect in explanations', async () => {
  let status = 200;
  await using billing = await startService(() => ({ status, body: 'gold', headers: { 'content-type': 'text/plain' } }));
  vi.stubEnv('BILLING_URL', billing.url).stubEnv('BILLING_KEY', 'fake-billing-key');
  const { default: plans } = await import('../../examples/testing/plans.ts');
  vi.unstubAllEnvs();
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
    ['GET', '/plan?subscriber=s1', 'Bearer fake-billing-key'],
    ['DELETE', '/plan?subscriber=s1', 'Bearer fake-billing-key'],
  ]);

  status = 503;
  const failed = await gateway.send(cancel('s1'), {}, { authorization: 'ApiKey a' });
  expect(failed.body.errors).toMatchObject([{ extensions: { code: 'BILLING_UNAVAILABLE', outcome: 'UNKNOWN' } }]);
  status = 200;
  const held = billing.hold('GET /plan?subscriber=s1');
  const late = gateway.run(PLAN);
  await held.arrived;
  expect(await late).toEqual(['BILLING_UNAVAILABLE']);
  held.release();
  expect(gateway.log.filter(({ msg }) => msg === 'the billing service failed')).toHaveLength(2);
});
