import { execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { cp, mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import { connect } from 'node:http2';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { type DocumentNode, print } from 'graphql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SANDBOX_KEYS, type Sandbox, startSandbox } from '../../packages/sandbox/src/sandbox.ts';
import events from '../../src/modules/shipped/events.ts';
import inbox from '../../src/modules/shipped/inbox.ts';
import { launchBrowser } from '../support/browser.ts';
import { CHILD_ENV } from '../support/child-env.ts';
import { visit } from '../support/dashboard.ts';
import { addTo, blocks, CLIENT_TOKENS, GATEWAY, load, ROOT, read, SERVICE } from '../support/docs.ts';
import { startGateway } from '../support/gateway.ts';
import { findFreePort } from '../support/listen.ts';
import { writeReactApp } from '../support/react-app.ts';
import { createTemporaryFolder } from '../support/sandbox-files.ts';
import { startService } from '../support/service.ts';
import { packProject } from './packed-project.ts';

const run = promisify(execFile);

/** Pages whose blocks are one program. */
const CONTINUED = ['docs/testing.md'];

/** Packages of the programs that this project has too. */
const OWN = [
  '@modelcontextprotocol/server',
  '@types/relay-runtime',
  'graphql-request',
  'msw',
  'relay-runtime',
  'vitest',
];

/** Functions of the user, as docs/client.md and docs/own-sessions.md explain them. */
const APP_TYPES = `
  declare function getToken(): Promise<string>;
  declare function userOf(cookie: string | null | undefined): Promise<{ id: string; tenant: string } | undefined>;
`;

const SESSIONS = blocks(read('docs/own-sessions.md'), 'ts');

const EMBEDDING = blocks(read('docs/embedding.md'), 'ts');

let folder: Awaited<ReturnType<typeof createTemporaryFolder>>;
let sandbox: Sandbox;

/** Project of a user: the packed package, the frameworks and the programs of the docs. */
beforeAll(async () => {
  folder = await createTemporaryFolder();
  sandbox = await startSandbox();
  for (const file of ['package.json', 'package-lock.json', '.npmrc']) {
    await cp(join(ROOT, 'test/package/frameworks', file), folder.path(file));
  }
  await writeFile(folder.path('app.d.ts'), APP_TYPES);
  const { gateway: tarball } = await packProject(folder.path());
  await run('npm', ['install', '--no-audit', '--no-fund', tarball], { cwd: folder.path() });
  for (const name of OWN) {
    const link = folder.path('node_modules', name);
    await mkdir(dirname(link), { recursive: true });
    await symlink(join(ROOT, 'node_modules', name), link, 'dir');
  }
}, 600_000);

afterAll(async () => {
  await sandbox.close();
  await folder[Symbol.asyncDispose]();
});

/** Compiles programs in strict mode. @returns the errors */
function compile(files: readonly string[]): string {
  const strict = ['--strict', '--noUncheckedIndexedAccess', '--exactOptionalPropertyTypes', '--skipLibCheck'];
  const target = [
    '--target',
    'es2024',
    '--module',
    'nodenext',
    '--moduleDetection',
    'force',
    '--types',
    'node',
    '--rewriteRelativeImportExtensions',
  ];
  const decorators = ['--experimentalDecorators', '--emitDecoratorMetadata'];
  const output = ['--outDir', 'built', '--rootDir', '.'];
  const tsc = folder.path('node_modules/typescript/bin/tsc');
  const args = [tsc, ...strict, ...target, ...decorators, ...output, 'app.d.ts', ...files];
  return spawnSync(process.execPath, args, { cwd: folder.path(), encoding: 'utf8' }).stdout;
}

it('all TypeScript of the docs compiles in strict mode, as printed', async () => {
  const pages = ['README.md', ...(await readdir(join(ROOT, 'docs'))).map((name) => `docs/${name}`)];
  const programs = pages
    .filter((page) => page.endsWith('.md') && page !== 'docs/react.md') // Next.js compiles that app.
    .flatMap((page) => {
      const found = blocks(read(page), 'ts');
      if (page === 'docs/modules.md') {
        return [
          { file: 'docs/layouts.ts', program: found.slice(0, -1).join('\n') },
          { file: 'docs/modules-test.ts', program: found.at(-1) ?? '' },
        ];
      }
      return (CONTINUED.includes(page) ? [found.join('\n')] : found).map((program, i) => ({
        file: `${page.slice(0, -'.md'.length)}-${i}.ts`,
        program,
      }));
    });
  await mkdir(folder.path('docs'));
  for (const { file, program } of programs) {
    await writeFile(folder.path(file), program);
  }
  expect(compile(programs.map(({ file }) => file))).toBe('');
  expect(programs.length).toBeGreaterThan(20);
});

it('graphql-codegen makes a manifest of operations with a module, as docs/frontend.md shows', async () => {
  const page = read('docs/frontend.md');
  const app = { cwd: folder.path('generated'), env: CHILD_ENV };
  await mkdir(folder.path('generated/src'), { recursive: true });
  await writeFile(folder.path('generated/notigraph.config.yaml'), 'modules: [notigraph/modules/events]\n');
  await writeFile(folder.path('generated/codegen.ts'), blocks(page, 'ts')[0] ?? '');
  const source =
    'mutation Trigger($event: EventInput!) { triggerEvent(input: { event: $event }) { ... on TriggerEventSuccess { event { transactionId status } } } }';
  await writeFile(
    folder.path('generated/src/trigger.ts'),
    `import { graphql } from './gql';\nexport const Trigger = graphql(\`${source}\`);\n`,
  );
  for (const [, command = ''] of page.matchAll(/`(npx notigraph schema print [^`]+|npx graphql-codegen)`/g)) {
    await run('sh', ['-c', command], app);
  }
  const types = readFileSync(folder.path('generated/src/gql/graphql.ts'), 'utf8');
  expect(types).toContain('export type TriggerMutationVariables');
  const manifest = JSON.parse(readFileSync(folder.path('generated/src/gql/persisted-documents.json'), 'utf8'));
  const [documentId] = Object.keys(manifest);
  const program = types.replace(/^import .*@graphql-typed-document-node.*$/m, ''); // A package of types only.
  await writeFile(folder.path('generated/typed.ts'), program);
  const { TriggerDocument } = await import(folder.path('generated/typed.ts'));
  const typed: DocumentNode = TriggerDocument;
  await using gateway = await startGateway({
    service: 'sandbox',
    modules: [events],
    trustedDocuments: { manifests: [manifest] },
    clients: { server: { trustedDocuments: 'enforce' } },
  });
  const query = print(typed);
  expect(manifest[documentId ?? '']).not.toContain('transactionId\n    status'); // The preset sorts what it hashes.
  for (const document of [{ documentId }, { query }]) {
    const response = await fetch(gateway.url, {
      method: 'POST',
      headers: { authorization: `ApiKey ${SANDBOX_KEYS.development}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        ...document,
        variables: { event: { workflow: 'payment-failed', subscriberIds: ['customer-1001'] } },
      }),
    });
    expect(await response.json()).toMatchObject({ data: { triggerEvent: { event: { status: 'PROCESSED' } } } });
  }
  const [diff = ''] = /(?<=run: )npx notigraph schema diff.*/.exec(read('docs/schema-changes.md')) ?? [];
  expect((await run('sh', ['-c', diff], app)).stdout).toContain('None of 1 operations breaks.\n');
});

