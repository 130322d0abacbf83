import { existsSync } from 'node:fs';
import { chmod, lstat, mkdir, readdir, readFile, readlink, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { SHIPPED_MODULES } from '../../../src/modules/shipped.ts';
import { runCommand, startServing } from '../../../test/support/command.ts';
import { load } from '../../../test/support/docs.ts';
import { startTestIssuer } from '../../../test/support/issuer.ts';
import { createTestFolder } from '../../../test/support/sandbox-files.ts';
import { sendOperation } from '../../../test/support/send-operation.ts';
import { SANDBOX_KEYS, startSandbox } from '../../sandbox/src/sandbox.ts';
import { COMMANDS } from '../src/commands/index.ts';
import { writeHelp } from '../src/help.ts';

const CONFIG = 'notigraph.config.yaml';

async function createFolder() {
  const folder = await createTestFolder();
  return { ...folder, cwd: folder.path(), read: (name: string) => readFile(folder.path(name), 'utf8') };
}

/** Runs `notigraph init` without a terminal. */
const run = (cwd: string, ...args: string[]) => runCommand({ cwd, args: ['init', ...args] });

/** Runs `notigraph init` on a terminal, where all lines are typed at once. */
const type = (cwd: string, lines: readonly string[], ...args: string[]) =>
  runCommand({ cwd, args: ['init', ...args], input: { text: lines.map((line) => `${line}\n`).join(''), isTTY: true } });

/** Checks the configuration file of a folder as CI does. */
const check = (cwd: string) => runCommand({ cwd, args: ['check', '--without-secrets', '--strict'] });

const VALID = { code: 0, stdout: expect.stringMatching(/^notigraph\.config\.yaml is valid\.\n/), stderr: '' };

/** Starts a gateway with the configuration of a folder, and sends a query. */
async function ask(cwd: string, authorization: string) {
  await using notigraph = await startServing({ cwd });
  return await sendOperation(notigraph.url, '{ notificationGroups { name } }', {}, authorization);
}

const GROUPS = { data: { notificationGroups: expect.arrayContaining([{ name: 'Billing' }]) } };

it('writes a valid file for the sandbox, and for a service without browsers', async () => {
  const upstream = 'https://notifications.example.com/';
  for (const args of [[], ['--upstream', upstream]]) {
    const { cwd, path, read } = await createFolder();
    expect(await run(cwd, '-y', ...args)).toEqual({
      code: 0,
      signal: null,
      stdout: `Wrote ${CONFIG}. Next steps:\n  npx notigraph check\n  npx notigraph\n`,
      stderr: '',
    });
    expect(existsSync(path('.env.example'))).toBe(false);
    expect(await check(cwd)).toMatchObject(VALID);
    if (args.length === 0) {
      expect(await ask(cwd, `ApiKey ${SANDBOX_KEYS.development}`)).toEqual(GROUPS);
      expect(existsSync(path('.notigraph'))).toBe(true);
    } else {
      expect(load(await read(CONFIG)).upstream).toBe(upstream);
    }
  }
});

it('writes a valid file for browsers, and the names of the variables that it needs', async () => {
  await using service = await startSandbox();
  await using issuer = await startTestIssuer({ claims: { aud: 'app', tenant: 'acme', scope: 'groups:read' } });
  const { cwd, read } = await createFolder();
  const options = ['--issuer', issuer.url, '--audience', 'app', '--tenant', 'acme,birch'];
  expect(
    await run(cwd, '--yes', '--upstream', service.url, ...options, '--origin', 'https://a.example,http://[::1]:5173'),
  ).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Wrote notigraph.config.yaml and .env.example\. /) });
  expect(await check(cwd)).toMatchObject(VALID);
  expect(load(await read(CONFIG)).clients.browser).toMatchObject({
    issuers: [{ issuer: issuer.url, audience: 'app', jwks: issuer.jwks, tenantClaim: 'tenant' }],
    corsOrigins: ['https://a.example', 'http://[::1]:5173'],
  });

  const example = await read('.env.example');
  expect(example.match(/^[^#\n].*$/gm)).toEqual(['LOG_SECRET=', 'TENANT_ACME_KEY=', 'TENANT_BIRCH_KEY=']);
  const unfilled = await runCommand({ cwd, args: ['check'] });
  expect(unfilled.stdout).toMatch(/requires the environment variable TENANT_ACME_KEY, which is not set/);
  const filled = example
    .replace('LOG_SECRET=', '$&a-fake-secret-of-the-log')
    .replace('TENANT_ACME_KEY=', `$&${SANDBOX_KEYS.development}`)
    .replace('TENANT_BIRCH_KEY=', `$&${SANDBOX_KEYS.production}`);
  await writeFile(`${cwd}/.env`, filled);
  expect(await ask(cwd, `Bearer ${issuer.sign()}`)).toEqual(GROUPS);
});

/** Starts a gateway with the configuration of a folder, and triggers an event. */
async function trigger(cwd: string): Promise<unknown> {
  await using notigraph = await startServing({ cwd });
  const mutation = `mutation {
    triggerEvent(input: { event: { workflow: "payment-failed", subscriberIds: ["customer-1001"] } }) {
      ... on TriggerEventSuccess { event { status } }
    }
  }`;
  return await sendOperation(notigraph.url, mutation, {}, `ApiKey ${SANDBOX_KEYS.development}`);
}

const TRIGGERED = { data: { triggerEvent: { event: { status: 'PROCESSED' } } } };

it('lists all shipped modules in its help', () => {
  const help = writeHelp(
    COMMANDS.find(({ name }) => name === 'init'),
    COMMANDS,
  );
  const names = SHIPPED_MODULES.map((name) => name.replace('notigraph/modules/', ''));
  expect(help.replace(/\s+/g, ' ')).toContain(`Modules: ${names.join(', ')}, files, or none.`);
});

it('writes modules with which the first gateway can trigger, and the scopes that read what they add', async () => {
  await using service = await startSandbox();
  const browser = ['--issuer', 'login', '--audience', 'app', '--tenant', 'acme', '--jwks', 'https://a.example/keys'];
  const modules = ['events', 'subscribers'].map((name) => `notigraph/modules/${name}`);
  const byDefault = await createFolder();
  expect(await run(byDefault.cwd, '--yes', '--upstream', service.url)).toMatchObject({ code: 0 });
  expect(load(await byDefault.read(CONFIG)).modules).toEqual(modules);
  expect(await trigger(byDefault.cwd)).toEqual(TRIGGERED);

  const typed = await createFolder();
  const { stdout } = await type(typed.cwd, [service.url, 'topics, ./boxes.mjs, events', 'n']);
  expect(stdout).toContain(' Default: events,subscribers. [events,subscribers]\n');
  expect(stdout).not.toContain('Wrote');
  await writeFile(
    typed.path('boxes.mjs'),
    `import { defineModule } from 'notigraph/modules';
    export default defineModule('boxes', ({ builder, declareCalls, requireScopes }) => {
      const needs = (scope) => ({ ...declareCalls('0'), ...requireScopes(scope) });
      builder.queryField('boxes', (t) => t.int({ extensions: needs('boxes:read'), resolve: () => 7 }));
      builder.queryField('lock', (t) => t.int({ extensions: needs('boxes:write'), resolve: () => 7 }));
    });`,
  );
  await type(
    typed.cwd,
    [service.url, 'topics, ./boxes.mjs, events'],
    ...browser,
    '--tenant-claim',
    'org',
    '--origin',
    'https://app.example',
  );
  const written = load(await typed.read(CONFIG));
  expect(written.modules).toEqual([
    'notigraph/modules/topics',
    expect.stringMatching(/\/boxes\.mjs$/),
    'notigraph/modules/events',
  ]);
  const nouns = ['boxes', 'feeds', 'groups', 'stats', 'subscribers', 'topics', 'workflows'];
  const scopes = nouns.map((noun) => `${noun}:read`);
  expect(written.clients.browser?.scopes, 'add a new noun to the list in this test').toEqual(scopes);
  expect(await check(typed.cwd)).toMatchObject(VALID);

  const without = await createFolder();
  expect(await run(without.cwd, '--yes', '--modules', 'none', ...browser)).toMatchObject({ code: 0 });
  expect(load(await without.read(CONFIG))).toMatchObject({
    modules: [],
    clients: { browser: { scopes: expect.not.arrayContaining(['topics:read']) } },
  });

  const wrong = await createFolder();
  expect(await run(wrong.cwd, '--yes', '--modules', 'event')).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringMatching(/^--modules: .*event/),
  });
  expect(existsSync(wrong.path(CONFIG))).toBe(false);
});

