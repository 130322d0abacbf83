import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import { expect, it, onTestFinished } from 'vitest';
import { createAuthority, hasOpenssl, opensslOnly } from '../../../test/support/certificates.ts';
import { runCommand } from '../../../test/support/command.ts';
import { loadFrom } from '../../../test/support/configuration.ts';
import { startConnectProxy } from '../../../test/support/connect-proxy.ts';
import { blocks, read, readConsole } from '../../../test/support/docs.ts';
import { listen } from '../../../test/support/listen.ts';
import { MISBEHAVIORS } from '../../../test/support/misbehaviors.ts';
import { startPlainService } from '../../../test/support/plain-service.ts';
import { group, workflow } from '../../../test/support/records.ts';
import { createTemporaryFolder } from '../../../test/support/sandbox-files.ts';
import { forwardTo, type ServiceResponse, startService } from '../../../test/support/service.ts';
import { SANDBOX_KEYS, startSandbox } from '../../sandbox/src/sandbox.ts';
import { type ExamineOptions, examine } from '../src/doctor/run-doctor.ts';
import { findService, readCredential } from '../src/find-service.ts';

/** Looks like the name of a field. */
const KEY = 'canaryKeyOfTheDoctor';

const settings = loadFrom({ env: { NOTIGRAPH_UPSTREAM: 'http://127.0.0.1' } });

/** Examines a service, and returns its findings as lines. */
async function examineAt(url: string, options: Partial<ExamineOptions> = {}): Promise<string[]> {
  const all = { url: new URL(url), settings, credential: `ApiKey ${KEY}`, workflow: undefined, ...options };
  const lines: string[] = [];
  await examine(all, ({ level, sentence, remedy }) => {
    lines.push([`${level}: ${sentence}`, ...(remedy === undefined ? [] : [remedy])].join(' → '));
  });
  return lines;
}

const noteworthy = (lines: readonly string[]): string[] => lines.filter((line) => !line.startsWith('ok:'));

/** Responses of a service with one record of each kind. */
interface Responses {
  list?: ServiceResponse;
  group?: ServiceResponse;
  stats?: ServiceResponse;
  workflow?: ServiceResponse;
}

const NOT_FOUND = { status: 404, body: { statusCode: 404, message: 'Not found.' } };

/** Starts a service that answers as the contract says, apart from the given responses. */
async function startContractService({ list = {}, ...others }: Responses = {}) {
  const record = group({ _id: 'group-1', name: 'Group' });
  const flow = workflow({
    _id: 'flow-1',
    name: 'Flow',
    triggers: [{ identifier: 'flow' }],
    _notificationGroupId: 'group-1',
  });
  const day = { _id: '2026-01-01', count: 1, templates: ['deleted-flow', 'flow-1'], channels: ['email'] };
  const bodies: Record<string, ServiceResponse> = {
    'notification-groups': { body: { data: [record] }, ...list },
    'notification-groups/group-1': others.group ?? { body: { data: record } },
    'notifications/graph/stats': others.stats ?? { body: { data: [day] } },
    'workflows/flow-1': others.workflow ?? { body: { data: flow } },
    'workflows/flow': others.workflow ?? { body: { data: flow } },
  };
  const service = await startService(({ path, headers }) =>
    headers.authorization === undefined
      ? { status: 401, body: { statusCode: 401, message: 'Unauthorized' } }
      : (bodies[new URL(path, 'http://localhost').pathname.replace('/v1/', '')] ?? NOT_FOUND),
  );
  onTestFinished(() => service[Symbol.asyncDispose]());
  return service;
}

it('examines the sandbox with reads only, and prints what docs/doctor.md shows', async () => {
  await using sandbox = await startSandbox();
  await using recorder = await startService(forwardTo(sandbox.url));
  const env = { NOTIGRAPH_DOCTOR_KEY: SANDBOX_KEYS.development };
  const { code, stdout, stderr } = await runCommand({
    args: ['doctor', '--upstream', recorder.url],
    env,
  });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const [[, , , documentedUrl = ''], documented] = readConsole(blocks(read('docs/doctor.md'), 'console')[0]);
  const withoutFigures = (output: string, url: string) =>
    output
      .replace(url, '<url>')
      .replaceAll(/Port \d+/g, 'Port <port>')
      .replaceAll(/[\d.]+ (ms|KiB|s|bytes)/g, '<n> $1');
  expect(withoutFigures(stdout, recorder.url)).toBe(withoutFigures(documented, documentedUrl));
  expect(new Set(recorder.requests.map(({ method }) => method))).toEqual(new Set(['GET']));
  expect(stdout).not.toContain(SANDBOX_KEYS.development);
});