/** Returns a program of docs/embedding.md, which begins with the name of its file. */
const recipeOf = (name: string, page = EMBEDDING): string =>
  page.find((block) => block.startsWith(`// ${name}\n`)) ?? '';

interface Host extends AsyncDisposable {
  post(path: string, body: string): Promise<{ status: number; body: unknown }>;
  url: string;
}

/** Whether a server answers HTTP/1. */
const answersHttp1 = (url: string): Promise<boolean> =>
  fetch(url).then(
    () => true,
    () => false,
  );

/** Starts a server and waits until it answers. When it is disposed, it must end by itself. */
async function startHost(
  args: readonly string[],
  port: number,
  more: NodeJS.ProcessEnv = {},
  answers = answersHttp1,
): Promise<Host> {
  const env = { ...CHILD_ENV, NEXT_TELEMETRY_DISABLED: '1', ...more };
  const child = spawn(process.execPath, args, { cwd: folder.path(), env, stdio: ['ignore', 'ignore', 'pipe'] });
  const printed = text(child.stderr);
  const ended = once(child, 'exit');
  const url = `http://127.0.0.1:${port}`;
  await expect.poll(async () => (await answers(url)) || child.exitCode !== null, { timeout: 60_000 }).toBe(true);
  return {
    url,
    async post(path, body) {
      const headers = { authorization: `ApiKey ${SANDBOX_KEYS.development}`, 'content-type': 'application/json' };
      const response = await fetch(url + path, { method: 'POST', headers, body });
      return { status: response.status, body: await response.json() };
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM');
      await ended;
      expect(await printed).toBe('');
    },
  };
}

