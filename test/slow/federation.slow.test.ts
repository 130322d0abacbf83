import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { composeServices } from '@theguild/federation-composition';
import { parse } from 'graphql';
import { createSchema, createYoga } from 'graphql-yoga';
import { expect, it } from 'vitest';
import { SANDBOX_KEYS } from '../../packages/sandbox/src/sandbox.ts';
import { CHILD_ENV } from '../support/child-env.ts';
import { blocks, ROOT, read } from '../support/docs.ts';
import { startGateway } from '../support/gateway.ts';
import { findFreePort, listen } from '../support/listen.ts';
import { createTemporaryFolder } from '../support/sandbox-files.ts';

const [EXAMPLE = ''] = blocks(read('docs/federation.md'), 'graphql');
const CAMPAIGNS = `${EXAMPLE} type Query { campaigns: [Campaign!]! outdated: Campaign }`;
const WORKFLOWS = ['welcome-onboarding', 'comment-mention', 'weekly-digest', 'payment-failed', 'order-shipped'];
const CALLER = { authorization: `ApiKey ${SANDBOX_KEYS.development}` };

/** Starts the subgraph of 100 campaigns. Each refers to a workflow by its identifier, and to a group by its id. It knows the plan of subscribers. */
function startCampaigns(groupIds: readonly string[]) {
  const campaigns = Array.from({ length: 100 }, (_, i) => ({
    id: `c${i}`,
    workflow: { identifier: WORKFLOWS[i % WORKFLOWS.length] },
    group: { id: groupIds[i % groupIds.length] },
  }));
  const schema = createSchema<object>({
    typeDefs: `
      directive @key(fields: String!, resolvable: Boolean = true) repeatable on OBJECT
      scalar _Any
      union _Entity = Subscriber
      extend type Query { _entities(representations: [_Any!]!): [_Entity]! }
      ${CAMPAIGNS.replace(/^extend schema .*/, '')}`,
    resolvers: {
      Query: {
        campaigns: () => campaigns,
        outdated: () => ({ id: 'outdated', workflow: { identifier: 'deleted' } }),
        _entities: (_root: unknown, { representations }: { representations: { subscriberId: string }[] }) =>
          representations.map(({ subscriberId }) => ({ subscriberId, plan: `plan of ${subscriberId}` })),
      },
      _Entity: { __resolveType: () => 'Subscriber' },
    },
  });
  return listen(createServer(createYoga<object>({ schema, logging: false })));
}

/** Program of Hive Gateway, which is installed with the benchmark's peers. */
const PROGRAM = join(ROOT, 'bench/node_modules/@graphql-hive/gateway/dist/bin.js');

/** Whether Hive Gateway is installed: `npm --prefix bench ci` installs it. */
const hasHiveGateway = existsSync(PROGRAM);

/** Configuration in the docs, which passes credential and idempotency key of the caller on. */
const [CONFIGURATION = ''] = blocks(read('docs/federation.md'), 'js');

/** Starts Hive Gateway with a composed supergraph, and waits until it serves. */
async function startHiveGateway(supergraph: string) {
  const folder = await createTemporaryFolder();
  await writeFile(folder.path('supergraph.graphql'), supergraph);
  await writeFile(folder.path('gateway.config.mjs'), CONFIGURATION);
  const port = await findFreePort();
  const files = [folder.path('supergraph.graphql'), '--config-path', folder.path('gateway.config.mjs')];
  const child = spawn(
    process.execPath,
    [PROGRAM, 'supergraph', ...files, '--host', '127.0.0.1', '--port', String(port)],
    { env: { ...CHILD_ENV, NODE_ENV: 'production' }, stdio: ['ignore', 'pipe', 'pipe'] },
  );
  let printed = '';
  const listening = Promise.withResolvers<void>();
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      printed += String(chunk);
      if (/Listening on/i.test(printed)) {
        listening.resolve();
      }
    });
  }
  const ended = once(child, 'exit');
  ended.then(
    () => listening.reject(new Error(`Hive Gateway ended before it was ready:\n${printed}`)),
    listening.reject,
  );
  await listening.promise;
  return {
    /** Sends an operation with these headers, and returns the response. */
    async send(
      query: string,
      headers: Readonly<Record<string, string>>,
    ): Promise<{ data?: Record<string, unknown>; errors?: unknown[] }> {
      const response = await fetch(`http://127.0.0.1:${port}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify({ query }),
      });
      return response.json();
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM');
      await ended;
      await folder[Symbol.asyncDispose]();
    },
  };
}

it.skipIf(!hasHiveGateway)(
  'Hive Gateway joins two subgraphs, with one call for 100 groups and one per workflow (skipped if it is not installed)',
  async () => {
    await using gateway = await startGateway({ service: 'sandbox', federation: true });
    const { notificationGroups } = await gateway.data<{ notificationGroups: { id: string; name: string }[] }>(
      '{ notificationGroups { id name } }',
    );
    const campaigns = await startCampaigns(notificationGroups.map(({ id }) => id));
    const { _service } = await gateway.data<{ _service: { sdl: string } }>('{ _service { sdl } }');
    const { supergraphSdl = '', errors } = composeServices([
      { name: 'notifications', typeDefs: parse(_service.sdl), url: gateway.url },
      { name: 'campaigns', typeDefs: parse(CAMPAIGNS), url: `${campaigns.url}/graphql` },
    ]);
    expect(errors).toBeUndefined();
    await using router = await startHiveGateway(supergraphSdl);
    gateway.forget();

    const groups = await router.send('{ campaigns { id group { name } } }', CALLER);
    const nameOf = (i: number) => notificationGroups[i % notificationGroups.length]?.name;
    expect(groups).toEqual({
      data: { campaigns: Array.from({ length: 100 }, (_, i) => ({ id: `c${i}`, group: { name: nameOf(i) } })) },
    });
    expect(gateway.upstream().map(({ method, path }) => `${method} ${path}`)).toEqual(['GET /v1/notification-groups']);
    gateway.forget();

    const workflows = await router.send(
      '{ campaigns { workflow { identifier active notificationGroup { name } } } }',
      CALLER,
    );
    expect(workflows.errors).toBeUndefined();
    expect(workflows.data?.campaigns).toHaveLength(100);
    expect(workflows.data?.campaigns).toContainEqual({
      workflow: { identifier: 'payment-failed', active: true, notificationGroup: { name: 'Billing' } },
    });
    const keys = gateway.upstream('GET /v1/workflows/').map(({ path }) => path.slice(14));
    expect(keys.toSorted()).toEqual(WORKFLOWS.toSorted());
    expect(gateway.upstream().length).toBeLessThanOrEqual(WORKFLOWS.length + 1);

    const outdated = await router.send('{ outdated { id workflow { identifier name } } }', CALLER);
    expect(outdated).toEqual({ data: { outdated: { id: 'outdated', workflow: null } }, errors: [expect.anything()] });
    expect(await router.send('{ outdated { workflow { identifier description } } }', CALLER)).toEqual({
      data: { outdated: { workflow: { identifier: 'deleted', description: null } } },
    });

    const create = `mutation { createSubscriber(input: { subscriberId: "ada" }) {
      ... on CreateSubscriberSuccess { replayed subscriber { subscriberId plan } }
    } }`;
    for (const replayed of [false, true]) {
      expect(await router.send(create, { ...CALLER, 'idempotency-key': 'create-ada' })).toEqual({
        data: { createSubscriber: { replayed, subscriber: { subscriberId: 'ada', plan: 'plan of ada' } } },
      });
    }
    await campaigns.close();
  },
);