it('says only how many calls remain if the service holds more than the limit, for bursts', async () => {
  const headers = { 'ratelimit-limit': '150', 'ratelimit-remaining': '163', 'ratelimit-reset': '0' };
  await using service = await startContractService({ list: { headers } });
  expect(await examineAt(service.url)).toContain('ok: Rate limit of the key: 163 calls remain, reset in 0 s.');
});

it('accepts bodies without envelopes and a path prefix, and says that keys are not checked', async () => {
  await using service = await startPlainService();
  const lines = await examineAt(service.url, { workflow: 'wf-1' });
  expect(noteworthy(lines)).toMatchInlineSnapshot(`
    [
      "warning: The service answers reads without an API key. → Check that something in front of it does not add a key to every request.",
      "note: Responses have no envelope. Notigraph accepts both.",
      "note: The service announces no rate limit. Notigraph then waits only after a 429.",
      "note: Responses have no ETag, so every read is transferred completely.",
    ]
  `);
});

it('tells a 404 of the service from one of a proxy', async () => {
  const service = await startContractService({
    group: { body: { data: group({ _id: 'group-1' }) } },
  });
  const { script } = service;
  const page = { status: 404, headers: { 'content-type': 'text/html' }, body: 'Cannot GET' };
  service.script = (request, connection) =>
    request.path.endsWith('/000000000000000000000000') ? page : script(request, connection);
  expect(noteworthy(await examineAt(service.url, {}))).toContainEqual(
    expect.stringContaining('something in front of the service'),
  );
});

it('names what differs from the contract, by weight and without values', async () => {
  const service = await startContractService({
    group: { body: { data: { ...group(), [KEY]: 1 } } },
    list: { body: { data: [{ _id: 'group-1', name: 7, _environmentId: KEY, _organizationId: 'o', colour: KEY }] } },
    stats: { body: { data: [{ _id: '2026-01-01', count: 1, templates: ['flow-1'], channels: ['pigeon'] }] } },
    workflow: { body: { data: { _id: 'flow-1', name: KEY } } },
  });
  const lines = await examineAt(service.url);
  expect(noteworthy(lines).filter((line) => line.includes('GET'))).toMatchInlineSnapshot(`
    [
      "problem: GET /v1/notification-groups: data[].name has the wrong type. → Operations that select these fields have errors. Correct the service.",
      "warning: GET /v1/notifications/graph/stats: data[].channels[] has a value that the contract does not list. → Notigraph leaves out such values.",
      "problem: GET /v1/workflows/{workflowIdOrIdentifier}: data.deleted is missing, data.active is missing, data.draft is missing, data.preferenceSettings is missing, data.critical is missing, 7 more. → Operations that select these fields have errors. Correct the service.",
    ]
  `);
  expect(lines.join()).not.toContain(KEY);
});

it.each<[string, Responses, string]>([
  ['rejects the key', { list: { status: 403, body: {} } }, 'problem: The API key is rejected with 403.'],
  [
    'has no calls left',
    { list: { status: 429, headers: { 'retry-after': '7' }, body: {} } },
    'its rate limit. → Try again in 7 s.',
  ],
  [
    'has no calls left, and rounds its reset down',
    { list: { status: 429, headers: { 'retry-after': '0' }, body: {} } },
    'its rate limit. → Try again in 1 s.',
  ],
  [
    'fails',
    { list: { status: 500, body: {} } },
    'problem: The service responds to GET /v1/notification-groups with 500.',
  ],
  ['lacks an endpoint', { stats: NOT_FOUND }, 'problem: GET /v1/notifications/graph/stats responds with 404.'],
  [
    'sends HTML',
    { group: { headers: { 'content-type': 'text/html' }, body: '<p>' } },
    'status 200 with text/html instead of JSON',
  ],
  [
    'has no groups',
    { list: { body: { data: [] } } },
    'note: GET /v1/notification-groups/{id} was not checked, because',
  ],
  ['has no statistics', { stats: { body: { data: [] } } }, 'Name one with --workflow'],
  [
    'has another time',
    { list: { headers: { date: new Date(Date.now() - 3_600_000).toUTCString() } } },
    's behind that of this machine. → Synchronize both',
  ],
  [
    'has few calls left',
    { list: { headers: { 'ratelimit-limit': '60', 'ratelimit-remaining': '3' } } },
    'warning: Rate limit of the key: 3 of 60 calls remain.',
  ],
  [
    'closes connections',
    { list: { headers: { connection: 'close' } } },
    'warning: The service closes the connection after',
  ],
  [
    'closes idle connections first',
    { list: { headers: { connection: 'keep-alive', 'keep-alive': 'timeout=3' } } },
    'warning: The service closes idle connections after 3 s, and Notigraph after 4 s, so',
  ],
  ['ignores If-None-Match', { list: { headers: { etag: '"1"' } } }, 'note: Reads have an ETag, but If-None-Match'],
])('says that a service %s', async (_, responses, expected) => {
  const service = await startContractService(responses);
  expect(noteworthy(await examineAt(service.url))).toContainEqual(expect.stringContaining(expected));
});