it('asks on a terminal until each answer is valid', async () => {
  const { cwd, read } = await createFolder();
  const { stdout: printed } = await type(cwd, [
    'notifications.example.com',
    'https://notifications.example.com',
    '', // The modules: the default.
    'y',
    '',
    'acme, ../birch',
    'acme',
    'https://login.example.com/',
    'http://login.example.com/keys', // The audience: any text.
    '', // The keys: the default.
    'none',
    'https://app.example.com/',
    'https://app.example.com',
  ]);
  expect(printed).toContain('--upstream must be a URL such as https://notifications.example.com.\n');
  expect(printed).toContain('--tenant must not be empty.\n');
  expect(printed).toContain('--tenant "../birch" is not a valid tenant name; ');
  expect(printed).toContain(' [https://login.example.com/.well-known/jwks.json]\n');
  expect(printed).toContain('--origin must be an origin such as https://app.example.com, ');
  expect(printed).toContain(`Wrote ${CONFIG} and .env.example. `);
  const { upstream, clients } = load(await read(CONFIG));
  expect(upstream).toBe('https://notifications.example.com/');
  expect(clients.browser).toMatchObject({
    issuers: [
      {
        issuer: 'https://login.example.com/',
        audience: 'http://login.example.com/keys',
        jwks: 'https://login.example.com/.well-known/jwks.json',
        tenant: 'acme',
      },
    ],
    corsOrigins: ['https://app.example.com'],
  });
  expect(await check(cwd)).toMatchObject(VALID);
});

