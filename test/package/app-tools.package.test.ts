import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { SANDBOX_KEYS } from '../../packages/sandbox/src/sandbox.ts';
import { CHILD_ENV } from '../support/child-env.ts';
import { blocks, read } from '../support/docs.ts';
import { createTemporaryFolder } from '../support/sandbox-files.ts';
import { packProject } from './packed-project.ts';

const run = promisify(execFile);

/** Test runners with their pages, and a bundler. */
const TOOLS = [
  'esbuild@0.28',
  'jest@30',
  'jest-environment-jsdom@30',
  'jest-fixed-jsdom@0.0',
  'msw@2',
  'vitest@5',
  'jsdom@31',
];

/** Uses the client in a test of a component. */
const CLIENT_TEST = `
const { createClient, CreateFeedDocument } = require('notigraph/client');
const own = require('@notigraph/client');

test('imports the client', async () => {
  for (const library of [{ createClient, CreateFeedDocument }, own]) {
    expect(library.createClient({ url: 'http://127.0.0.1:9' }).request).toBeInstanceOf(Function);
    expect(String(library.CreateFeedDocument.definitions[0].name.value)).toBe('CreateFeed');
  }
});
`;

const MOCKS_TEST = `
const { setupServer } = require('msw/node');
const { createClient, WorkflowDocument } = require('notigraph/client');
const { gatewayError, mocks } = require('notigraph/testing/msw');

const server = setupServer(mocks.Workflow(() => ({ errors: [gatewayError('OVERLOADED', { message: 'Busy.' })] })));
beforeAll(() => server.listen());
afterAll(() => server.close());

test('mocks an operation', async () => {
  const { request } = createClient({ url: 'https://graphql.example.com/graphql', retries: false });
  const { errors } = await request(WorkflowDocument, { idOrIdentifier: 'a' });
  expect(errors[0].message).toBe('Busy.');
});
`;

const GATEWAY_TEST = `
const { WorkflowDocument } = require('notigraph/client');
const { createTestGateway } = require('notigraph/testing');

test('runs a gateway in memory', async () => {
  const gateway = await createTestGateway();
  const { data } = await gateway.client.request(WorkflowDocument, { idOrIdentifier: 'payment-failed' });
  expect(data.workflow.name).toBe('Payment failed');
  await gateway.close();
});
`;

/** Uses a client token, a module and a signal, whose classes a page can replace. */
const VITEST_TEST = `
import { GraphQLError } from 'graphql';
import { createClient, WorkflowDocument } from 'notigraph/client';
import { defineModule } from 'notigraph/modules';
import { createTestGateway } from 'notigraph/testing';
import { expect, test } from 'vitest';

const scopes = ['workflows:read', 'groups:read'];
const failing = defineModule('failing', ({ builder, requireScopes }) => {
  builder.queryField('failing', (t) =>
    t.string({
      nullable: true,
      extensions: requireScopes('workflows:read'),
      resolve() {
        throw new GraphQLError('Not today.', { extensions: { code: 'CLOSED' } });
      },
    }),
  );
});

test('a page with a client token', async () => {
  const gateway = await createTestGateway({
    modules: [failing],
    clients: { browser: { scopes, tenants: { acme: '${SANDBOX_KEYS.development}' } } },
    clientTokens: { secrets: ['a-fake-secret-of-more-than-32-characters'] },
  });
  const response = await gateway.fetch('/client-tokens', {
    method: 'POST',
    headers: { authorization: 'ApiKey ' + gateway.key, 'content-type': 'application/json' },
    body: JSON.stringify({ scopes }),
  });
  expect(response.status).toBe(200);
  const { token } = await response.json();
  const { request } = createClient({ url: gateway.url, fetch: gateway.fetch, authorization: 'Bearer ' + token });
  const { data } = await request(WorkflowDocument, { idOrIdentifier: 'payment-failed' }, { signal: AbortSignal.timeout(60_000) });
  expect(data.workflow.name).toBe('Payment failed');
  const { errors } = await request('{ failing }');
  expect(errors[0]).toMatchObject({ message: 'Not today.', extensions: { code: 'CLOSED' } });
  await gateway.close();
});
`;