it('checks only the connection without a key', async () => {
  const service = await startContractService();
  const lines = await examineAt(service.url, { credential: undefined });
  expect(lines.at(-1)).toMatch(/^note: No API key was given/);
  expect(service.requests.filter(({ headers }) => headers.authorization !== undefined)).toEqual([]);
});

it.each(Object.entries(MISBEHAVIORS))('survives a service that %s', async (name, misbehave) => {
  await using service = await startService(({ headers }, connection) => {
    if (headers.authorization === undefined) {
      connection.answer({ status: 401, body: {} });
    } else {
      misbehave(connection, KEY);
    }
  });
  const lines = await examineAt(service.url, { settings: { ...settings, attemptTimeoutMs: 150 } });
  expect(lines.join()).not.toContain(KEY);
  if (name !== 'sends an unexpected 100') {
    expect(lines).toContainEqual(expect.stringMatching(/^problem: .+ → .+\.$/));
  }
});

it('survives a body without an end', async () => {
  await using service = await startService(({ headers }, connection) => {
    if (headers.authorization === undefined) {
      connection.answer({ status: 401, body: {} });
    } else {
      connection.send('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n[');
      connection.flood(Buffer.alloc(64 * 1024, ' '));
    }
  });
  const lines = await examineAt(service.url);
  expect(lines).toContainEqual(expect.stringContaining('the body is larger than allowed'));
});

it('asks for a service and a usable key', async () => {
  await using folder = await createTemporaryFolder();
  await writeFile(folder.path('key'), `${KEY} with spaces`);
  const read = readCredential(folder.path('key'), undefined, process);
  await expect(read).rejects.toThrow(/^The API key is too long, or contains a space or another invalid character\.$/);
  expect(() => findService(loadFrom({}), undefined, 'to examine')).toThrow(/^There is no service to examine\./);
  const files = {
    'notigraph.config.yaml':
      'upstreams: { eu: { url: "https://eu.example.com", attemptTimeoutMs: 70 }, us: { url: "https://us.example.com" } }',
  };
  const config = loadFrom({ files });
  expect(() => findService(config, undefined, 'to examine')).toThrow(
    'There are several services. Name one with --name: eu, us.',
  );
  expect(() => findService(config, 'usa', 'to examine')).toThrow(
    '--name: there is no service "usa" (did you mean "us"?). Use one of: eu, us.',
  );
  expect(() => findService(config, 'toString', 'to examine')).toThrow('Use one of: eu, us.');
  const single = loadFrom({ files: { 'notigraph.config.yaml': 'upstream: https://eu.example.com' } });
  expect(() => findService(single, 'eu', 'to examine')).toThrow(
    '--name: there is no service "eu". The configuration has no upstreams.',
  );
  expect(findService(config, 'eu', 'to examine')).toMatchObject({
    url: new URL('https://eu.example.com'),
    settings: { attemptTimeoutMs: 70 },
  });
});