it('asks only for what no option says, and writes nothing if the terminal is closed', async () => {
  const { cwd, read, path } = await createFolder();
  const keys = 'https://login.example.com/keys';
  const options = ['--tenant', 'acme', '--audience', 'app', '--jwks', keys, '--origin', 'https://app.example.com'];
  expect((await type(cwd, ['', '', 'login'], ...options)).stderr).toContain('Nothing was written.');
  expect(existsSync(path(CONFIG))).toBe(false);
  expect((await type(cwd, ['', '', 'login', 'org'], ...options)).stdout).not.toContain('Do browsers');
  expect(load(await read(CONFIG)).clients.browser?.issuers).toMatchObject([
    { issuer: 'login', audience: 'app', jwks: keys, tenantClaim: 'org' },
  ]);
  expect(await read('.env.example')).toContain(SANDBOX_KEYS.development);
});

it.each([
  [[], 'There is no terminal to ask. Add --yes. See notigraph init --help.\n'],
  [
    ['--audience', 'app'],
    'There is no terminal to ask. Add --yes, --tenant and --issuer. See notigraph init --help.\n',
  ],
  [['--yes', '--tenant', 'acme', '--issuer', 'login'], 'Add --audience. See notigraph init --help.\n'],
  [
    ['--yes', '--upstream', 'ftp://a', '--tenant', 'a,b', '--issuer', 'x', '--audience', 'y', '--tenant-claim', 'none'],
    `--upstream must begin with http:// or https://.
--jwks must be an https URL (http only on this machine) without user name and password.
--tenant-claim must name a claim, because there are several tenants.
`,
  ],
])('rejects the options %j, without writing anything', async (args, stderr) => {
  const { cwd, path } = await createFolder();
  expect(await run(cwd, ...args)).toMatchObject({ code: 2, stdout: '', stderr });
  expect(existsSync(path(CONFIG))).toBe(false);
});

it('overwrites files only with --force', async () => {
  const { cwd, path, read } = await createFolder();
  await writeFile(path(CONFIG), 'port: 1');
  await writeFile(path('.env.example'), 'A=');
  const stderr = `${CONFIG} and .env.example already exist. Overwrite with --force.\n`;
  expect(await run(cwd, '--yes')).toMatchObject({ code: 2, stderr });
  expect([await read(CONFIG), await read('.env.example')]).toEqual(['port: 1', 'A=']);
  expect(await run(cwd, '--yes', '--force')).toMatchObject({ code: 0, stderr: '' });
  expect(await check(cwd)).toMatchObject(VALID);
  expect(await read('.env.example')).toBe('A='); // This configuration needs no variables.
});

