import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, cp, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { parse } from 'yaml';
import manifest from '../../package.json' with { type: 'json' };
import { environmentOfImage, readDockerfile, readKit } from '../support/deploy.ts';
import { ROOT } from '../support/docs.ts';
import { findFreePort } from '../support/listen.ts';
import { createTemporaryFolder } from '../support/sandbox-files.ts';
import { sendOperation } from '../support/send-operation.ts';

const run = promisify(execFile);

/** User of the container, and group. */
const USER = 65_532;

const NODE = '/nodejs/bin/node';

/** Prevents load shedding on a busy machine. */
const QUIET = { NOTIGRAPH_MAX_EVENT_LOOP_DELAY_MS: '60000' };

/** Configuration that needs the packages outside of the bundle. */
const CONFIG = "{ sandbox: ':memory:', rateLimits: { store: { redis: { url: 'redis://127.0.0.1:9' } } } }";

/** Files that the build can see. */
const context = readKit('Dockerfile.dockerignore')
  .split('\n')
  .flatMap((line) => /^!(.+)$/.exec(line)?.[1] ?? []);

let folder: Awaited<ReturnType<typeof createTemporaryFolder>>;

interface Stage {
  /** Folder with what the stage adds to its base image. */
  root: string;
  workdir: string;
  entrypoint: string[];
  healthcheck: string[];
}

const stages = new Map<string, Stage>();

/** Image that is built without `--target`. */
let image: Stage;

/** Replays the Dockerfile: each stage is a folder that is empty at first, or a copy of the stage it begins with. */
beforeAll(async () => {
  folder = await createTemporaryFolder();
  await chmod(folder.path(), 0o755); // The user of the image must reach it.
  for (const { name, text } of readDockerfile()) {
    const args = text.split(' ');
    switch (name) {
      case 'FROM':
        image = await startStage(args[0] ?? '', args[2] ?? 'image');
        break;
      case 'WORKDIR':
        image.workdir = text;
        await mkdir(join(image.root, text), { recursive: true });
        break;
      case 'COPY':
        await copy(args);
        break;
      case 'RUN':
        await run('sh', ['-c', text.replace(/^--mount=\S+ /, '')], {
          cwd: join(image.root, image.workdir),
          env: { ...process.env, npm_config_prefer_offline: 'true' },
          maxBuffer: 10_000_000,
        });
        break;
      case 'ENTRYPOINT':
        image.entrypoint = JSON.parse(text);
        break;
      case 'HEALTHCHECK':
        image.healthcheck = JSON.parse(text.slice(text.indexOf('[')));
        break;
      case 'ENV':
      case 'EXPOSE':
      case 'LABEL':
      case 'STOPSIGNAL':
        break;
      default:
        throw new Error(`The test can't replay ${name} ${text}`);
    }
  }
  await Promise.all([image, stageOf('tracing'), stageOf('mcp')].map(({ root }) => makeReadOnly(root)));
}, 600_000);

afterAll(() => folder[Symbol.asyncDispose]());

function stageOf(name: string): Stage {
  const stage = stages.get(name);
  if (stage === undefined) {
    throw new Error(`no stage ${name}`);
  }
  return stage;
}

/** Starts a stage with what another stage contains, or empty. */
async function startStage(from: string, name: string): Promise<Stage> {
  const root = folder.path(name);
  const base = stages.get(from);
  const stage: Stage = { ...(base ?? { workdir: '/', entrypoint: [], healthcheck: [] }), root };
  if (base !== undefined) {
    await cp(base.root, root, { recursive: true });
  }
  stages.set(name, stage);
  return stage;
}

/** Copies files from the context or from another stage. */
async function copy(args: readonly string[]): Promise<void> {
  const [, stage] = /^--from=(.*)/.exec(args[0] ?? '') ?? [];
  const paths = args.slice(stage === undefined ? 0 : 1);
  const target = paths.at(-1) ?? '';
  for (const source of paths.slice(0, -1)) {
    if (stage === undefined && !context.includes(source)) {
      throw new Error(`Dockerfile.dockerignore excludes ${source}`);
    }
    const from = join(stage === undefined ? ROOT : stageOf(stage).root, source);
    const isInto = target.endsWith('/') && (await stat(from)).isFile();
    const to = target.startsWith('/') ? target : join(image.workdir, target);
    await cp(from, join(image.root, to, isInto ? basename(source) : ''), { recursive: true });
  }
}

