import { execFile, spawnSync } from 'node:child_process';
import { cp, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'vite';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { VERSION } from '../src/lib/version.ts';
import { startSandbox } from '../src/sandbox/sandbox.ts';
import { runNotigraph, startNotigraph } from './support/process.ts';
import { copyProject } from './support/project-copy.ts';
import { createTemporaryFolder } from './support/sandbox-files.ts';
import { sendOperation } from './support/send-operation.ts';

const run = promisify(execFile);

const ROOT = fileURLToPath(new URL('..', import.meta.url)).slice(0, -1);

/** Program that mounts the gateway in its own server next to another route. */
const SERVER_PROGRAM = `
  import { createServer } from 'node:http';
  import { createGateway } from 'notigraph';

  await using gateway = createGateway({ upstream: process.argv[2], endpoint: '/api/notifications' });
  const server = createServer((request, response) => {
    if (request.url === '/health') {
      response.end('well');
    } else {
      gateway.listener(request, response);
    }
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const ask = async (path, init) => (await fetch(\`http://127.0.0.1:\${server.address().port}\${path}\`, init)).text();
  const authorization = 'ApiKey sandbox-development-key';
  console.log(await ask('/health'));
  console.log(await ask(gateway.endpoint + '?query={notificationGroups{name}}', { headers: { authorization } }));
  server.close();
  server.closeAllConnections();
`;

/** Program that uses the gateway without a server. */
const FETCH_PROGRAM = `
  import { createGateway } from 'notigraph';

  await using gateway = createGateway({ upstream: process.argv[2] });
  const response = await gateway.fetch(
    new Request('https://example.com/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: 'ApiKey sandbox-development-key' },
      body: JSON.stringify({ query: '{ notificationGroups { name } }' }),
    }),
  );
  console.log(await response.text());
`;

const TYPED_PROGRAM = `
  import { createServer } from 'node:http';
  import { createGateway, type Gateway, type GatewayDeps, type GatewayOptions } from 'notigraph';

  const options: GatewayOptions = { upstream: new URL('https://example.com'), graphiql: { authorization: 'ApiKey k' } };
  const deps: GatewayDeps = { now: () => new Date() };
  await using gateway: Gateway = createGateway(options, deps);
  createServer(gateway.listener);
  const response: Response = await gateway.fetch(new Request('https://example.com/graphql'));
  const problem: string | undefined = await gateway.checkUpstream();
  console.log(response.status, problem, gateway.endpoint.length);

  // @ts-expect-error The upstream is required.
  createGateway({});
  // @ts-expect-error The logger must be a pino logger.
  createGateway(options, { logger: console.log });
  // @ts-expect-error The type is not exported.
  type Withheld = import('notigraph').Config;
`;

/** Program that only uses the client. */
const CLIENT_PROGRAM = `
  import { createClient, NotificationGroupsDocument } from 'notigraph/client';

  const { request } = createClient({ url: process.argv[2], authorization: 'ApiKey sandbox-development-key' });
  const { data, errors } = await request(NotificationGroupsDocument);
  console.log(JSON.stringify(data.notificationGroups.map(({ name }) => name)), errors);
`;

const TYPED_CLIENT_PROGRAM = `
  import type { DocumentNode } from 'graphql';
  import {
    type Channel,
    createClient,
    type OperationResult,
    possibleTypes,
    type TypedDocument,
    UnexpectedResponseError,
    WorkflowDocument,
    type WorkflowResult,
    type WorkflowVariables,
  } from 'notigraph/client';

  const notigraph = createClient({ url: '/graphql', authorization: () => 'Bearer token', send: 'id' });
  const typed: TypedDocument<WorkflowResult, WorkflowVariables> & DocumentNode = WorkflowDocument;
  const answer: OperationResult<WorkflowResult> = await notigraph.request(typed, { idOrIdentifier: 'a' });
  const name: string | undefined = answer.data?.workflow?.name;
  const channel: Channel = 'EMAIL';
  console.log(name, channel, answer.errors?.[0]?.extensions.code, possibleTypes, UnexpectedResponseError.name);

  // @ts-expect-error A required variable is missing.
  await notigraph.request(WorkflowDocument, {});
  // @ts-expect-error The variable has the wrong type.
  await notigraph.request(WorkflowDocument, { idOrIdentifier: true });
  // @ts-expect-error The operation does not select the field.
  answer.data?.workflow?.payloadSchema;
`;

/** Response that the programs receive. */
const GROUPS =
  '{"data":{"notificationGroups":[{"name":"Lifecycle"},{"name":"Community"},{"name":"Billing"},{"name":"Orders"}]}}';

let folder: Awaited<ReturnType<typeof createTemporaryFolder>>;
/** Folder with only the package and its dependencies. */
let installFolder: string;
let bin: string;
/** Folder with only the package and graphql, without the dependencies of the gateway. */
let clientFolder: string;

beforeAll(async () => {
  folder = await createTemporaryFolder();
  installFolder = folder.path('user');
  const installed = join(installFolder, 'node_modules', 'notigraph');
  bin = join(installed, 'bin', 'notigraph.js');
  await mkdir(installed, { recursive: true });
  await run('tar', ['-xzf', await pack(), '-C', installed, '--strip-components=1']);

  const { dependencies } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'));
  for (const name of [...Object.keys(dependencies), '@types/node']) {
    const link = join(installFolder, 'node_modules', name);
    await mkdir(dirname(link), { recursive: true });
    await symlink(join(ROOT, 'node_modules', name), link, 'dir');
  }
  await writeFile(join(installFolder, 'package.json'), '{ "type": "module" }');

  clientFolder = folder.path('client-user');
  await cp(installed, join(clientFolder, 'node_modules', 'notigraph'), { recursive: true });
  await symlink(join(ROOT, 'node_modules', 'graphql'), join(clientFolder, 'node_modules', 'graphql'), 'dir');
  await writeFile(join(clientFolder, 'package.json'), '{ "type": "module" }');
});

afterAll(() => folder[Symbol.asyncDispose]());

/** Builds and packs a copy of the project, which leaves the project unchanged. @returns the path of the tarball */
async function pack(): Promise<string> {
  await using copy = await copyProject();
  await run('npm', ['pack', '--offline', '--pack-destination', folder.path()], { cwd: copy.path() });
  return folder.path(`notigraph-${VERSION}.tgz`);
}

it('contains the program and the files it reads, but no sources', async () => {
  const root = join(installFolder, 'node_modules', 'notigraph');
  expect(await readdir(root)).toEqual(expect.arrayContaining(['README.md', 'LICENSE', 'bin', 'dist', 'schema']));
  const files = await readdir(root, { recursive: true });
  expect(files).toContain(join('schema', 'schema.graphql'));
  expect(files.filter((file) => /(^|[^d])\.ts$/.test(file) && !file.endsWith('.d.ts'))).toEqual([]);
  expect(files.filter((file) => /test|\.db|\.env|\.tgz/.test(file))).toEqual([]);
});

it('includes the notigraph command', async () => {
  const ending = await runNotigraph({ main: bin, cwd: installFolder, args: ['--version'] });
  expect(ending).toEqual({ code: 0, signal: null, stdout: `${VERSION}\n`, stderr: '' });
});

it('starts with its sandbox and GraphiQL', async () => {
  await using notigraph = await startNotigraph({ main: bin, cwd: installFolder });
  const response = await sendOperation(notigraph.url, '{ notificationGroups { name } }');
  expect(JSON.stringify(response)).toBe(GROUPS);
  const page = await fetch(notigraph.url, { headers: { accept: 'text/html' } });
  expect(await page.text()).toContain('query NotificationGroups');
  expect(await notigraph.stop('SIGTERM')).toMatchObject({ code: 0 });
});

it.each([
  ['a server with another route', SERVER_PROGRAM, `well\n${GROUPS}\n`],
  ['a program without a server', FETCH_PROGRAM, `${GROUPS}\n`],
])('can be mounted in %s', async (_title, program, output) => {
  await using sandbox = await startSandbox();
  await writeFile(join(installFolder, 'program.js'), program);
  const { stdout, stderr } = await run(process.execPath, ['program.js', sandbox.url], {
    cwd: installFolder,
    timeout: 20_000,
  });
  expect(stderr).toBe('');
  const isLog = /^\{"level":/;
  expect(
    stdout
      .split('\n')
      .filter((line) => !isLog.test(line))
      .join('\n'),
  ).toBe(output);
});

it('has a client without the dependencies of the gateway', async () => {
  const client = join(installFolder, 'node_modules', 'notigraph', 'dist', 'client');
  await cp(client, folder.path('client-only', 'node_modules', 'notigraph'), { recursive: true });
  await writeFile(
    folder.path('client-only', 'node_modules', 'notigraph', 'package.json'),
    '{ "type": "module", "exports": { "./client": "./index.js" } }',
  );
  await writeFile(folder.path('client-only', 'program.mjs'), CLIENT_PROGRAM);
  await writeFile(join(clientFolder, 'program.js'), CLIENT_PROGRAM);
  await using notigraph = await startNotigraph({ main: bin, cwd: installFolder });

  // Runs the installed client, and a copy of only the client's files.
  for (const program of [join(clientFolder, 'program.js'), folder.path('client-only', 'program.mjs')]) {
    const { stdout, stderr } = await run(process.execPath, [program, notigraph.url], { timeout: 20_000 });
    expect({ stdout, stderr }).toEqual({
      stdout: '["Lifecycle","Community","Billing","Orders"] undefined\n',
      stderr: '',
    });
  }
});

it('has a client of which a bundle contains only what the app uses', async () => {
  const entry = join(clientFolder, 'app.js');
  await writeFile(
    entry,
    "import { createClient, NotificationGroupsDocument } from 'notigraph/client'; console.log(createClient, NotificationGroupsDocument);",
  );
  const built = await build({
    root: clientFolder,
    configFile: false,
    logLevel: 'error',
    build: { write: false, rolldownOptions: { input: entry } },
  });
  const code = JSON.stringify(built);
  const words = ['NotificationGroups', 'DeleteFeed', 'idOrIdentifier', 'InvalidInputError'];
  expect(words.filter((word) => code.includes(word))).toEqual(['NotificationGroups']);
});

it.each([
  ['a bundled browser app', ['--module', 'esnext', '--moduleResolution', 'bundler', '--lib', 'es2022,dom']],
  [
    'a program for Node.js',
    ['--module', 'nodenext', '--types', 'node', '--typeRoots', join(ROOT, 'node_modules', '@types')],
  ],
])('has a client with types that compile in %s', async (_title, options) => {
  await writeFile(join(clientFolder, 'program.ts'), TYPED_CLIENT_PROGRAM);
  const tsc = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
  const strict = [
    '--noEmit',
    '--strict',
    '--noUncheckedIndexedAccess',
    '--exactOptionalPropertyTypes',
    '--target',
    'es2022',
  ];
  const { status, stdout } = spawnSync(process.execPath, [tsc, ...strict, ...options, 'program.ts'], {
    cwd: clientFolder,
    encoding: 'utf8',
  });
  expect({ status, stdout }).toEqual({ status: 0, stdout: '' });
});

it('has types that compile in a strict program', async () => {
  await writeFile(join(installFolder, 'program.ts'), TYPED_PROGRAM);
  const tsc = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
  const options = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2022', '--types', 'node'];
  const { status, stdout } = spawnSync(process.execPath, [tsc, ...options, 'program.ts'], {
    cwd: installFolder,
    encoding: 'utf8',
  });
  expect(status).not.toBeNull();
  // Ignores errors in the types of other packages, which most programs skip.
  expect(stdout.split('\n').filter((line) => /^(program\.ts|node_modules\/notigraph\/)/.test(line))).toEqual([]);
});

it.each([
  ['20.20.2', false],
  ['22.18.9', false],
  ['22.19.0', true],
  ['23.0.0', true],
])('checks the version of Node.js: %s', async (version, isEnough) => {
  const pretend = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${version}' } })`;
  const args = ['--import', `data:text/javascript,${encodeURIComponent(pretend)}`, bin, '--version'];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  const refusal = `Notigraph needs Node 22.19 or newer; this is v${version}.\n`;
  expect({ status, stdout, stderr }).toEqual(
    isEnough ? { status: 0, stdout: `${VERSION}\n`, stderr: '' } : { status: 1, stdout: '', stderr: refusal },
  );
});

const OLD_NODE = findOldNode();

// Runs only if an old version is installed; the test above simulates the versions.
if (OLD_NODE !== undefined) {
  it('reports that an installed old Node.js is too old', () => {
    const { status, stdout, stderr } = spawnSync(OLD_NODE, [bin, '--version'], { encoding: 'utf8' });
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toMatch(/^Notigraph needs Node 22\.19 or newer; this is v[\d.]+\.\n$/);
  });
}

/** Returns the first Node.js on the PATH that is too old. */
function findOldNode(): string | undefined {
  return (process.env.PATH ?? '')
    .split(delimiter)
    .map((directory) => join(directory, 'node'))
    .find((node) => {
      const [, major, minor] =
        /^v(\d+)\.(\d+)/.exec(spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout ?? '') ?? [];
      return major !== undefined && Number(major) + Number(minor) / 100 < 22.19;
    });
}