it.runIf(hasOpenssl)(
  `examines the certificate, and connects only with one that is accepted${opensslOnly}`,
  async () => {
    using authority = createAuthority();
    const received: unknown[] = [];
    const server = createServer(authority.issue('service'), ({ headers }, response) => {
      received.push(headers.authorization);
      response.writeHead(401, { 'content-type': 'application/json' }).end('{}');
    });
    const { url: plainUrl, close } = await listen(server);
    onTestFinished(close);
    const url = plainUrl.replace('http', 'https');
    expect(noteworthy(await examineAt(url))).toEqual([
      'problem: The certificate of 127.0.0.1 is rejected (UNABLE_TO_VERIFY_LEAF_SIGNATURE). → The service must also send the intermediate certificates. If its authority is private, set tls.ca.',
      'note: The other checks were skipped.',
    ]);
    expect(received).toEqual([]);
    expect(noteworthy(await examineAt(url, { settings: { ...settings, tls: { ca: authority.cert } } }))).toEqual([
      expect.stringMatching(
        /^warning: The certificate is valid until \d{4}-\d\d-\d\d, for 0 more days\. → Renew it\.$/,
      ),
      expect.stringMatching(/^problem: The API key is rejected with 401\./),
      'note: The other checks were skipped.',
    ]);
  },
);

it('says whether the name or the port is wrong', async () => {
  expect(noteworthy(await examineAt('http://127.0.0.1:1'))).toEqual([
    "problem: 127.0.0.1 can't be reached on port 1 (ECONNREFUSED). → Check the port, and that the service is running.",
    'note: The other checks were skipped.',
  ]);
  expect(noteworthy(await examineAt('http://service.invalid'))).toContainEqual(
    expect.stringMatching(/^problem: The name service\.invalid can't be resolved \((?:ENOTFOUND|EAI_AGAIN)\)\./),
  );
});

it('connects through a proxy, and names its failure', async () => {
  const service = await startContractService();
  await using proxy = await startConnectProxy(service.url);
  const options = { settings: { ...settings, proxy: proxy.url } };
  const lines = await examineAt('http://service.test', options);
  expect(lines).toContain(
    `note: Connections go through the proxy ${new URL(proxy.url).host}, which resolves the name.`,
  );
  expect(lines).toContain('ok: The API key is accepted.');
  proxy.behavior = 407;
  expect(noteworthy(await examineAt('http://service.test', options))).toContainEqual(
    expect.stringMatching(
      /^problem: There is no connection: the proxy rejects the user name and password \(status 407\)\./,
    ),
  );
});

it('ignores an unusable configuration in the folder if the command line has the address', async () => {
  await using folder = await createTemporaryFolder();
  await writeFile(folder.path('notigraph.config.yaml'), 'broken: [');
  const args = ['doctor', '--upstream', 'http://127.0.0.1:9', '--format', 'json'];
  const { code, stdout, stderr } = await runCommand({ cwd: folder.path(), args });
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('is invalid and ignored') });
  expect(JSON.parse(stdout)).toMatchObject({ upstream: 'http://127.0.0.1:9/' });
  expect(await runCommand({ cwd: folder.path(), args: ['doctor'] })).toMatchObject({ code: 2 });
});

const SHIPPED = 'notigraph/modules/events,notigraph/modules/subscribers,notigraph/modules/topics';

it('reads the lists of modules, then a record of each by an id that the list has, and reports what the service lacks', async () => {
  await using sandbox = await startSandbox();
  const forward = forwardTo(sandbox.url);
  await using service = await startService((request, connection) =>
    /^\/v1\/subscribers(?:$|[?/])/.test(request.path) ? NOT_FOUND : forward(request, connection),
  );
  await fetch(`${sandbox.url}/v1/topics`, {
    method: 'POST',
    headers: { authorization: `ApiKey ${SANDBOX_KEYS.development}`, 'content-type': 'application/json' },
    body: JSON.stringify({ key: 'orders', name: 'Orders' }),
  });
  const env = { NOTIGRAPH_DOCTOR_KEY: SANDBOX_KEYS.development, NOTIGRAPH_MODULES: SHIPPED };
  const { code, stdout } = await runCommand({ args: ['doctor', '--upstream', service.url], env });
  const [, found = ''] = stdout.split('\nModules\n');
  expect([code, ...found.replaceAll(/\(.* ms\)/g, '(…)').split('\n')]).toEqual([
    1,
    '  problem  GET /v1/subscribers responds with 404.',
    '           → Check that the service has this endpoint, and its log.',
    '  ok       GET /v1/topics responds as declared (…).',
    '  note     GET /v1/subscribers/{subscriberId} was not checked, because no list has an id for {subscriberId}.',
    '  ok       GET /v1/topics/{topicKey} responds as declared (…).',
    '',
    expect.stringMatching(/^\d+ ok, 1 note, no warnings, 1 problem\.$/),
    '',
  ]);
  expect(service.calls().filter((call) => call.includes('/topics'))).toEqual([
    'GET /v1/topics',
    'GET /v1/topics/orders',
  ]);
  expect(new Set(service.requests.map(({ method }) => method))).toEqual(new Set(['GET']));
});

