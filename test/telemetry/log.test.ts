import { writeFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { SANDBOX_KEYS } from '../../src/sandbox/sandbox.ts';
import { startGateway, startSandboxedGateway } from '../support/gateway.ts';
import { createTemporaryFolder } from '../support/sandbox-files.ts';
import { startScriptedUpstream } from '../support/scripted-upstream.ts';

const linesOf = (log: Record<string, unknown>[]) => log.filter(({ msg }) => msg === 'operation');

it('one line per operation has its caller, name, result, duration and upstream calls', async () => {
  await using gateway = await startSandboxedGateway();
  await gateway.data(
    'query Both { notificationGroups { id } workflow(idOrIdentifier: "weekly-digest") { id } }',
    {},
    {
      headers: { 'x-request-id': 'request-1' },
    },
  );
  expect(linesOf(gateway.log)).toEqual([
    {
      level: 30,
      time: expect.any(Number),
      pid: expect.any(Number),
      hostname: expect.any(String),
      msg: 'operation',
      requestId: 'request-1',
      operation: 'Both',
      type: 'query',
      httpStatus: 200,
      ms: expect.any(Number),
      upstreamCalls: 2,
      clientKind: 'server',
      tenant: expect.stringMatching(/^[0-9a-f]{8}$/),
    },
  ]);
});

it('failed operations are logged with their code, including those rejected before execution', async () => {
  await using gateway = await startSandboxedGateway();
  await gateway.send('{ workflow(idOrIdentifier: "..") { id } }');
  await gateway.send('{ nope }');
  await gateway.send('{ __typename }', {}, { authorization: 'Bearer x' });
  await gateway.send(
    'mutation Rename { deleteFeed(input: { id: "none" }) { __typename } }',
    {},
    { authorization: null },
  );
  expect(linesOf(gateway.log)).toMatchObject([
    { operation: 'anonymous', type: 'query', code: 'BAD_USER_INPUT', httpStatus: 200, upstreamCalls: 0 },
    { code: 'GRAPHQL_VALIDATION_FAILED', httpStatus: 400 },
    { code: 'UNAUTHENTICATED', httpStatus: 401 },
    { operation: 'Rename', type: 'mutation', code: 'UNAUTHENTICATED', httpStatus: 200 },
  ]);
  expect(linesOf(gateway.log)[3]).not.toHaveProperty('tenant');
});

it('a fault of an endpoint is logged as one warning, however many fields fail', async () => {
  await using upstream = await startScriptedUpstream(() => ({ status: 500, body: {} }));
  await using gateway = await startGateway({ upstream: upstream.url });
  const { codes } = await gateway.send(
    '{ workflows(idsOrIdentifiers: ["a", "b", "c", "d"]) { id } notificationGroups { id } }',
  );
  expect(codes).toHaveLength(5);
  const warnings = gateway.log.filter(({ level }) => level === 40);
  expect(warnings.map(({ route }) => route).toSorted()).toEqual([
    '/v1/notification-groups',
    '/v1/workflows/{workflowIdOrIdentifier}',
  ]);
});

it('tenants are logged under stable hashes instead of keys, equal across gateways that share a secret', async () => {
  const tenantsOf = async (logSecret: string | { file: string }) => {
    await using gateway = await startSandboxedGateway({ options: { logSecret } });
    for (const key of [SANDBOX_KEYS.development, SANDBOX_KEYS.production, SANDBOX_KEYS.development]) {
      await gateway.data('{ __typename }', {}, { authorization: `ApiKey ${key}` });
    }
    expect(JSON.stringify(gateway.log)).not.toMatch(/sandbox-(development|production)-key/);
    return linesOf(gateway.log).map(({ tenant }) => tenant);
  };
  const [first, second, again] = await tenantsOf('one secret for all');
  expect(first).toBe(again);
  expect(first).not.toBe(second);
  expect(await tenantsOf('one secret for all')).toEqual([first, second, again]);
  expect(await tenantsOf('another secret for all')).not.toContain(first);

  await using folder = await createTemporaryFolder();
  const file = folder.path('secret');
  await writeFile(file, 'one secret for all\n');
  expect(await tenantsOf({ file })).toEqual([first, second, again]);
});

it('keys, variables, bodies and ids are never logged', async () => {
  await using gateway = await startSandboxedGateway();
  const canary = 'canary-value-4711';
  await gateway.send('mutation ($n: String!) { createFeed(input: { name: $n }) { __typename } }', { n: canary });
  await gateway.send(`{ workflow(idOrIdentifier: "${canary}") { id } }`);
  await gateway.send(`{ notificationGroups { id } # ${canary}\n }`, {}, { authorization: `ApiKey ${canary}` });
  expect(linesOf(gateway.log)).toHaveLength(3);
  expect(JSON.stringify(gateway.log)).not.toContain(canary);
});