/** Starts a recipe with the address of the sandbox and another port. */
async function startRecipe(
  name: string,
  program: string,
  answers = answersHttp1,
  env: NodeJS.ProcessEnv = {},
): Promise<Host> {
  const port = await findFreePort();
  await writeFile(folder.path(name), program.replace(SERVICE, sandbox.url).replace('4000', String(port)));
  expect(compile([name])).toBe('');
  return startHost([folder.path('built', name.replace('.ts', '.js'))], port, env, answers);
}

const QUERY = JSON.stringify({ query: '{ notificationGroups { name } }' });
const GROUPS = { status: 200, body: { data: { notificationGroups: expect.arrayContaining([{ name: 'Billing' }]) } } };
const failureOf = (status: number, code: string) => ({ status, body: { errors: [{ extensions: { code } }] } });

async function expectGateway(host: Host, path: string): Promise<void> {
  expect(await host.post(path, QUERY)).toMatchObject(GROUPS);
  expect(await host.post(path, '{')).toMatchObject(failureOf(400, 'BAD_REQUEST'));
  const large = JSON.stringify({ query: `{ __typename } #${'x'.repeat(300_000)}` });
  expect(await host.post(path, large)).toMatchObject(failureOf(413, 'PAYLOAD_TOO_LARGE'));
  const headers = { 'graphql-require-preflight': 'true' };
  const read = await fetch(`${host.url}${path}?query={__typename}`, { headers });
  expect(await read.json()).toEqual({ data: { __typename: 'Query' } });
}

describe('the recipe of docs/embedding.md', () => {
  it.each([
    ['server.ts', '/api/graphql'],
    ['express.ts', '/graphql'],
    ['fastify.ts', '/graphql'],
    ['hono.ts', '/graphql'],
    ['nest.ts', '/graphql'],
  ])('%s serves the gateway beside other routes, and ends with it', async (name, path) => {
    await using host = await startRecipe(name, recipeOf(name));
    await expectGateway(host, path);
    expect((await fetch(host.url)).status).toBe(name === 'nest.ts' ? 404 : 200);
  });

  it('for Next.js serves the gateway after a build', async () => {
    for (const file of ['app/api/graphql/route.ts', 'next.config.ts']) {
      await mkdir(dirname(folder.path('site', file)), { recursive: true });
      await writeFile(folder.path('site', file), recipeOf(file).replace(SERVICE, sandbox.url));
    }
    const next = folder.path('node_modules/next/dist/bin/next');
    const env = { ...CHILD_ENV, NEXT_TELEMETRY_DISABLED: '1' };
    await run(process.execPath, [next, 'build', 'site'], { cwd: folder.path(), env });
    const port = await findFreePort();
    await using host = await startHost(
      [next, 'start', 'site', '--port', String(port), '--hostname', '127.0.0.1'],
      port,
    );
    await expectGateway(host, '/api/graphql');
  });
});

it.each(['fetch', 'express', 'nest', 'fastify'])(
  'the program of docs/own-sessions.md for %s serves who is signed in, and nobody else',
  async (host) => {
    const name = `${host}-sessions.ts`;
    const store = `const userOf = async (cookie: string | null | undefined) =>
      cookie === 'session=1' ? { id: 'ada', tenant: 'acme' } : undefined;\n`;
    const env = { ACME_KEY: SANDBOX_KEYS.development };
    await using started = await startRecipe(name, recipeOf(name, SESSIONS) + store, answersHttp1, env);
    const { url } = started;
    const ask = async (method: 'GET' | 'POST', headers: Record<string, string>) => {
      const address = `${url}/graphql${method === 'GET' ? '?query={notificationGroups{name}}' : ''}`;
      const all = { 'content-type': 'application/json', ...headers };
      const response = await fetch(address, { method, headers: all, ...(method === 'POST' && { body: QUERY }) });
      return { status: response.status, body: await response.json() };
    };
    const cookie = 'session=1';
    expect(await ask('POST', { cookie })).toMatchObject(GROUPS);
    expect(await ask('GET', { cookie, 'x-requested-with': 'page' })).toMatchObject(GROUPS);
    expect(await ask('GET', { cookie })).toMatchObject(failureOf(403, 'CSRF_REFUSED'));
    for (const headers of [{}, { cookie: 'session=2' }, { authorization: `ApiKey ${SANDBOX_KEYS.development}` }]) {
      expect(await ask('POST', headers)).toMatchObject(failureOf(401, 'UNAUTHENTICATED'));
    }
  },
);

