import { execFile, spawnSync } from 'node:child_process';
import { cp, mkdir, readdir, readFile, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startNotigraph } from '../support/process.ts';
import { copyProject } from '../support/project-copy.ts';
import { createTemporaryFolder } from '../support/sandbox-files.ts';
import { sendOperation } from '../support/send-operation.ts';
import { packProject, refusalOf } from './packed-project.ts';

const run = promisify(execFile);

const REDIS_CONFIG = `
rateLimits: { store: { redis: { url: "redis://127.0.0.1:9" } } }
clients: { server: { rateLimit: { calls: 5, perSeconds: 60 } } }
`;

let folder: Awaited<ReturnType<typeof createTemporaryFolder>>;
/** Empty folder in which the packed package was installed. */
let app: string;
let tarball: string;
let bin: string;
let warnings: string;

beforeAll(async () => {
  folder = await createTemporaryFolder();
  ({ gateway: tarball } = await packProject(folder.path()));
  app = folder.path('app');
  warnings = await install(app, tarball, '--omit=dev');
  bin = join(app, 'node_modules', 'notigraph', 'bin', 'notigraph.js');
}, 300_000);

afterAll(() => folder[Symbol.asyncDispose]());

/** Installs packages, also from the registry. @returns the warnings */
async function install(into: string, ...packages: string[]): Promise<string> {
  await mkdir(into, { recursive: true });
  await writeFile(join(into, 'package.json'), '{ "type": "module" }', { flag: 'a' });
  const { stderr } = await run('npm', ['install', '--no-audit', '--no-fund', ...packages], { cwd: into });
  return stderr;
}

const versionOf = async (path: string): Promise<string> =>
  JSON.parse(await readFile(join(path, 'package.json'), 'utf8')).version;