let folder: Awaited<ReturnType<typeof createTemporaryFolder>>;

/** App with the packed packages, and a folder of tests for each way to run them. */
beforeAll(async () => {
  folder = await createTemporaryFolder();
  const { gateway, client } = await packProject(folder.path());
  await writeFile(folder.path('package.json'), '{}'); // CommonJS, as npm init writes it.
  const install = ['install', '--no-audit', '--no-fund', gateway, client, 'graphql@16', ...TOOLS];
  await run('npm', install, { cwd: folder.path() });
  const inEnvironment = (name: string, program: string) => `/** @jest-environment ${name} */\n${program}`;
  for (const [file, program] of [
    ['defaults/client.test.js', CLIENT_TEST],
    ['defaults/page.test.js', inEnvironment('jsdom', CLIENT_TEST)],
    ['flag/client.test.js', inEnvironment('jsdom', CLIENT_TEST)],
    ['flag/gateway.test.js', inEnvironment('node', GATEWAY_TEST)],
    ['flag/mocks.test.js', inEnvironment('node', MOCKS_TEST)],
    ['flag/page.test.js', inEnvironment('jest-fixed-jsdom', MOCKS_TEST)],
    ['vitest/page.test.mjs', VITEST_TEST],
  ] as const) {
    await mkdir(folder.path(file, '..'), { recursive: true });
    await writeFile(folder.path(file), program);
  }
}, 600_000);

afterAll(() => folder[Symbol.asyncDispose]());

/** Runs a command of the app, with this project's Node.js. @returns the output */
async function runInApp(command: string): Promise<string> {
  const env = {
    ...CHILD_ENV,
    PATH: `${folder.path('node_modules/.bin')}:${join(process.execPath, '..')}:${CHILD_ENV.PATH}`,
  };
  const { stdout, stderr } = await run('sh', ['-c', command], { cwd: folder.path(), env });
  return stdout + stderr;
}

it('Jest loads the client with its defaults, also with jsdom', async () => {
  expect(await runInApp('jest defaults')).toContain('Tests:       2 passed, 2 total');
});

it('Jest runs gateways in memory and mocks for msw with the flag of docs/testing.md', async () => {
  const [json = '{}'] = blocks(read('docs/testing.md'), 'json');
  const command: string = JSON.parse(json).scripts.test;
  await expect(runInApp('jest flag/gateway')).rejects.toThrow('Must use import to load ES Module');
  expect(await runInApp(`${command} flag`)).toContain('Tests:       4 passed, 4 total');
});

it.each(['node', 'jsdom'])(
  'Vitest runs a gateway with tokens and modules in the environment %s',
  async (environment) => {
    expect(await runInApp(`NO_COLOR=1 vitest run --environment ${environment} vitest`)).toContain(
      'Tests  1 passed (1)',
    );
  },
);

it.each(['esm', 'cjs'])(
  'a bundle of esbuild with --format=%s refuses to contain the gateway, and runs with the flag of docs/embedding.md',
  async (format) => {
    const server = `import { createGateway } from 'notigraph';
      const gateway = createGateway({ upstream: 'http://127.0.0.1:9', graphiql: true });
      gateway.metrics().then((text) => console.log(text.length > 0));`;
    await writeFile(folder.path('server.mjs'), server);
    const [external = ''] = /--external:notigraph/.exec(read('docs/embedding.md')) ?? [];
    const out = `server-${format}.${format === 'esm' ? 'mjs' : 'cjs'}`;
    const optional = '--external:@redis/client --external:@modelcontextprotocol/server';
    const bundle = `esbuild server.mjs --bundle --platform=node --log-level=error --format=${format} --outfile=${out}`;
    await expect(runInApp(`${bundle} ${optional} && node ${out}`)).rejects.toThrow(
      'Error: Notigraph was bundled, but it reads files of its package. Keep notigraph external',
    );
    expect(await runInApp(`${bundle} ${external} && node ${out}`)).toBe('true\n');
  },
);