it('the programs of docs/vue.md show a workflow', async () => {
  await using gateway = await startGateway({ service: 'sandbox' });
  const [vue = '', svelte = '', ...others] = blocks(read('docs/vue.md'), 'ts').map((program) =>
    program
      .replace(GATEWAY, new URL(gateway.url).origin)
      .replace('await getToken()', `'${SANDBOX_KEYS.development}'`)
      .replace('Bearer', 'ApiKey'),
  );
  expect(others).toEqual([]);
  const shown = {
    'vue-app.ts': `import { renderToString } from 'vue/server-renderer';\n${vue}console.log(await renderToString(app));\n`,
    'svelte-app.ts': `${svelte}workflow.subscribe(({ data }) => data && console.log(data.workflow?.name));\n`,
  };
  for (const [file, program] of Object.entries(shown)) {
    await writeFile(folder.path(file), program);
  }
  expect(compile(Object.keys(shown))).toBe('');
  const outputOf = async (file: string) => (await run(process.execPath, [folder.path('built', file)])).stdout;
  expect(await outputOf('vue-app.js')).toBe('<h1>Payment failed</h1>\n');
  expect(await outputOf('svelte-app.js')).toBe('Payment failed\n');
  expect(gateway.upstream('GET /v1/workflows/')).toHaveLength(2);
});

it('the recipe for Next.js serves the gateway with GraphiQL from a folder with only its standalone output', async () => {
  const name = 'standalone';
  for (const [file, from, to] of [
    ['app/api/graphql/route.ts', 'createGateway({', 'createGateway({ graphiql: true,'],
    ['next.config.ts', 'node_modules/', '../node_modules/'], // Of this project, which has several apps.
  ] as const) {
    await mkdir(dirname(folder.path(name, file)), { recursive: true });
    const program = recipeOf(file).replace(SERVICE, sandbox.url).replace(from, to);
    await writeFile(folder.path(name, file), program.replace('NextConfig = {', "NextConfig = { output: 'standalone',"));
  }
  const next = folder.path('node_modules/next/dist/bin/next');
  const env = { ...CHILD_ENV, NEXT_TELEMETRY_DISABLED: '1' };
  await run(process.execPath, [next, 'build', name], { cwd: folder.path(), env });
  await using deployed = await createTemporaryFolder(); // In which Node.js doesn't find the packages of the project.
  await cp(folder.path(name, '.next/standalone'), deployed.path(), { recursive: true, verbatimSymlinks: true });
  const port = await findFreePort();
  const address = { PORT: String(port), HOSTNAME: '127.0.0.1' };
  await using host = await startHost([deployed.path(name, 'server.js')], port, address);
  await expectGateway(host, '/api/graphql');
  const url = `${host.url}/api/graphql`;
  const page = await (await fetch(url, { headers: { accept: 'text/html' } })).text();
  expect(page).toContain('query NotificationGroups');
  const [script = ''] = /\?graphiql=[^"]+\.js/.exec(page) ?? [];
  expect(await fetch(url + script)).toMatchObject({ status: 200 });
});

describe('the app of docs/react.md in Next.js', () => {
  const env = { ...CHILD_ENV, NEXT_TELEMETRY_DISABLED: '1', ACME_KEY: SANDBOX_KEYS.development };
  const next = () => folder.path('node_modules/next/dist/bin/next');

  it('renders current data on the server, which the browser neither loads again nor gets the API key with', async () => {
    const port = await findFreePort();
    const origin = `http://127.0.0.1:${port}`;
    const settings = addTo(
      `${CLIENT_TOKENS}modules: [notigraph/modules/inbox]\nclients: { browser: { corsOrigins: ['${origin}'], scopes: [workflows:read, groups:read, inbox:read, inbox:write] } }`,
    );
    const { clients, clientTokens } = load(settings, { ACME_KEY: SANDBOX_KEYS.development });
    const modules = [inbox];
    await using gateway = await startGateway({
      service: 'sandbox',
      modules,
      clients,
      ...(clientTokens && { clientTokens }),
    });
    await writeReactApp(folder.path('react'), gateway.url);
    await run(process.execPath, [next(), 'build', 'react'], { cwd: folder.path(), env });
    expect(gateway.upstream()).toEqual([]);
    const args = [next(), 'start', 'react', '--port', String(port), '--hostname', '127.0.0.1'];
    await using host = await startHost(args, port, env);
    const browser = await launchBrowser();
    try {
      for (const route of ['workflows', 'query', 'urql', 'apollo']) {
        for (const _ of ['first', 'second']) {
          gateway.forget();
          const html = await (await fetch(`${host.url}/${route}/payment-failed`)).text();
          expect(html).toContain('<h1>Payment failed</h1>');
          expect(html).not.toContain(SANDBOX_KEYS.development);
          expect(gateway.upstream('GET /v1/workflows/')).toHaveLength(1);
        }
        await using visitor = await visit(browser, `${host.url}/${route}/payment-failed`);
        await visitor.page.waitForLoadState('networkidle');
        await visitor.page.getByRole('heading', { name: 'Payment failed' }).waitFor();
        const origins = new Set(visitor.requests.map((request) => new URL(request.url()).origin));
        expect([route, [...origins], visitor.problems]).toEqual([route, [origin], []]);
      }
      gateway.forget();
      await using visitor = await visit(browser, `${host.url}/feeds`);
      await visitor.page.waitForLoadState('networkidle');
      const field = visitor.page.getByRole('textbox', { name: 'Name' });
      for (const expected of ['', 'A feed named "Offers" already exists.']) {
        await field.fill('Offers');
        await visitor.page.getByRole('button', { name: 'Create' }).click();
        await expect.poll(() => field.inputValue()).toBe(expected === '' ? '' : 'Offers');
        await visitor.page.locator('#feed-error').getByText(expected).waitFor({ state: 'attached' });
      }
      expect(gateway.upstream('POST /v1/feeds')).toHaveLength(2);
    } finally {
      await browser.close();
    }
    const ask = (cookie: string) => fetch(`${host.url}/notification-token`, { method: 'POST', headers: { cookie } });
    expect((await ask('')).status).toBe(401);
    expect(await (await ask('session=1')).json()).toMatchObject({ tenant: 'acme' });
    const files = await readdir(folder.path('react/.next/static'), { recursive: true, withFileTypes: true });
    const texts = files
      .filter((file) => file.isFile())
      .map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'utf8'));
    expect(texts.some((file) => file.includes('/notification-token'))).toBe(true);
    expect(texts.filter((file) => file.includes(SANDBOX_KEYS.development) || file.includes('ACME_KEY'))).toEqual([]);
  });

  it('is not built if a component of the browser imports the module with the key', async () => {
    const leak = `'use client';\nimport { url } from '@/lib/notigraph';\nexport default () => <p>{url}</p>;\n`;
    await writeReactApp(folder.path('leak'), GATEWAY, { 'app/page.tsx': leak });
    const build = run(process.execPath, [next(), 'build', 'leak'], { cwd: folder.path(), env });
    await expect(build).rejects.toThrow(/server-only/);
  });
});

