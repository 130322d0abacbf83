import { chmod, rename, writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { createGateway, type GatewayOptions } from '../../src/gateway.ts';
import { defineModule } from '../../src/modules/index.ts';
import { runCommand, startServing } from '../support/command.ts';
import { problemsOf } from '../support/configuration.ts';
import { sendExplain } from '../support/explain.ts';
import { startGateway } from '../support/gateway.ts';
import { guards } from '../support/guards.ts';
import { healthyService } from '../support/healthy-service.ts';
import { setUpImport } from '../support/import.ts';
import { group, subscriber } from '../support/records.ts';
import { createTemporaryFolder } from '../support/sandbox-files.ts';
import { type Script, type ServiceRequest, startService } from '../support/service.ts';

guards('packages/cli/src/config/config-file.ts', 'resolveReferences.resolveText');
guards('src/upstream/cache/memory-store.ts', 'MemoryStore.put');
guards('src/upstream/transport/probe.ts', 'findProblem');

const GROUPS = '{ notificationGroups { name } }';
const CREATE = 'mutation { createFeed(input: { name: "f" }) { __typename ... on MutationError { message } } }';

/** Value that is in no response and no output. */
const SECRET = 'canary-access-token-93a1';

/** Runs `check` in a folder with a configuration and the files that it names, which every user can read. */
async function check(config: object, files: Record<string, string>, env: Record<string, string> = {}) {
  await using folder = await createTemporaryFolder();
  for (const [name, text] of Object.entries({ ...files, 'notigraph.config.yaml': JSON.stringify(config) })) {
    await writeFile(folder.path(name), text);
    await chmod(folder.path(name), 0o644);
  }
  const result = await runCommand({ cwd: folder.path(), args: ['check'], env });
  return { ...result, path: folder.path };
}

/** Returns the lines of the requests' headers with a name, as they were on the wire. */
const linesOf = (requests: readonly ServiceRequest[], name: string): string[][] =>
  requests.map(({ head }) => head.split('\r\n').filter((line) => line.toLowerCase().startsWith(`${name}:`)));

describe('every request to the service has the headers of upstreamHeaders', () => {
  it('those of operations: reads, writes and retries, once and beside those of the gateway', async () => {
    let isDown = true;
    const script: Script = (request, connection) => {
      const isFirst = isDown;
      isDown = false;
      return isFirst ? { status: 503, body: {} } : healthyService(request, connection);
    };
    await using gateway = await startGateway({
      service: script,
      upstreamHeaders: { 'X-Access-Token': SECRET, 'x-region': 'eu' },
    });
    await gateway.data(GROUPS);
    await gateway.data(CREATE);
    const { requests } = gateway.service;
    expect(requests).toHaveLength(3);
    expect(linesOf(requests, 'x-access-token')).toEqual(requests.map(() => [`x-access-token: ${SECRET}`]));
    expect(linesOf(requests, 'x-region')).toEqual(requests.map(() => ['x-region: eu']));
    expect(requests.at(-1)?.headers).toMatchObject({
      authorization: expect.stringMatching(/^ApiKey /),
      'content-type': 'application/json',
      'x-request-id': expect.any(String),
    });
  });

  it('those of the check at start, of the doctor and of an import, from a variable and a file', async () => {
    const env = { ACCESS_TOKEN: SECRET };
    const { folder, optionsOf } = await setUpImport('subscriberId\n1\n');
    const { args } = optionsOf();
    const seen: ServiceRequest[] = [];
    await using service = await startService((request) => {
      seen.push(request);
      return request.headers.authorization === undefined
        ? { status: 401, body: { message: `No key, but ${request.headers['x-access-token']}.` } }
        : {
            status: request.method === 'GET' ? 200 : 201,
            body: { data: request.method === 'GET' ? [group()] : subscriber() },
          };
    });
    const file = 'canary-of-the-file-77';
    await writeFile(folder.path('id'), `${file}\n`);
    await chmod(folder.path('id'), 0o600);
    const config = {
      upstream: service.url,
      upstreamHeaders: {
        'X-Access-Token': { env: 'ACCESS_TOKEN' },
        'X-Access-Id': { file: 'id' },
        'X-Plain': 'plain-1',
      },
    };
    await writeFile(folder.path('notigraph.config.yaml'), JSON.stringify(config));
    const cwd = folder.path();
    const outputs: string[] = [];
    const run = async (...words: string[]) => {
      seen.length = 0;
      const keys = { NOTIGRAPH_DOCTOR_KEY: 'key-of-the-doctor', NOTIGRAPH_IMPORT_KEY: 'key-of-the-import' };
      const { code, stdout, stderr } = await runCommand({ cwd, args: words, env: { ...env, ...keys } });
      outputs.push(stdout, stderr);
      return { code, stdout };
    };
    const expectHeaders = () => {
      const expected = { 'x-access-token': SECRET, 'x-access-id': file, 'x-plain': 'plain-1' };
      expect(seen.length).toBeGreaterThan(0);
      expect(seen.filter(({ headers }) => headers['x-access-id'] !== file).map(({ path }) => path)).toEqual([]);
      expect(seen[0]?.headers).toMatchObject(expected);
    };
    expect(await run('check', '--strict')).toMatchObject({ code: 0 });
    await run('doctor');
    expectHeaders();
    expect((await run(...args.filter((word) => word !== '--upstream' && !word.startsWith('http')))).code).toBe(0);
    expectHeaders();
    seen.length = 0;
    await using notigraph = await startServing({
      cwd,
      args: ['--admin-port', '0', '--log-level', 'debug', '--graphiql', 'on'],
      env,
    });
    await expect.poll(() => seen.length).toBe(1); // Before any operation.
    expectHeaders();
    const [, adminUrl = ''] = /(http:\S+)\/livez/.exec(notigraph.output()) ?? [];
    const shown = await (await fetch(`${adminUrl}/config`)).text();
    expect(JSON.parse(shown).upstreamHeaders).toEqual({
      value: { 'X-Access-Token': '(not shown)', 'X-Access-Id': { file: folder.path('id') }, 'X-Plain': '(not shown)' },
      from: 'notigraph.config.yaml:1',
    });
    const { body } = await sendExplain(notigraph, { query: GROUPS }, { authorization: 'ApiKey a' });
    outputs.push(shown, JSON.stringify(body));
    outputs.push((await notigraph.stop('SIGTERM')).stdout);
    expect(outputs.filter((text) => /canary|plain-1/.test(text))).toEqual([]);
  });

  it('in place of those that an endpoint of a module declares', async () => {
    const things = defineModule('things', ({ builder, declareCalls, endpoint, requireScopes }) => {
      const get = endpoint('GET /v1/things', { expect: 'value', headers: { 'X-REGION': 'us', 'X-Other': true } });
      builder.queryField('things', (t) =>
        t.string({
          nullable: true,
          extensions: { ...requireScopes('things:read'), ...declareCalls('1') },
          resolve: async (_root, _args, { upstream }) =>
            JSON.stringify(await upstream.read(get, { headers: { 'X-Other': 'o' } })),
        }),
      );
    });
    await using gateway = await startGateway({
      service: () => ({ body: { data: {} } }),
      modules: [things],
      upstreamHeaders: { 'x-region': 'eu' },
    });
    await gateway.data('{ things }');
    expect(linesOf(gateway.service.requests, 'x-region')).toEqual([['x-region: eu']]);
    expect(linesOf(gateway.service.requests, 'x-other')).toEqual([['x-other: o']]);
  });
});

it('an upstream can have headers of its own, with which the same address has cached reads of its own', async () => {
  await using service = await startService(({ headers }) => ({
    body: { data: [group({ name: headers['x-region'] ?? 'none' })] },
  }));
  const { url } = service;
  await using gateway = await startGateway({
    cache: true,
    upstreamHeaders: { 'X-Region': 'default', 'X-General': '1' },
    upstreams: {
      eu: { url, pathPrefix: '/eu', upstreamHeaders: { 'X-Region': 'eu' } },
      us: { url, pathPrefix: '/us', upstreamHeaders: { 'X-Region': 'us' } },
      all: { url, default: true },
    },
  });
  const ask = async (prefix: string) => {
    const data = await gateway.data<{ notificationGroups: { name: string }[] }>(
      GROUPS,
      {},
      { path: `${prefix}/graphql` },
    );
    return data.notificationGroups[0]?.name;
  };
  const askAll = async () => [await ask('/eu'), await ask('/us'), await ask('')];
  expect(await askAll()).toEqual(['eu', 'us', 'default']);
  expect(await askAll()).toEqual(['eu', 'us', 'default']); // From the cache.
  expect(service.requests.map(({ headers }) => headers['x-general'])).toEqual([undefined, undefined, '1']);
});

it('a changed file is read anew, and an invalid one is logged without its content', async () => {
  await using folder = await createTemporaryFolder();
  const file = folder.path('token');
  const write = async (text: string) => {
    await writeFile(`${file}.new`, text);
    await rename(`${file}.new`, file);
  };
  await write('first\n');
  await using gateway = await startGateway({
    service: 'healthy',
    upstreamHeaders: { 'X-Access-Token': { file } },
    reloadSeconds: 0.02,
  });
  const sent = async () => {
    await gateway.data(GROUPS);
    return gateway.service.requests.at(-1)?.headers['x-access-token'];
  };
  expect(await sent()).toBe('first');
  await write(`${SECRET}\nX-Injected: 1`);
  await expect.poll(() => gateway.log.filter(({ level }) => level === 50)).toHaveLength(1);
  expect(gateway.log.find(({ level }) => level === 50)?.problem).toBe(
    'the value of X-Access-Token is not a single line of Latin-1',
  );
  expect(await sent()).toBe('first');
  await write('second');
  await expect.poll(sent).toBe('second');
  expect(JSON.stringify(gateway.log)).not.toContain(SECRET);
});

it('a message of the service that quotes a value is not shown', async () => {
  const quotes = [SECRET, SECRET.toUpperCase(), Buffer.from(SECRET).toString('base64'), encodeURIComponent(SECRET)];
  let quote = '';
  await using gateway = await startGateway({
    service: () => ({ status: 422, body: { message: `The token ${quote} is unknown.`, errorId: SECRET } }),
    upstreamHeaders: { 'X-Access-Token': SECRET, 'X-Short': 'eu' },
  });
  const messageOf = async () => Object(await gateway.data(CREATE)).createFeed.message;
  for (quote of quotes) {
    expect(await messageOf()).toBe('The notification service rejected the input.');
  }
  quote = 'of eu';
  expect(await messageOf()).toBe('The token of eu is unknown.');
  expect(JSON.stringify(gateway.log)).not.toContain(SECRET);
});

it('the address that the service redirects to is not shown either if it contains a value', async () => {
  let location = '';
  await using service = await startService(() => ({ status: 302, headers: { location } }));
  await using gateway = createGateway({ upstream: service.url, upstreamHeaders: { 'X-Access-Token': SECRET } });
  location = `https://${SECRET}.example.com/sign-in`;
  expect(await gateway.checkUpstream()).toContain('The upstream redirects to another page, ');
  location = 'https://login.example.com/sign-in';
  expect(await gateway.checkUpstream()).toContain('The upstream redirects to https://login.example.com, ');
  expect(service.requests.map(({ headers }) => headers['x-access-token'])).toEqual([SECRET, SECRET]);
});

describe('upstreamHeaders', () => {
  it.each([
    ['the credential', { Authorization: 'a' }, "has Authorization, which can't be set here"],
    ['the host', { host: 'a' }, "has host, which can't be set here"],
    ['a header that the gateway sets', { 'x-request-id': 'a' }, "has x-request-id, which can't be set here"],
    ['another method', { 'X-HTTP-Method-Override': 'PUT' }, "has X-HTTP-Method-Override, which can't be set here"],
    ['a name with a space', { 'a b': 'a' }, "has a b, which can't be set here"],
    ['a header twice', { 'X-A': 'a', 'x-a': 'b' }, 'must have each header once'],
    ['no text', { 'X-A': 1 }, 'must be a text, { env: NAME } or { file: PATH }'],
  ])('rejects %s, for all upstreams and for one', async (_, upstreamHeaders, problem) => {
    const url = 'http://127.0.0.1:9';
    const [name, ...rest] = problem.startsWith('must be a text') ? ['.X-A', problem] : ['', problem];
    for (const [path, config] of [
      ['upstreamHeaders', { upstream: url, upstreamHeaders }],
      ['upstreams.eu.upstreamHeaders', { upstreams: { eu: { url, upstreamHeaders } } }],
    ] as const) {
      const problems = problemsOf({ files: { 'notigraph.config.yaml': JSON.stringify(config) } });
      expect(problems).toEqual([expect.stringContaining(` ${path}${name} ${rest.join('')}.`)]);
      const withoutEnv = rest.join('').replace(', { env: NAME }', ''); // Only the configuration file has it.
      await expect(startGateway(config as GatewayOptions)).rejects.toThrow(`${path}${name} ${withoutEnv}.`);
    }
  });

  it('rejects values that no header can have, without quoting them', async () => {
    const config = {
      upstream: 'http://127.0.0.1:9',
      upstreamHeaders: { 'X-A': { file: 'a' }, 'X-B': { env: 'A_B' }, 'X-C': { file: 'c' } },
    };
    const files = { a: `${SECRET}\u0001`, c: '\n' };
    const { code, stdout } = await check(config, files, { A_B: `${SECRET}\nX-Injected: 1` });
    expect(code).toBe(2);
    for (const name of ['X-A', 'X-B', 'X-C']) {
      expect(stdout).toContain(`upstreamHeaders.${name}: the value of ${name} is not a single line of Latin-1.`);
    }
    expect(stdout).not.toContain(SECRET);
    for (const value of ['a\r\nb', 'a\u0000', '\u2028', 'ā']) {
      const options = { upstream: 'http://127.0.0.1:9', upstreamHeaders: { 'X-A': value } };
      await expect(startGateway(options)).rejects.toThrow('the value of X-A is not a single line of Latin-1');
    }
  });

  it('warns of a file that every user can read', async () => {
    const config = { upstream: 'https://notifications.example.com', upstreamHeaders: { 'X-A': { file: 'token' } } };
    const { stdout, path } = await check(config, { token: SECRET });
    expect(stdout).toContain(`upstreamHeaders.X-A: every user can read the file ${path('token')}`);
  });
});