it('sends the headers that endpoints of modules declare, finds ids for nested paths, and leaves out what it has no arguments for', async () => {
  await using folder = await createTemporaryFolder();
  await writeFile(
    folder.path('boxes.mjs'),
    `import { defineModule } from 'notigraph/modules';
    export default defineModule('boxes', ({ endpoint }) => {
      endpoint('GET /v1/boxes/{boxName}/items/{id}', { timeoutMs: 60_000, slashesInIds: true });
      endpoint('GET /v1/boxes/{boxName}/items', { expect: 'page' });
      endpoint('GET /v1/boxes', { expect: 'list', headers: { 'X-Version': '2' } });
      endpoint('GET /v1/search', { expect: 'list' });
      endpoint('GET /v1/boxes/{boxName}/label.txt', { expect: 'text' });
      endpoint('GET /v1/shelves', { expect: 'list' });
      endpoint('GET /v1/shelves/{id}');
      for (let i = 0; i < 50; i += 1) {
        endpoint(\`GET /v1/boxes/{boxName}/items/{id}/parts\${i}\`, { slashesInIds: i > 0 });
      }
    });`,
  );
  const bodies: Record<string, ServiceResponse> = {
    '/v1/boxes': { body: { data: [{ _id: 'box-id', name: 'red box' }] } },
    '/v1/boxes/red%20box/items': { body: { data: [{ id: 'item/1' }], page: 0 } },
    '/v1/boxes/red%20box/items/item%2F1': { body: { data: { id: 'item/1' } } },
    '/v1/boxes/red%20box/label.txt': { headers: { 'content-type': 'text/plain' }, body: 'Red' },
    '/v1/search': { status: 400, body: { statusCode: 400, message: 'q should not be empty' } },
    '/v1/shelves': { body: { data: { [KEY]: 1 } } },
  };
  const service = await startContractService();
  const { script } = service;
  service.script = (request, connection) => bodies[request.path] ?? script(request, connection);
  const args = ['doctor', '--upstream', service.url, '--modules', './boxes.mjs', '--format', 'json'];
  const { stdout, stderr } = await runCommand({ cwd: folder.path(), args, env: { NOTIGRAPH_DOCTOR_KEY: KEY } });
  expect(stderr).toBe('');
  const { findings }: { findings: { section: string; level: string; sentence: string }[] } = JSON.parse(stdout);
  const lines = findings
    .filter(({ section }) => section === 'Modules')
    .map(({ level, sentence }) => `${level}: ${sentence.replace(/ \(.* ms\)/, '')}`);
  expect([...lines.slice(0, 8), ...lines.slice(-1)]).toEqual([
    'ok: GET /v1/boxes responds as declared.',
    'note: GET /v1/search responds with 400, probably because it requires arguments.',
    'problem: GET /v1/shelves: the body is not a list.',
    'ok: GET /v1/boxes/{boxName}/items responds as declared.',
    'ok: GET /v1/boxes/{boxName}/label.txt responds as declared.',
    'note: GET /v1/shelves/{id} was not checked, because no list has an id for {id}.',
    'ok: GET /v1/boxes/{boxName}/items/{id} responds as declared.',
    'note: GET /v1/boxes/{boxName}/items/{id}/parts0 was not checked, because no list has an id for {id}.',
    'note: 7 more endpoints of modules were not checked.',
  ]);
  const sent = (path: string) => service.requests.filter((request) => request.path === path);
  expect(sent('/v1/boxes').map(({ headers }) => headers['x-version'])).toEqual(['2']);
  expect(sent('/v1/boxes/red%20box/label.txt').map(({ headers }) => headers.accept)).toEqual(['*/*']);
  expect(sent('/v1/boxes/red%20box/items/item%2F1')).toHaveLength(1);
  expect(service.calls().filter((call) => call.includes('/parts'))).toHaveLength(42);
});
