import { execFile, spawnSync } from 'node:child_process';
import { cp, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'vite';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { VERSION } from '../../src/lib/installation.ts';
import { runNotigraph, startNotigraph } from '../support/process.ts';
import { createTemporaryFolder } from '../support/sandbox-files.ts';
import { sendOperation } from '../support/send-operation.ts';
import { packProject, refusalOf } from './packed-project.ts';
import {
  CLIENT_PROGRAM,
  MOCKS_PROGRAM,
  MODULES_PROGRAM,
  PLUGIN_PROGRAM,
  PUBLISHED_MODULE,
  PUBLISHED_MODULE_USER,
  TESTING_PROGRAM,
  TYPED_CLIENT_PROGRAM,
  TYPED_MODULES_PROGRAM,
  TYPED_PROGRAM,
  TYPED_TESTING_PROGRAM,
} from './programs.ts';

const run = promisify(execFile);

const ROOT = fileURLToPath(new URL('../..', import.meta.url)).slice(0, -1);

/** Response that the programs receive. */
const GROUPS =
  '{"data":{"notificationGroups":[{"name":"Lifecycle"},{"name":"Community"},{"name":"Billing"},{"name":"Orders"}]}}';

const LOADING = [
  ['module', "import 'notigraph'"],
  ['commonjs', "require('notigraph')"],
  ['module', "import 'notigraph/testing'"],
  ['commonjs', "require('notigraph/testing')"],
] as const;

/** Runs Node.js in the folder with the package. */
function runSync(node: string, args: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(node, args, { cwd: installFolder, encoding: 'utf8' });
  return { status, stdout, stderr };
}

/** Runs a program of a user. @returns what it prints */
async function outputOf(cwd: string, ...args: string[]) {
  const { stdout, stderr } = await run(process.execPath, args, { cwd, timeout: 60_000 });
  return { stdout, stderr };
}

const TYPES = ['--types', 'node', '--typeRoots', join(ROOT, 'node_modules', '@types')];

/** Compiles programs strictly, with a compiler of this project. @returns the errors */
function compile(cwd: string, options: readonly string[], compiler = 'typescript'): string {
  const tsc = join(ROOT, 'node_modules', compiler, 'bin', 'tsc');
  const args = [tsc, '--noEmit', '--strict', '--target', 'es2022', ...options];
  const { status, stdout } = spawnSync(process.execPath, args, { cwd, encoding: 'utf8' });
  expect(status).not.toBeNull();
  return stdout;
}

let folder: Awaited<ReturnType<typeof createTemporaryFolder>>;
/** Folder with only the package and its dependencies. */
let installFolder: string;
let bin: string;
/** Folder with only the package and graphql, without the dependencies of the gateway. */
let clientFolder: string;
/** Folder with only the client's own package. */
let ownClient: string;

beforeAll(async () => {
  folder = await createTemporaryFolder();
  installFolder = folder.path('user');
  const installed = join(installFolder, 'node_modules', 'notigraph');
  bin = join(installed, 'bin', 'notigraph.js');
  await mkdir(installed, { recursive: true });
  const packed = await packProject(folder.path());
  await run('tar', ['-xzf', packed.gateway, '-C', installed, '--strip-components=1']);

  const { dependencies } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'));
  for (const name of [...Object.keys(dependencies), 'graphql', '@types/node']) {
    const link = join(installFolder, 'node_modules', name);
    await mkdir(dirname(link), { recursive: true });
    await symlink(join(ROOT, 'node_modules', name), link, 'dir');
  }
  await writeFile(join(installFolder, 'package.json'), '{ "type": "module" }');

  ownClient = folder.path('own-client');
  const ownPackage = join(ownClient, 'node_modules', '@notigraph', 'client');
  await mkdir(ownPackage, { recursive: true });
  await run('tar', ['-xzf', packed.client, '-C', ownPackage, '--strip-components=1']);

  clientFolder = folder.path('client-user');
  await cp(installed, join(clientFolder, 'node_modules', 'notigraph'), { recursive: true });
  await symlink(join(ROOT, 'node_modules', 'graphql'), join(clientFolder, 'node_modules', 'graphql'), 'dir');
  await writeFile(join(clientFolder, 'package.json'), '{ "type": "module" }');
});

afterAll(() => folder[Symbol.asyncDispose]());

it('contains the program and the files it reads, but no sources', async () => {
  const root = join(installFolder, 'node_modules', 'notigraph');
  const folders = ['README.md', 'LICENSE', 'bin', 'dist', 'docs', 'schema'];
  expect(await readdir(root)).toEqual(expect.arrayContaining(folders));
  const files = await readdir(root, { recursive: true });
  expect(files).toEqual(
    expect.arrayContaining([
      join('schema', 'schema.graphql'),
      join('schema', 'subgraph.graphql'),
      join('schema', 'config.schema.json'),
    ]),
  );
  expect(files.filter((file) => /(^|[^d])\.ts$/.test(file) && !file.endsWith('.d.ts'))).toEqual([]);
  expect(files.filter((file) => /\.test\.|(?:^|[\\/])test[\\/]|\.db|\.env|\.tgz/.test(file))).toEqual([]);
});

it('has the manifest of the project without its scripts', async () => {
  const packed = await readFile(join(installFolder, 'node_modules', 'notigraph', 'package.json'), 'utf8');
  const { scripts, ...manifest } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'));
  expect(JSON.parse(packed)).toEqual(manifest);
  expect(scripts).toHaveProperty('prepare');
});

it('contains the license of every package in its bundles, but not of graphql', async () => {
  const licenses = await readFile(
    join(installFolder, 'node_modules', 'notigraph', 'dist', 'cli', 'third-party-licenses.md'),
    'utf8',
  );
  const names = [...licenses.matchAll(/^## (\S+) - /gm)].map(([, name]) => name);
  expect(names).toEqual(
    expect.arrayContaining(['@pothos/core', 'ajv', 'graphql-yoga', 'openapi-backend', 'undici', 'zod']),
  );
  expect(names.filter((name) => name === 'graphql' || name === '@redis/client')).toEqual([]);
  expect(licenses.match(/Copyright/g)?.length).toBeGreaterThan(names.length / 2);
});

it('starts with its sandbox and GraphiQL', async () => {
  await using notigraph = await startNotigraph({ main: bin, cwd: installFolder });
  const response = await sendOperation(notigraph.url, '{ notificationGroups { name } }');
  expect(JSON.stringify(response)).toBe(GROUPS);
  const page = await (await fetch(notigraph.url, { headers: { accept: 'text/html' } })).text();
  expect(page).toContain('query NotificationGroups');
  const [script = ''] = /\?graphiql=[^"]+\.js/.exec(page) ?? [];
  expect(await fetch(`${notigraph.url}${script}`)).toMatchObject({ status: 200 });
  expect(await notigraph.stop('SIGTERM')).toMatchObject({ code: 0 });
});

it('names the command that installs the client of Redis', async () => {
  const config = 'rateLimits: { store: { redis: { url: "redis://127.0.0.1:9" } } }';
  const env = { NOTIGRAPH_CONFIG_TEXT: config };
  expect(await runNotigraph({ main: bin, cwd: installFolder, args: ['--port', '0'], env })).toEqual({
    code: 2,
    signal: null,
    stdout: '',
    stderr:
      'NOTIGRAPH_CONFIG_TEXT:1:15: rateLimits.store: Redis needs the package @redis/client. Install it with "npm install @redis/client@6".\n',
  });
});

it.each([
  [
    'is the same with `require` and `import`, and shares graphql with the plugins of a host',
    'plugin.cjs',
    PLUGIN_PROGRAM,
    "[ 'ERROR_CODES', 'createGateway' ] true\nstopped SAME\n",
  ],
  [
    'has a gateway for tests, which only that part loads with its database',
    'testing.js',
    TESTING_PROGRAM,
    'false true Billing UPSTREAM_TIMEOUT 4\ntrue function\n',
  ],
  [
    'has modules, and an interface for those of users',
    'modules.js',
    MODULES_PROGRAM,
    '{"data":{"latest":null,"__type":{"name":"TriggeredEvent"}}}\n',
  ],
])('%s', async (_, file, program, stdout) => {
  await writeFile(join(installFolder, file), program);
  expect(await outputOf(installFolder, '--disable-warning=ExperimentalWarning', file)).toEqual({ stdout, stderr: '' });
});

it('has a client without the dependencies of the gateway', async () => {
  const ofOwnPackage = (program: string) => program.replace("'notigraph/client'", "'@notigraph/client'");
  await writeFile(join(ownClient, 'program.mjs'), ofOwnPackage(CLIENT_PROGRAM));
  await writeFile(join(clientFolder, 'program.mjs'), CLIENT_PROGRAM);
  await using notigraph = await startNotigraph({ main: bin, cwd: installFolder });

  for (const user of [clientFolder, ownClient]) {
    expect(await outputOf(user, 'program.mjs', notigraph.url)).toEqual({
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
  const words = ['NotificationGroups', 'DeleteFeed', 'TriggerEvent', 'idOrIdentifier', 'InvalidInputError'];
  expect(words.filter((word) => code.includes(word))).toEqual(['NotificationGroups']);
});

it('has a client whose folder contains all of it, so that it can be served as it is', async () => {
  const folder = join(clientFolder, 'node_modules', 'notigraph', 'dist', 'library', 'client');
  const files = (await readdir(folder)).filter((name) => name.endsWith('.js'));
  const texts = await Promise.all(files.map((name) => readFile(join(folder, name), 'utf8')));
  expect(texts.join('\n')).toContain('NotificationGroups');
  expect(texts.filter((text) => /(?:from|import)\s*["']\.\.\//.test(text))).toEqual([]);
});

it.each([
  ['a bundled browser app', ['--module', 'esnext', '--moduleResolution', 'bundler', '--lib', 'es2022,dom']],
  ['a program for Node.js', ['--module', 'nodenext', ...TYPES]],
  [
    'a program whose TypeScript resolves modules as before package exports',
    ['--module', 'es2022', '--moduleResolution', 'node10', ...TYPES],
  ],
])('has a client with types that compile in %s', async (_title, options) => {
  await writeFile(join(clientFolder, 'program.ts'), TYPED_CLIENT_PROGRAM);
  const strict = ['--noUncheckedIndexedAccess', '--exactOptionalPropertyTypes'];
  expect(compile(clientFolder, [...strict, ...options, 'program.ts'])).toBe('');
});

it('has mocks for msw that run, and compile, without the dependencies of the gateway', async () => {
  await symlink(join(ROOT, 'node_modules', 'msw'), join(clientFolder, 'node_modules', 'msw'), 'dir');
  await writeFile(join(clientFolder, 'mocks.js'), MOCKS_PROGRAM);
  await writeFile(join(clientFolder, 'mocks.ts'), MOCKS_PROGRAM);
  expect(await outputOf(clientFolder, 'mocks.js')).toEqual({ stdout: '503 OVERLOADED\n', stderr: '' });
  expect(compile(clientFolder, ['--skipLibCheck', '--module', 'nodenext', ...TYPES, 'mocks.ts'])).toBe('');
});

it.each(['typescript', 'typescript-7'])('has types that compile in a strict program: %s', async (compiler) => {
  await writeFile(join(installFolder, 'program.ts'), TYPED_PROGRAM);
  await writeFile(join(installFolder, 'testing.ts'), TYPED_TESTING_PROGRAM);
  await writeFile(join(installFolder, 'modules.ts'), TYPED_MODULES_PROGRAM);
  const files = ['program.ts', 'testing.ts', 'modules.ts'];
  const errors = compile(installFolder, ['--module', 'nodenext', '--types', 'node', ...files], compiler).split('\n');
  // Ignores errors in the types of other packages, which most programs skip.
  expect(errors.filter((line) => /^(?:(?:program|testing|modules)\.ts|node_modules\/notigraph\/)/.test(line))).toEqual(
    [],
  );
});

it.each(['typescript', 'typescript-7'])(
  'has types for a module that is published with its own: %s',
  async (compiler) => {
    const options = ['--skipLibCheck', '--exactOptionalPropertyTypes', '--module', 'nodenext', ...TYPES];
    await writeFile(join(installFolder, 'badges.ts'), PUBLISHED_MODULE);
    await writeFile(join(installFolder, 'own.ts'), PUBLISHED_MODULE_USER);
    const published = ['--noEmit', 'false', '--declaration', '--outDir', 'published'];
    expect(compile(installFolder, [...options, ...published, 'badges.ts'], compiler)).toBe('');
    const types = await readFile(join(installFolder, 'published', 'badges.d.ts'), 'utf8');
    expect(new Set(types.match(/(?<=import\(")[^"]+/g))).toEqual(
      new Set(['notigraph/modules', 'notigraph/modules/events', 'notigraph/modules/topics']),
    );
    expect(compile(installFolder, [...options, 'own.ts'], compiler)).toBe('');
  },
);

it.each([
  ['18.20.8', false],
  ['22.18.9', false],
  ['22.19.0', true],
  ['23.0.0', true],
])('checks the version of Node.js: %s', async (version, isEnough) => {
  const pretend = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${version}' } })`;
  const as = ['--import', `data:text/javascript,${encodeURIComponent(pretend)}`];
  const start = (...args: string[]) => runSync(process.execPath, [...as, ...args]);
  const refusal = refusalOf(version);
  expect(start(bin, '--version')).toEqual(
    isEnough ? { status: 0, stdout: `${VERSION}\n`, stderr: '' } : { status: 1, stdout: '', stderr: `${refusal}\n` },
  );
  for (const [type, code] of LOADING) {
    const { status, stderr } = start(`--input-type=${type}`, '--eval', code);
    expect([status, stderr.includes(refusal)]).toEqual([isEnough ? 0 : 1, !isEnough]);
  }
});