it('the gateway works behind the body parser of Express', async () => {
  const [mount, parser] = ['app.use(gateway.endpoint, gateway.listener);\n', 'app.use(express.json());\n'];
  const program = recipeOf('express.ts').replace(mount + parser, parser + mount);
  expect(program.indexOf(parser)).toBeLessThan(program.indexOf(mount));
  await using host = await startRecipe('parsed.ts', program);
  expect(await host.post('/graphql', QUERY)).toMatchObject(GROUPS);
});

it('the gateway says what to do if Fastify has read the body', async () => {
  const program = recipeOf('fastify.ts').replace(/ {2}scope\.removeAll.*\n.*\n/, '');
  await using host = await startRecipe('read.ts', program);
  expect(await host.post('/graphql', QUERY)).toMatchObject(failureOf(500, 'BODY_ALREADY_READ'));
});

/** Sends a query with HTTP/2 to a host name. @returns status and body; undefined if the server can't be reached */
async function sendHttp2(url: string, authority: string): Promise<{ status: unknown; body: unknown } | undefined> {
  const session = connect(url);
  try {
    const stream = session.request({
      ':method': 'POST',
      ':path': '/graphql',
      ':authority': authority,
      'content-type': 'application/json',
      authorization: `ApiKey ${SANDBOX_KEYS.development}`,
    });
    stream.end(QUERY);
    const [headers] = await Promise.race([once(stream, 'response'), once(session, 'error').then(() => [])]);
    return headers && { status: headers[':status'], body: JSON.parse(await text(stream.setEncoding('utf8'))) };
  } catch {
    return undefined;
  } finally {
    session.close();
  }
}