/** Removes everybody's permission to write. Node.js itself is not in the image's folder. */
async function makeReadOnly(path: string): Promise<void> {
  const { mode } = await stat(path);
  await chmod(path, (mode & 0o555) | 0o444);
  for (const entry of await readdir(path, { withFileTypes: true, recursive: true })) {
    const file = join(entry.parentPath, entry.name);
    await chmod(file, entry.isDirectory() ? 0o555 : 0o444);
  }
}

/** Starts a command of the image as its user, by default in the image's working directory. */
function start(
  { root, workdir }: Stage,
  [program, ...args]: readonly string[],
  env: Record<string, string>,
  cwd = join(root, workdir),
) {
  expect(program).toBe(NODE);
  const isRoot = process.getuid?.() === 0;
  const child = spawn(
    process.execPath,
    args.map((arg) => (arg.startsWith('/') ? join(root, arg) : arg)),
    {
      cwd,
      env: {
        PATH: process.env.PATH,
        ...environmentOfImage(),
        NOTIGRAPH_HOST: '127.0.0.1',
        NOTIGRAPH_ADMIN_HOST: '127.0.0.1',
        ...QUIET,
        ...env,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
      ...(isRoot && { uid: USER, gid: USER }),
    },
  );
  onTestFinished(() => void child.kill('SIGKILL'));
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  return { child, ended: once(child, 'close').then(([code]) => ({ code, output })) };
}

/** Returns the variables with ports that are free. */
async function freePorts(): Promise<Record<string, string>> {
  const [port, adminPort] = [`${await findFreePort()}`, `${await findFreePort()}`];
  return { NOTIGRAPH_PORT: port, NOTIGRAPH_ADMIN_PORT: adminPort };
}

it.each(['image', 'tracing'])(
  '%s serves as a user who can write nothing, passes its health check, and exits with 0 at SIGTERM',
  async (name) => {
    const stage = stageOf(name);
    const ports = await freePorts();
    const { child, ended } = start(stage, stage.entrypoint, { ...ports, NOTIGRAPH_CONFIG_TEXT: CONFIG });
    const checkHealth = () => start(stage, stage.healthcheck, ports).ended;
    await expect.poll(async () => (await checkHealth()).code, { timeout: 20_000 }).toBe(0);

    const url = `http://127.0.0.1:${ports.NOTIGRAPH_PORT}/graphql`;
    expect(JSON.stringify(await sendOperation(url, '{ notificationGroups { name } }'))).toContain('"Lifecycle"');
    child.kill('SIGTERM');
    const { code, output } = await ended;
    expect({ code, output }).toMatchObject({ code: 0, output: expect.stringContaining('Shutting down') });
    expect(output).not.toMatch(/EACCES|EROFS/);
    expect((await checkHealth()).code).not.toBe(0);
  },
);

/** Configurations of the kit, with the stage that they are mounted in and the variables of the container. */
const KIT: [file: string, stage: string, env: Record<string, string>][] = [
  ['compose/notigraph.config.yaml', 'tracing', parse(readKit('compose.yaml')).services.gateway.environment],
  ['production/notigraph.config.yaml', 'image', { REDIS_URL: 'redis://127.0.0.1:9' }],
];

/** Writes a configuration of the kit, and the mounted tenants' keys, to folders that the user of the image can only read. */
async function mountConfig(file: string): Promise<string> {
  const path = folder.path('mounted', dirname(file));
  const tenants = join(path, 'tenants');
  await mkdir(tenants, { recursive: true });
  await writeFile(join(tenants, 'acme'), 'an-api-key-of-acme');
  await writeFile(join(path, 'notigraph.config.yaml'), readKit(file).replaceAll('/run/secrets/tenants', tenants));
  return path;
}

describe.each(KIT)('with %s, the stage %s', (file, name, env) => {
  const isSandbox = parse(readKit(file)).sandbox !== undefined;

  it('is valid, and serves the page of the endpoint and queries', async () => {
    const stage = stageOf(name);
    const cwd = await mountConfig(file);
    const variables = { ...env, ...(await freePorts()) };
    const check = await start(stage, [...stage.entrypoint, 'check'], variables, cwd).ended;
    expect(check).toEqual({ code: 0, output: expect.stringContaining('notigraph.config.yaml is valid') });
    expect(check.output).not.toContain('dist/graphiql');

    const { child, ended } = start(stage, stage.entrypoint, variables, cwd);
    const url = `http://127.0.0.1:${variables.NOTIGRAPH_PORT}/graphql`;
    const open = () => Promise.race([fetch(url, { headers: { accept: 'text/html' } }), ended]);
    await expect.poll(() => open().catch(() => undefined), { timeout: 20_000 }).toBeDefined();
    const page = await open();
    expect(page).toMatchObject({ status: isSandbox ? 200 : 404 }); // GraphiQL is off in production.
    const files = page instanceof Response ? (await page.text()).match(/\?graphiql=[^"]+/g) : undefined;
    expect(files?.length ?? 0).toBe(isSandbox ? 2 : 0);
    for (const path of files ?? []) {
      expect(await fetch(new URL(path, url))).toMatchObject({ status: 200 });
    }

    const response = await sendOperation(url, isSandbox ? '{ notificationGroups { name } }' : '{ __typename }');
    expect(JSON.stringify(response)).toContain(isSandbox ? '"Lifecycle"' : '"Query"');
    child.kill('SIGTERM');
    expect(await ended).toMatchObject({ code: 0 });
  });
});

it('every configuration in the kit is started above', async () => {
  const files = (await readdir(join(ROOT, 'deploy'), { recursive: true })).filter((file) =>
    basename(file).startsWith('notigraph.config.'),
  );
  expect(KIT.map(([file]) => join(file)).toSorted()).toEqual(files.toSorted());
});

it('refuses to start without a configuration, with an exit code and a reason', async () => {
  const { code, output } = await start(image, image.entrypoint, {}).ended;
  expect({ code, output }).toEqual({ code: 2, output: expect.stringContaining('No upstream is configured.') });
});

it('mcp serves tools for AI agents', async () => {
  const stage = stageOf('mcp');
  const ports = await freePorts();
  const { child } = start(stage, stage.entrypoint, {
    ...ports,
    NOTIGRAPH_CONFIG_TEXT: "{ sandbox: ':memory:', mcp: {} }",
  });
  const list = () =>
    fetch(`http://127.0.0.1:${ports.NOTIGRAPH_PORT}/mcp`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        authorization: 'ApiKey sandbox-development-key',
      },
      body: '{"jsonrpc":"2.0","id":1,"method":"tools/list"}',
    }).then((response) => response.text());
  await expect.poll(() => list().catch(() => ''), { timeout: 20_000 }).toContain('"readOnlyHint":true');
  child.kill('SIGTERM');
});

it('adds at most 25 MB to its base, which leaves it below 200 MB', async () => {
  const files = await readdir(image.root, { recursive: true, withFileTypes: true });
  const sizes = await Promise.all(
    files.filter((file) => file.isFile()).map(({ parentPath, name }) => stat(join(parentPath, name))),
  );
  const megabytes = sizes.reduce((sum, { size }) => sum + size, 0) / 1e6;
  console.log(`${megabytes.toFixed(1)} MB`);
  expect(megabytes).toBeLessThan(25);
});

it('has the version of the package in its labels', () => {
  const labels = readDockerfile().find(({ name }) => name === 'LABEL');
  expect(labels?.text).toContain(`org.opencontainers.image.version="${manifest.version}"`);
});

it('contains an SBOM with exactly the packages in its bundles and folders', async () => {
  const app = join(image.root, 'app');
  const { components } = JSON.parse(await readFile(join(app, 'sbom.cdx.json'), 'utf8'));
  const listed: string[] = components.map((component: { purl: string }) =>
    decodeURIComponent(component.purl.replace('pkg:npm/', '')),
  );
  const contained = await Promise.all(
    ['cli', 'graphiql'].map(async (bundle) => {
      const text = await readFile(join(app, 'dist', bundle, 'third-party-licenses.md'), 'utf8');
      return [...text.matchAll(/^## (\S+) - (\d[^ ]*) \(/gm)].map(([, name, version]) => `${name}@${version}`);
    }),
  );
  const folders = (await readdir(join(app, 'node_modules'), { recursive: true }))
    .filter((file) => /^(?:@[^/]+\/)?[^@/]+\/package\.json$/.test(file))
    .map(dirname);
  const installed = await Promise.all(
    folders.map(async (name) => {
      const { version } = JSON.parse(await readFile(join(app, 'node_modules', name, 'package.json'), 'utf8'));
      return `${name}@${version}`;
    }),
  );
  expect(installed.length).toBeGreaterThan(1);
  expect(listed.toSorted()).toEqual([...new Set([...contained.flat(), ...installed])].toSorted());
  const production = Object.keys(manifest.dependencies);
  expect(production.filter((name) => !listed.some((each) => each.startsWith(`${name}@`)))).toEqual([]);
});