describe('the packed package, installed in an empty folder', () => {
  it('has no scripts, which npm would warn of', () => {
    expect(warnings).not.toContain('notigraph@');
  });

  it('takes up at most 60 packages and 55 MB, of which graphql 17 has 11', async () => {
    const { stdout } = await run('npm', ['ls', '--all', '--parseable'], { cwd: app });
    const packages = stdout.trim().split('\n').slice(1); // The first one is the folder.
    const files = await readdir(join(app, 'node_modules'), { recursive: true, withFileTypes: true });
    let bytes = 0;
    for (const { parentPath, name } of files) {
      const { blocks } = await stat(join(parentPath, name));
      bytes += blocks * 512;
    }
    const megabytes = bytes / 2 ** 20;
    console.log(`${packages.length} packages, ${megabytes.toFixed(1)} MB`);
    expect(packages.length).toBeLessThanOrEqual(60);
    expect(megabytes).toBeLessThanOrEqual(55);
    expect(packages.length).toBeGreaterThan(20);
  });

  it('serves the sandbox from several workers, with compiled code from the last start', async () => {
    for (const workers of ['1', '2']) {
      await using notigraph = await startNotigraph({ main: bin, cwd: app, args: ['--workers', workers] });
      const response = await sendOperation(notigraph.url, '{ notificationGroups { name } }');
      expect(JSON.stringify(response)).toContain('"Lifecycle"');
      expect(await notigraph.stop('SIGTERM')).toMatchObject({ code: 0, stderr: '' });
    }
  });

  it('starts with rate limits in Redis after its client has been installed', async () => {
    await run('npm', ['install', '@redis/client@6'], { cwd: app });
    await using notigraph = await startNotigraph({ main: bin, cwd: app, env: { NOTIGRAPH_CONFIG_TEXT: REDIS_CONFIG } });
    expect(await sendOperation(notigraph.url, '{ notificationGroups { name } }')).toHaveProperty('data');
    expect(await notigraph.stop('SIGTERM')).toMatchObject({ code: 0, stderr: '' });
  });

  it.each(['22.19', '26'])('serves with Node.js %s', async (version) => {
    const other = folder.path(`node-${version}`);
    await install(other, `node@${version}`);
    const node = join(other, 'node_modules', '.bin', 'node');
    await using notigraph = await startNotigraph({ main: bin, cwd: app, node });
    expect(await sendOperation(notigraph.url, '{ notificationGroups { name } }')).toHaveProperty('data');
    const program = "import { createGateway } from 'notigraph'; console.log(typeof createGateway, process.version);";
    const { stdout } = await run(node, ['--input-type=module', '--eval', program], { cwd: app });
    expect(stdout).toContain(`function v${version}`);
    const { code, stderr } = await notigraph.stop('SIGTERM');
    // Node.js 22 says that SQLite, which the sandbox uses, is experimental.
    expect([code, stderr.replace(/^.* ExperimentalWarning: SQLite .*\n.*\n/, '')]).toEqual([0, '']);
  });

  it('works with the lowest version of graphql that it permits, and with the latest', async () => {
    for (const version of ['16.12.0', '17']) {
      const host = folder.path(`graphql-${version}`);
      await install(host, tarball, `graphql@${version}`);
      expect(await versionOf(join(host, 'node_modules', 'graphql'))).toMatch(version);
      const main = join(host, 'node_modules', 'notigraph', 'bin', 'notigraph.js');
      await using notigraph = await startNotigraph({ main, cwd: host });
      const operation = '{ workflow(idOrIdentifier: 12345678901234567890) { id } notificationGroups { name } }';
      expect(await sendOperation(notigraph.url, operation)).toMatchObject({
        data: { workflow: null, notificationGroups: expect.arrayContaining([{ name: 'Lifecycle' }]) },
      });
    }
  });

  it('reports two copies of graphql, and a version that is too old, with their paths', async () => {
    const host = folder.path('copies');
    const old = folder.path('graphql-16.8.1');
    await install(host, tarball, 'graphql@17');
    await install(old, 'graphql@16.8.1');
    const start = () =>
      spawnSync(process.execPath, ['node_modules/notigraph/bin/notigraph.js'], { cwd: host, encoding: 'utf8' });
    const own = await realpath(join(host, 'node_modules', 'graphql'));
    const other = join(dirname(own), '@pothos', 'core', 'node_modules', 'graphql');
    await cp(join(old, 'node_modules', 'graphql'), other, { recursive: true });
    expect(start()).toMatchObject({
      status: 1,
      stdout: '',
      stderr: `Notigraph and @pothos/core use two copies of graphql: ${own} (${await versionOf(own)}) and ${other} (16.8.1). Make your project depend on one version, with "npm install graphql@17" and then "npm dedupe".\n`,
    });

    await rm(own, { recursive: true });
    await rename(other, own);
    expect(start()).toMatchObject({
      status: 1,
      stdout: '',
      stderr: `Notigraph requires graphql 16.12 or later, or 17; ${own} is 16.8.1. Run "npm install graphql@17" in your project.\n`,
    });
  });

  it.each(['18', '20'])('reports with Node.js %s which version it requires', async (version) => {
    const old = folder.path(`node-${version}`);
    await install(old, `node@${version}`);
    const node = join(old, 'node_modules', '.bin', 'node');
    const start = (...args: string[]) => spawnSync(node, args, { cwd: app, encoding: 'utf8' });
    const refusal = refusalOf(start('--version').stdout.trim().slice(1));
    expect(start(bin)).toMatchObject({ status: 1, stdout: '', stderr: `${refusal}\n` });
    expect(start('--input-type=module', '--eval', "import 'notigraph'").stderr).toContain(`Error: ${refusal}\n`);
    expect(start('--eval', "require('notigraph')").stderr).toContain(`Error: ${refusal}\n`);
    await using clone = await copyProject();
    expect(start(clone.path('bin', 'notigraph.js'))).toMatchObject({
      status: 1,
      stdout: '',
      stderr: expect.stringMatching(/^A clone of Notigraph needs Node\.js 24, .+ Run "npm ci", then "npm start" .+\n$/),
    });
  });
});

it('can be installed from a git repository', { timeout: 600_000 }, async () => {
  await using copy = await copyProject();
  const git = (...args: string[]) =>
    run('git', ['-c', 'user.name=a', '-c', 'user.email=a@localhost', ...args], { cwd: copy.path() });
  await git('init', '--quiet');
  await git('add', '--', '.');
  await git('commit', '--quiet', '--message', 'Copy');
  const host = folder.path('git');
  expect(await install(host, `git+file://${copy.path()}`, '--omit=dev')).not.toContain('notigraph@');
  const main = join(host, 'node_modules', 'notigraph', 'bin', 'notigraph.js');
  await using notigraph = await startNotigraph({ main, cwd: host });
  expect(await sendOperation(notigraph.url, '{ notificationGroups { name } }')).toHaveProperty('data');
  await writeFile(
    join(host, 'program.js'),
    "import { createGateway } from 'notigraph'; console.log(typeof createGateway);",
  );
  expect((await run(process.execPath, ['program.js'], { cwd: host })).stdout).toBe('function\n');
});