it('the gateway in Fastify with HTTP/2 selects the upstream by the name that the client addressed', async () => {
  await using other = await startService(() => ({ body: { data: [] } }));
  const upstreams = `upstreams: {
    sandbox: { url: '${SERVICE}', hosts: ['eu.example.test'] },
    other: { url: '${other.url}', default: true },
  }`;
  const program = recipeOf('fastify.ts')
    .replace('fastify()', 'fastify({ http2: true })')
    .replace(/upstream: '[^']+'/, upstreams);
  const answers = async (url: string) => (await sendHttp2(url, 'eu.example.test')) !== undefined;
  await using host = await startRecipe('http2.ts', program, answers);
  expect(await sendHttp2(host.url, 'eu.example.test')).toMatchObject(GROUPS);
  expect(other.requests).toEqual([]);
  expect(await sendHttp2(host.url, 'other.example.test')).toMatchObject({ body: { data: { notificationGroups: [] } } });
});

/** Uses the gateway in both ways, with the typed client. */
const DENO_PROGRAM = `
  import { createServer } from 'node:http';
  import { createGateway } from 'notigraph';
  import { createClient, NotificationGroupsDocument } from 'notigraph/client';

  const gateway = createGateway({ upstream: Deno.args[0] });
  const served = Deno.serve({ port: 0, hostname: '127.0.0.1', onListen() {} }, gateway.fetch);
  const server = createServer(gateway.listener);
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  for (const { port } of [served.addr, server.address()]) {
    const authorization = 'ApiKey ${SANDBOX_KEYS.development}';
    const { request } = createClient({ url: \`http://127.0.0.1:\${port}/graphql\`, authorization });
    const { data, errors } = await request(NotificationGroupsDocument);
    console.log(data?.notificationGroups?.length, errors);
  }
  await served.shutdown();
  server.close();
  await gateway.dispose();
`;

/** Uses the typed client, and tries to create a gateway. */
const BUN_PROGRAM = `
  import { createGateway } from 'notigraph';
  import { createClient, NotificationGroupsDocument } from 'notigraph/client';

  const { request } = createClient({ url: process.argv[2], authorization: 'ApiKey ${SANDBOX_KEYS.development}' });
  const { data, errors } = await request(NotificationGroupsDocument);
  console.log(data?.notificationGroups?.length, errors);
  try {
    createGateway({ upstream: 'http://127.0.0.1:9' });
  } catch ({ message }) {
    console.log(message);
  }
`;

it('the gateway and the client work in Deno', async () => {
  await writeFile(folder.path('deno.js'), DENO_PROGRAM);
  const permissions = ['--allow-net', '--allow-read', '--allow-env', '--allow-sys'];
  const deno = folder.path('node_modules/.bin/deno');
  const { stdout } = await run(deno, ['run', ...permissions, 'deno.js', sandbox.url], { cwd: folder.path() });
  expect(stdout).toBe('4 undefined\n4 undefined\n');
});

it('the client works in Bun, and createGateway says at once that it does not', async () => {
  await writeFile(folder.path('bun.js'), BUN_PROGRAM);
  await using host = await startRecipe('express.ts', recipeOf('express.ts'));
  const bun = folder.path('node_modules/.bin/bun');
  const { stdout } = await run(bun, ['bun.js', `${host.url}/graphql`], { cwd: folder.path() });
  expect(stdout).toMatch(/^4 undefined\nBun is not supported, because it replaces the package undici,.*\n$/);
});

it('the configuration of a desktop client in docs/mcp.md works with an installed package, in any folder', async () => {
  const [, , desktop = ''] = blocks(read('docs/mcp.md'), 'json');
  await writeFile(folder.path('notigraph.config.yaml'), `upstream: ${sandbox.url}\n`);
  const { args, env } = JSON.parse(desktop.replaceAll('/home/ada/project', folder.path())).mcpServers.notifications;
  const key = SANDBOX_KEYS.development;
  const variables = { ...env, NOTIGRAPH_MCP_KEY: key, PATH: String(CHILD_ENV.PATH) };
  const client = new Client({ name: 'desktop', version: '1' });
  const command = process.execPath;
  await client.connect(new StdioClientTransport({ command, args, env: variables, cwd: '/', stderr: 'ignore' }));
  const { structuredContent } = await client.callTool({ name: 'NotificationGroups', arguments: {} });
  expect(structuredContent).toHaveProperty('data.notificationGroups');
  await client.close();
});