it.each([
  ['to another file', 'other'],
  ['that leads nowhere', 'nowhere/file'],
  ['to itself', CONFIG],
])('replaces a link %s with --force, and leaves its target as it is', async (_, target) => {
  const { cwd, path, read } = await createFolder();
  await writeFile(path('other'), 'kept', { mode: 0o644 });
  await symlink(target, path(CONFIG));
  const stderr = `${CONFIG} already exists. Overwrite with --force.\n`;
  expect(await run(cwd, '--yes')).toMatchObject({ code: 2, stdout: '', stderr });
  expect(await readlink(path(CONFIG))).toBe(target);
  expect(await run(cwd, '--yes', '--force')).toMatchObject({ code: 0, stderr: '' });
  expect(await check(cwd)).toMatchObject(VALID);
  expect([(await lstat(path(CONFIG))).isFile(), await read('other')]).toEqual([true, 'kept']);
});

it('keeps the mode of a file that it overwrites, and leaves nothing behind if it cannot', async () => {
  const { cwd, path } = await createFolder();
  await writeFile(path(CONFIG), 'port: 1');
  await chmod(path(CONFIG), 0o640);
  expect(await run(cwd, '--yes', '--force')).toMatchObject({ code: 0 });
  expect((await lstat(path(CONFIG))).mode & 0o777).toBe(0o640);

  const { cwd: other, path: inOther } = await createFolder();
  await mkdir(inOther(CONFIG));
  expect(await run(other, '--yes')).toMatchObject({ code: 2, stderr: expect.stringContaining('already exists') });
  const stderr = `${CONFIG} can't be written (EISDIR).\n`;
  expect(await run(other, '--yes', '--force')).toMatchObject({ code: 2, stdout: '', stderr });
  expect(await readdir(other)).toEqual([CONFIG]);
});

it.each(['upstream', 'modules', 'issuer', 'audience', 'jwks', 'tenant', 'tenant-claim', 'origin'])(
  'refuses a control character in --%s with a sentence',
  async (option) => {
    const options = { tenant: 'acme', issuer: 'https://login.example.com', audience: 'app' };
    for (const control of ['\n', '\n: ', '\r\n', '\u0085', '\u2028', '\u0000']) {
      const { cwd } = await createFolder();
      const all = Object.entries({ ...options, [option]: `a${control}b` }).map(([name, value]) => `--${name}=${value}`);
      const { code, stderr } = await run(cwd, '--yes', ...all);
      expect([code, stderr.split('\n')]).toEqual([
        2,
        expect.arrayContaining([`--${option} must not contain a line break or another control character.`]),
      ]);
      expect(existsSync(join(cwd, CONFIG))).toBe(false);
    }
  },
);

it('writes every answer as it is, and a variable per tenant', async () => {
  const { cwd, read } = await createFolder();
  const odd = { issuer: 'yes: "no" # {a}', audience: "'&*%", claim: '"null" - x' };
  const tenants = ['a.b', 'a-b', 'a-b-key', '1.50', '0042', '1e3', '2026-01-02', 'null', 'notigraph'];
  const jwks = 'https://login.example.com/keys?a=b#c';
  const options = ['--issuer', odd.issuer, '--audience', odd.audience, '--tenant-claim', odd.claim, '--jwks', jwks];
  expect(await run(cwd, '-y', ...options, '--tenant', [...tenants, 'a.b'].join(' , '))).toMatchObject({ code: 0 });
  const { browser } = load(await read(CONFIG)).clients;
  expect(browser?.issuers).toMatchObject([
    { issuer: odd.issuer, audience: odd.audience, tenantClaim: odd.claim, jwks },
  ]);
  expect(Object.keys(browser?.tenants ?? {}).toSorted()).toEqual(tenants.toSorted());
  const variables = (await read('.env.example')).match(/^\w+(?==$)/gm) ?? [];
  expect(new Set(variables).size).toBe(tenants.length + 1); // And that of the log.
  const env = Object.fromEntries(variables.map((name) => [name, `key-of-${name}`]));
  expect(await runCommand({ cwd, args: ['check', '--strict'], env })).toMatchObject(VALID);
});
