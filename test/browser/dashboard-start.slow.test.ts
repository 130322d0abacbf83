import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startIssuer } from '../../examples/dashboard/dev/issuer.ts';
import { readOptions, UsageError } from '../../examples/dashboard/dev/options.ts';
import { SANDBOX_KEYS } from '../../packages/sandbox/src/sandbox.ts';
import { launchBrowser } from '../support/browser.ts';
import { visit } from '../support/dashboard.ts';
import { listen } from '../support/listen.ts';
import { spawnNotigraph } from '../support/process.ts';
import { sendOperation } from '../support/send-operation.ts';

const START = fileURLToPath(new URL('../../examples/dashboard/start.ts', import.meta.url));
const KEYS_FILE = fileURLToPath(new URL('../../packages/sandbox/src/environments.ts', import.meta.url));
const FREE_PORTS = ['--port', '0', '--gateway-port', '0', '--issuer-port', '0'];

describe("the dashboard's start command", () => {
  it('starts everything that is needed to sign in and see data, only for browsers with a token, and stops it again', async () => {
    await using command = run(FREE_PORTS);
    const { app, gateway, issuer } = await command.addresses();
    const browser = await launchBrowser();
    try {
      await using visitor = await visit(browser, app);
      await visitor.signIn('Ada Lindqvist');
      await visitor.page.getByRole('slider').waitFor();
      await expect.poll(() => visitor.page.locator('.chart-bar').count()).toBe(30);
      const addressed = new Set(visitor.requests.map((request) => new URL(request.url()).origin));
      expect(addressed).toEqual(new Set([app, new URL(gateway).origin]));
      await visitor.page.reload();
      await visitor.page.getByRole('slider').waitFor();
      const [ring = ''] = /curl .*\\\n.*/.exec(command.output()) ?? [];
      await promisify(execFile)('sh', ['-c', ring.replace('curl', 'curl --fail --silent')]);
      await visitor.page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));
      await visitor.page.getByRole('button', { name: 'Notifications, 3 new' }).click();
      await visitor.page.getByRole('row', { name: 'Grace Hopper mentioned you' }).waitFor();
      expect(visitor.problems).toEqual([]);
    } finally {
      await browser.close();
    }
    // Only browsers with a token are served: neither an API key nor a missing token is accepted.
    for (const authorization of [null, `ApiKey ${SANDBOX_KEYS.development}`]) {
      const { data } = await sendOperation(gateway, '{ notificationGroups { id } }', {}, authorization);
      expect(data?.notificationGroups ?? null).toBeNull();
    }
    expect(await command.stop('SIGINT')).toMatchObject({ code: 0, stderr: '' });
    for (const url of [app, gateway, issuer]) {
      await expect(fetch(url)).rejects.toThrow();
    }
  });

  it('takes free ports if the usual ones are in use, serves no other files, and stops everything if the gateway exits', async () => {
    const others = [5173, 4000, 4010].map((port) => createServer().listen(port, '127.0.0.1'));
    const inUse = others.map((other) => Promise.race([once(other, 'listening'), once(other, 'error').catch(() => {})]));
    await Promise.all(inUse); // Also if another program on this machine listens there.
    onTestFinished(() => others.forEach((other) => void other.close()));
    await using command = run([]);
    const { app, gateway, issuer } = await command.addresses();
    const headers = { origin: app };
    const page = await fetch(app);
    expect([page.status, page.headers.get('content-security-policy')]).toEqual([200, "frame-ancestors 'none'"]);
    const signIn = { method: 'POST', headers, body: '{"person":"ada"}' };
    expect(await fetch(`${app}/session`, signIn)).toMatchObject({ status: 200 });
    const preflight = { ...headers, 'access-control-request-method': 'POST' };
    const { headers: answered } = await fetch(gateway, { method: 'OPTIONS', headers: preflight });
    expect(answered.get('access-control-allow-origin')).toBe(app);

    // Other files of the repository are not served.
    expect((await fetch(`${app}/src/main.tsx`)).status).toBe(200);
    for (const path of [`/@fs${KEYS_FILE}`, `/@fs${KEYS_FILE}?raw`, `/@fs${KEYS_FILE}?import&raw`]) {
      const response = await fetch(app + path, { headers: { accept: '*/*' } });
      expect([response.status, await response.text()]).toEqual([
        403,
        expect.not.stringContaining(SANDBOX_KEYS.development),
      ]);
    }
    const { stdout } = await promisify(execFile)('pgrep', ['-P', String(command.pid), '-f', 'bin/notigraph.js']);
    process.kill(Number(stdout), 'SIGKILL');
    const { code, stderr } = await command.ended;
    expect(code).toBe(1);
    expect(stderr).toMatch(/The gateway is gone \(it ended with SIGKILL\): everything else is stopped too\.\n$/);
    for (const url of [app, issuer]) {
      await expect(fetch(url)).rejects.toThrow();
    }
  });

  it.each([
    [
      '--port',
      'Port PORT for the app is in use. Stop the program that listens there, or choose another port with --port.',
    ],
    [
      '--gateway-port',
      'The gateway does not start: Port PORT on 127.0.0.1 is already in use. Stop the other program, or choose another port with --gateway-port.',
    ],
  ])(
    'reports in one sentence that the port of %s is in use, and leaves no process running',
    async (option, sentence) => {
      const { url, close } = await listen(createServer());
      const { port } = new URL(url);
      await using command = run([...FREE_PORTS, option, port]);
      const ending = await command.ended;
      await close();
      expect(ending).toMatchObject({ code: 1, stdout: '', stderr: `${sentence.replace('PORT', port)}\n` });
    },
  );

  it('rejects other arguments', async () => {
    await using command = run(['--prot', '1']);
    const stderr = "Unknown option '--prot': see --help.\n";
    expect(await command.ended).toMatchObject({ code: 2, stdout: '', stderr });
    const message = '--token-seconds must be a whole number from 1 to 86400.';
    expect(() => readOptions(['--token-seconds', '0'])).toThrow(new UsageError(message));
  });
});

it('the development issuer serves no page, only people whom it knows, and the public half of its key', async () => {
  await using issuer = await startIssuer();
  const askToken = (person: unknown, headers: Record<string, string> = {}) =>
    fetch(`${issuer.url}/token`, { method: 'POST', headers, body: JSON.stringify({ person }) });
  for (const origin of ['http://localhost:5173', 'https://localhost:5173', 'null']) {
    const preflight = await fetch(`${issuer.url}/token`, { method: 'OPTIONS', headers: { origin } });
    for (const answer of [await askToken('ada', { origin }), preflight]) {
      expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([403, null]);
      expect(await answer.text()).not.toContain('token');
    }
  }
  for (const person of ['nobody', null, ['ben']]) {
    expect((await askToken(person)).status).toBe(403);
  }
  expect((await askToken('ben')).status).toBe(200);
  const { keys } = await (await fetch(`${issuer.url}/.well-known/jwks.json`)).json();
  expect(keys.map((key: object) => Object.keys(key).sort())).toEqual([['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y']]);
  expect(new URL(issuer.url).hostname).toBe('127.0.0.1');
});

/** Runs the command in its own process. */
function run(args: readonly string[]) {
  const command = spawnNotigraph({ main: START, args });
  return {
    ...command,
    async addresses() {
      await command.printed('stdout', /Ctrl-C/);
      const find = (name: string) => new RegExp(`${name} +(\\S+)`).exec(command.output())?.[1] ?? '';
      return { app: find('App'), gateway: find('Gateway'), issuer: find('Issuer') };
    },
  };
}
