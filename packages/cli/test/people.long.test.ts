import { existsSync } from 'node:fs';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { expect, it, onTestFinished } from 'vitest';
import { runCommand } from '../../../test/support/command.ts';
import { blocks, read } from '../../../test/support/docs.ts';
import { guards } from '../../../test/support/guards.ts';
import { runNotigraph, spawnNotigraph } from '../../../test/support/process.ts';
import { subscriber } from '../../../test/support/records.ts';
import { createTestFolder } from '../../../test/support/sandbox-files.ts';
import { type ServiceRequest, type ServiceResponse, startService } from '../../../test/support/service.ts';

guards('packages/cli/src/people/people.ts', 'readPeople');
guards('packages/cli/src/people/people.ts', 'findTopics');
guards('packages/cli/src/people/operations.ts', 'Operations.#run');
guards('packages/cli/src/people/operations.ts', 'Operations.write');
guards('packages/cli/src/people/erase.ts', 'Erasure.#erase');
guards('packages/cli/src/people/erase.ts', 'Erasure.#deleteMessages');
guards('packages/cli/src/people/erase.ts', 'Erasure.#deleteSubscriber');
guards('packages/cli/src/people/erase.ts', 'Erasure.#checkTopics');

const KEY = 'canaryKeyOfTheErasure';

/** Records of the service: messages by subscribers, and topics with their subscribers. */
interface Records {
  messages?: Record<string, string[]>;
  topics?: Record<string, string[]>;
}

const ABSENT = { status: 404, body: { statusCode: 404, message: 'Not found' } };

/** Starts a service with people, which deletes as the real one does: messages of a deleted subscriber stay, and nothing finds them. */
async function setUp(
  { messages = {}, topics = {} }: Records,
  fail: (request: ServiceRequest) => ServiceResponse | 'broken connection' | undefined = () => undefined,
) {
  const people = new Set(Object.keys(messages));
  const all = new Map(Object.values(messages).flatMap((ids) => ids.map((id) => [id, ids] as const)));
  const folder = await createTestFolder();

  function respond({ method, path: target, body }: ServiceRequest): ServiceResponse {
    const { pathname, searchParams } = new URL(target, 'http://service.example');
    const [, , kind, id = ''] = pathname.split('/').map(decodeURIComponent);
    if (kind === 'topics' && method === 'GET') {
      const page = Number(searchParams.get('page'));
      const list = Object.entries(topics).map(([key, subscribers]) => ({ _id: key, key, name: key, subscribers }));
      return { body: { page, totalCount: list.length, data: list.slice(page * 10, page * 10 + 10) } };
    }
    if (kind === 'topics') {
      const removed: string[] = JSON.parse(body).subscribers;
      topics[id] = topics[id]?.filter((each) => !removed.includes(each)) ?? [];
      return { status: 204 };
    }
    if (kind === 'messages' && method === 'GET') {
      const subscriberId = searchParams.get('subscriberId') ?? '';
      const [page, limit] = [Number(searchParams.get('page')), Number(searchParams.get('limit'))];
      const own = messages[subscriberId] ?? [];
      const data = own.slice(page * limit, (page + 1) * limit).map((_id) => ({
        _id,
        id: _id,
        content: `content of ${_id}`,
        channel: 'in_app',
        subscriber: { subscriberId },
      }));
      return people.has(subscriberId)
        ? { body: { page, pageSize: limit, totalCount: own.length, hasMore: data.length === limit, data } }
        : ABSENT;
    }
    const deleted = { body: { data: { acknowledged: true, status: 'deleted' } } };
    if (kind === 'messages') {
      const own = all.get(id);
      return own?.includes(id) && own.splice(own.indexOf(id), 1) ? deleted : ABSENT;
    }
    if (pathname.endsWith('/preferences')) {
      const preference = { enabled: true, channels: { email: false, in_app: true } };
      const template = { _id: 't', name: 'News', triggers: [{ identifier: 'news' }] };
      return { body: { data: [{ template, preference }] } };
    }
    if (pathname.endsWith('/preferences/global')) {
      return { body: { data: [{ preference: { enabled: true, channels: { email: true } } }] } };
    }
    if (kind === 'subscribers' && method === 'DELETE') {
      return people.delete(id) ? deleted : ABSENT;
    }
    return kind === 'subscribers' && people.has(id)
      ? { body: { data: subscriber({ subscriberId: id, email: `${id}@mail.example` }) } }
      : kind === 'subscribers'
        ? ABSENT
        : { body: { data: [] } };
  }

  const service = await startService((request, { end }) => {
    const failure = fail(request);
    return failure === 'broken connection' ? end() : (failure ?? respond(request));
  });
  onTestFinished(() => service[Symbol.asyncDispose]());
  const optionsOf = (command: string, ...args: string[]) => ({
    cwd: folder.path(),
    args: ['subscribers', command, ...args],
    env: { NOTIGRAPH_IMPORT_KEY: KEY, NOTIGRAPH_UPSTREAM: service.url },
  });
  /** Returns requests without their origin, by default those that write. */
  const sent = (pattern = /^(?!GET)/) =>
    service.requests
      .map(({ method, path }) => `${method} ${path.replace(/&limit=100/, '')}`)
      .filter((line) => pattern.test(line));
  return {
    service,
    folder,
    people,
    topics,
    messages,
    optionsOf,
    run: (command: string, ...args: string[]) => runCommand(optionsOf(command, ...args)),
    sent,
    writeFile: (name: string, text: string) => writeFile(folder.path(name), text),
    readLines: async (name: string): Promise<Record<string, unknown>[]> =>
      (await readFile(folder.path(name), 'utf8'))
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line)),
  };
}

const ids = (prefix: string, count: number) => Array.from({ length: count }, (_, i) => `${prefix}-${i}`);

const two = () => ({
  messages: { ann: ['m1', 'm2'], ben: ['m3'] },
  topics: { news: ['ann', 'ben'], empty: [], other: ['ben'] },
});

it('without --yes, erase shows what would be erased, and sends no write', async () => {
  const { run, sent, people } = await setUp({ ...two(), messages: { ann: ids('m', 230), ben: [] } });
  const { code, stdout, stderr } = await run('erase', 'ann');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatch(
    /^ann: would be erased: membership of 1 topic \(news\), 230 messages, the subscriber\.\nNothing was changed\. To erase, add --yes\.\nNot reachable by \/v1: /,
  );
  expect(stdout).not.toContain(KEY);
  expect(sent()).toEqual([]);
  expect(people.has('ann')).toBe(true);
});

it('prints what docs/data-protection.md shows', async () => {
  const { run } = await setUp({
    messages: { 'user-17': ids('m', 12) },
    topics: { news: ['user-17'], offers: ['user-17'] },
  });
  const printed = [
    '$ notigraph subscribers erase user-17',
    ...(await run('erase', 'user-17')).stdout.split('\n').slice(0, 2),
    '$ notigraph subscribers erase user-17 --yes',
    ...(await run('erase', 'user-17', '--yes')).stdout.split('\n').slice(0, 2),
  ];
  expect(blocks(read('docs/data-protection.md'), 'console')[1]?.trimEnd().split('\n')).toEqual(printed);
});

it('erase deletes in the only order that finds everything, then checks, and leaves other people as they are', async () => {
  const { run, sent, topics, messages, people } = await setUp(two());
  const { code, stdout, stderr } = await run('erase', 'ann', '--yes');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toContain(
    'ann: erased: membership of 1 topic (news), 2 messages, the subscriber.\nErased 1 of 1 person.',
  );
  expect(stdout).toContain('the next import creates the person again');
  expect(sent(/./)).toEqual([
    'GET /v1/topics?page=0&pageSize=10',
    'GET /v1/subscribers/ann',
    'POST /v1/topics/news/subscribers/removal',
    'GET /v1/messages?page=0&subscriberId=ann',
    'DELETE /v1/messages/m1',
    'DELETE /v1/messages/m2',
    'GET /v1/messages?page=0&subscriberId=ann',
    'DELETE /v1/subscribers/ann',
    'GET /v1/subscribers/ann',
    'GET /v1/messages?page=0&subscriberId=ann',
    'GET /v1/topics?page=0&pageSize=10',
  ]);
  expect({ topics, messages, people: [...people] }).toEqual({
    topics: { news: ['ben'], empty: [], other: ['ben'] },
    messages: { ann: [], ben: ['m3'] },
    people: ['ben'],
  });
});

it('people of a file share the reads of topics, and one who has nothing left costs one call', async () => {
  const {
    run,
    sent,
    writeFile: write,
    readLines,
    folder,
  } = await setUp({
    messages: { ann: [], ben: ids('m', 205) },
    topics: Object.fromEntries(ids('topic', 23).map((key) => [key, ['ben', 'gone']])),
  });
  await write(
    'ids.txt',
    '\ufeffsubscriberId\r\nann\r\nnobody\r\nben\r\nb@mail.example\r\nsubscriberId\r\nx,subscriberId\r\n',
  );
  expect((await run('erase', '--file', 'ids.txt', '--yes', '--report', 'report.jsonl')).code).toBe(0);
  expect(sent(/GET \/v1\/topics/)).toHaveLength(6); // 3 pages before, and 3 after.
  expect(sent(/nobody|b%40mail|subscriberId$/)).toEqual([
    'GET /v1/subscribers/nobody',
    'GET /v1/subscribers/b%40mail.example',
    'GET /v1/subscribers/subscriberId', // Only the first line can be a header.
    'GET /v1/subscribers/x%2CsubscriberId',
  ]);
  expect(sent(/^DELETE .v1.messages/)).toHaveLength(205);
  const topics = ids('topic', 23);
  expect(await readLines('report.jsonl')).toEqual([
    { line: 2, subscriberId: 'ann', outcome: 'erased', topics: [], messages: 0, subscriber: true },
    { line: 3, subscriberId: 'nobody', outcome: 'absent', topics: [], messages: 0, subscriber: false },
    { line: 4, subscriberId: 'ben', outcome: 'erased', topics, messages: 205, subscriber: true },
    ...['b@mail.example', 'subscriberId', 'x,subscriberId'].map((subscriberId, i) => ({
      line: 5 + i,
      subscriberId,
      outcome: 'absent',
      topics: [],
      messages: 0,
      subscriber: false,
    })),
  ]);
  expect((await stat(folder.path('report.jsonl'))).mode & 0o777).toBe(0o600);
});

it.each([
  ['an id that is no path segment', 'ann\n../x\n', 'ids.txt:2: The id must not contain'],
  ['an empty line', 'ann\n\nben\n', 'ids.txt:2: The id must not be empty.'],
  ['an outer space', 'ann\nben \n', 'ids.txt:2: The id must not begin or end with a space.'],
  ['a duplicate', 'subscriberId\nann\nben\nann\n', 'ids.txt:4: The id is that of line 2 too.'],
  [
    'several columns',
    'email,subscriberId\na,ann\n',
    'ids.txt must have one id per line: export only the column subscriberId.\n',
  ],
  ['no id', 'subscriberId\n', 'ids.txt has no ids.'],
])('a file with %s sends nothing', async (_, text, problem) => {
  const { run, service, writeFile: write } = await setUp(two());
  await write('ids.txt', text);
  const { code, stderr, stdout } = await run('erase', '--file', 'ids.txt', '--yes');
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toContain(problem);
  expect(stderr.trim().split('\n')).toHaveLength(1);
  expect(service.requests).toEqual([]);
});

it.each([
  [[], 'Name one person by ID, or several with --file FILE.'],
  [['ann', '--file', 'ids.txt'], 'Name one person by ID, or several with --file FILE.'],
  [['--file', 'ids.txt', '--report', './ids.txt'], '--report must name another file than --file.'],
  [['--file', 'missing.txt'], "--file: the file missing.txt doesn't exist."],
  [['a/b'], 'The id must not contain'],
  [['ann', '--report', '.'], '--report: '],
])('%j is refused', async (args, problem) => {
  const { run, service, writeFile: write } = await setUp(two());
  await write('ids.txt', 'ann\n');
  expect(await run('erase', ...args)).toMatchObject({ code: 2, stderr: expect.stringContaining(problem) });
  expect(service.requests).toEqual([]);
});

it('messages that stay although the service confirms their deletion end in an error, and the subscriber stays to find them', async () => {
  const confirmed = { body: { data: { acknowledged: true, status: 'deleted' } } };
  const {
    run,
    sent,
    people,
    writeFile: write,
  } = await setUp(two(), ({ method, path }) =>
    method === 'DELETE' && path.includes('/messages/m1') ? confirmed : undefined,
  );
  await write('ids.txt', 'ann\nben\n');
  const { code, stdout, stderr } = await run('erase', '--file', 'ids.txt', '--yes');
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: 'ann: The service still lists 1 message after the deletion. (STILL_THERE)\n',
  });
  expect(stdout).toContain('Erased 1 of 2 people.\n1 failed.\nRun the same command again: it erases what is left.\n');
  expect(sent(/^DELETE .v1.messages.m1/)).toHaveLength(1);
  expect([...people]).toEqual(['ann']);
});

it.each([
  ['the subscriber', ({ method, path }: ServiceRequest) => method === 'DELETE' && path.endsWith('/subscribers/ann')],
  ['the membership of a topic', ({ path }: ServiceRequest) => path.endsWith('/removal')],
])('the check finds %s that the service has kept', async (what, isKept) => {
  const kept = { body: { data: { acknowledged: true, status: 'deleted' } } };
  const { run } = await setUp(two(), (request) =>
    isKept(request) ? (request.path.endsWith('/removal') ? { status: 204 } : kept) : undefined,
  );
  const { code, stderr } = await run('erase', 'ann', '--yes');
  expect(code).toBe(1);
  expect(stderr).toBe(
    what === 'the subscriber'
      ? 'ann: The service still has the subscriber after the deletion. (STILL_THERE)\n'
      : 'ann: The id is still in 1 topic (news). (STILL_THERE)\n',
  );
});

it('a person whose deletion fails keeps the others from nothing, and a second run finishes', async () => {
  let isFailing = true;
  const {
    run,
    sent,
    people,
    writeFile: write,
    readLines,
  } = await setUp({ ...two(), messages: { ann: ['m1', 'm2'], ben: ['m3'], cy: ['m4'] } }, ({ method, path }) =>
    isFailing && method === 'DELETE' && path.endsWith('/messages/m2')
      ? { status: 500, body: { statusCode: 500, message: 'broken' } }
      : undefined,
  );
  await write('ids.txt', 'ann\nben\ncy\n');
  const first = await run('erase', '--file', 'ids.txt', '--yes', '--report', 'report.jsonl');
  expect(first).toMatchObject({ code: 1, stderr: expect.stringMatching(/^ann: .* \(UPSTREAM_ERROR\)\n$/) });
  expect(first.stdout).toContain('1 failed in a call that may have been applied.\n');
  expect(sent(/messages.m2/)).toHaveLength(5);
  expect(await readLines('report.jsonl')).toMatchObject([
    {
      subscriberId: 'ann',
      outcome: 'unknown',
      topics: ['news'],
      messages: 1,
      subscriber: false,
      code: 'UPSTREAM_ERROR',
    },
    { subscriberId: 'ben', outcome: 'erased' },
    { subscriberId: 'cy', outcome: 'erased' },
  ]);
  isFailing = false;
  const second = await run('erase', '--file', 'ids.txt', '--yes');
  expect(second).toMatchObject({ code: 0, stderr: '' });
  expect(second.stdout).toContain(
    'ann: erased: 1 message, the subscriber.\nben: nothing to erase: erased before, or never there.\n',
  );
  expect(people.size).toBe(0);
});

it('a deletion that was applied although its response was lost is no failure', async () => {
  const lost = new Set(['/v1/messages/m1', '/v1/subscribers/ann']);
  const records = two();
  const { run, sent, people } = await setUp(records, ({ method, path }) => {
    if (method !== 'DELETE' || !lost.delete(path)) {
      return undefined;
    }
    if (path.endsWith('m1')) {
      records.messages.ann.shift();
    }
    if (path.endsWith('/ann')) {
      people.delete('ann');
    }
    return 'broken connection';
  });
  expect(await run('erase', 'ann', '--yes')).toMatchObject({ code: 0, stderr: '' });
  expect(sent(/^DELETE/)).toEqual([
    'DELETE /v1/messages/m1',
    'DELETE /v1/messages/m1',
    'DELETE /v1/messages/m2',
    'DELETE /v1/subscribers/ann',
    'DELETE /v1/subscribers/ann',
  ]);
});

it('a deletion that may have been applied, and is refused when it is repeated, stays unknown', async () => {
  let tries = 0;
  const { run, readLines } = await setUp(two(), ({ method, path }) => {
    if (method !== 'DELETE' || !path.endsWith('/messages/m1')) {
      return undefined;
    }
    tries += 1;
    return tries === 1 ? 'broken connection' : { status: 400, body: { statusCode: 400, message: 'in use' } };
  });
  const { code, stdout } = await run('erase', 'ann', '--yes', '--report', 'report.jsonl');
  expect({ code, stdout }).toEqual({ code: 1, stdout: expect.stringContaining('may have been applied') });
  expect(await readLines('report.jsonl')).toMatchObject([{ outcome: 'unknown', code: 'INVALID_INPUT' }]);
});

it('the check decides about a deletion of the subscriber whose outcome stays unknown', async () => {
  const { run, people } = await setUp(two(), ({ method, path }) => {
    if (method === 'DELETE' && path.endsWith('/subscribers/ann')) {
      people.delete('ann');
      return { status: 500, body: { statusCode: 500, message: 'broken' } };
    }
    return undefined;
  });
  expect(await run('erase', 'ann', '--yes')).toMatchObject({ code: 0, stderr: '' });
});

it('says what the service still has after the deletion of the subscriber', async () => {
  let isRefused = true;
  const { run, people } = await setUp(two(), ({ method, path }) => {
    if (method === 'DELETE' && path.endsWith('/subscribers/ann') && isRefused) {
      return { status: 500, body: { statusCode: 500, message: 'broken' } };
    }
    const left = { _id: 'm9', id: 'm9', content: 'left', channel: 'in_app', subscriber: { subscriberId: 'ann' } };
    return method === 'GET' && path.startsWith('/v1/messages?') && !people.has('ann')
      ? { body: { page: 0, pageSize: 100, totalCount: 1, hasMore: false, data: [left] } }
      : undefined;
  });
  expect(await run('erase', 'ann', '--yes')).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^ann: .* \(UPSTREAM_ERROR\)\n$/),
  });
  isRefused = false;
  expect(await run('erase', 'ann', '--yes')).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^ann: The service still has 1 message\./),
  });
});

it('a record that breaks its connection is no outage: the others are erased', async () => {
  const {
    run,
    people,
    writeFile: write,
  } = await setUp(two(), ({ method, path }) =>
    method === 'DELETE' && path.endsWith('/messages/m1') ? 'broken connection' : undefined,
  );
  await write('ids.txt', 'ann\nben\n');
  const { code, stderr } = await run('erase', '--file', 'ids.txt', '--yes');
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(/^ann: .*\(UPSTREAM_UNAVAILABLE\)\n$/) });
  expect([...people]).toEqual(['ann']);
});

it('waits for an outage and the rate limit, and gives up after --max-wait', async () => {
  let failures = 6; // More than the tries of a person whose records fail.
  const down = { status: 503, body: { statusCode: 503, message: 'down' } };
  const limited = { status: 429, headers: { 'retry-after': '0' }, body: { statusCode: 429, message: 'slow down' } };
  const { run } = await setUp(two(), () => {
    failures -= 1;
    return failures < 0 ? undefined : failures === 3 ? limited : down;
  });
  expect((await run('erase', 'ann', '--yes')).code).toBe(0);
  failures = Number.POSITIVE_INFINITY;
  const { code, stdout, stderr } = await run('erase', 'ben', '--yes', '--max-wait', '0');
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: expect.stringMatching(/^(No call was answered|The service's rate limit)/),
  });
  expect(stdout).toContain(
    'Erased 0 of 1 person.\n1 not finished, or not checked.\nRun the same command again: it erases what is left.\n',
  );
});

it('stops at a rejected key, and after 100 failures in succession', async () => {
  const rejected = { status: 401, body: { statusCode: 401, message: 'API Key not found' } };
  const refused = await setUp(two(), () => rejected);
  const first = await refused.run('erase', 'ann', '--yes');
  expect(first).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^Correct the API key: .*\(UNAUTHENTICATED\)\n$/),
  });
  expect(first.stdout + first.stderr).not.toContain(KEY);
  const forbidden = { status: 403, body: { statusCode: 403, message: 'no' } };
  const {
    run,
    sent,
    writeFile: write,
  } = await setUp(two(), ({ path }) => (path.includes('/subscribers/') ? forbidden : undefined));
  await write('ids.txt', ids('person', 120).join('\n'));
  const { code, stderr } = await run('erase', '--file', 'ids.txt', '--yes');
  expect(code).toBe(1);
  expect(stderr).toContain('100 people in succession failed, so erase stopped.');
  expect(sent(/person/)).toHaveLength(100);
});

it('Ctrl-C ends after the current call, the report says who is left, and a second run finishes', async () => {
  const { service, optionsOf, sent, people, writeFile: write, readLines, run } = await setUp(two());
  await write('ids.txt', 'ann\nben\n');
  const { arrived, release } = service.hold('DELETE /v1/messages/m1');
  await using erasing = spawnNotigraph(optionsOf('erase', '--file', 'ids.txt', '--yes', '--report', 'report.jsonl'));
  await arrived;
  erasing.signal('SIGINT');
  await erasing.printed('stderr', /Stopping after the current call/);
  release();
  const { code, stdout, stderr } = await erasing.ended;
  expect(code).toBe(1);
  expect(stderr).toContain('Stopped. Run the same command again.\n');
  expect(stdout).toContain('2 not finished, or not checked.\nRun the same command again: it erases what is left.\n');
  expect(sent(/^DELETE/)).toEqual(['DELETE /v1/messages/m1']);
  expect(await readLines('report.jsonl')).toMatchObject([
    { outcome: 'pending', topics: ['news'], messages: 1 },
    { outcome: 'pending', messages: 0 },
  ]);
  expect(await run('erase', '--file', 'ids.txt', '--yes')).toMatchObject({ code: 0 });
  expect(people.size).toBe(0);
});

it('a second Ctrl-C quits at once', async () => {
  const { service, optionsOf, sent } = await setUp(two());
  const { arrived, release } = service.hold('DELETE /v1/messages/m1');
  await using erasing = spawnNotigraph(optionsOf('erase', 'ann', '--yes'));
  await arrived;
  erasing.signal('SIGINT');
  await erasing.printed('stderr', /Stopping/);
  erasing.signal('SIGINT');
  expect((await erasing.ended).code).toBe(1);
  release();
  expect(sent(/^DELETE/)).toEqual(['DELETE /v1/messages/m1']);
});

it('--rate counts each call, also those that are sent again', async () => {
  const records = { messages: { ann: ['m1'] } };
  let failures = 6;
  const { run, service } = await setUp(records, ({ path }) => {
    failures -= Number(path.includes('/messages'));
    return path.includes('/messages') && failures % 2 === 1 ? { status: 503, body: { statusCode: 503 } } : undefined;
  });
  const startedAt = performance.now();
  expect((await run('erase', 'ann', '--yes', '--rate', '5')).code).toBe(0);
  expect(performance.now() - startedAt).toBeGreaterThanOrEqual((service.requests.length - 1) * 200 - 1);
});

it('settings for clients of the gateway stand in no way, and the audit log has each step with the person', async () => {
  const { optionsOf, folder, readLines, people } = await setUp(two());
  const audit = { to: { file: folder.path('audit.jsonl') }, required: true };
  const config = {
    audit,
    clients: {
      server: false,
      browser: {
        issuers: [{ issuer: 'https://login.example.com', audience: 'app', jwks: 'https://login.example.com/keys' }],
        tenants: { acme: { env: 'ACME_KEY' } },
      },
    },
    maxUpstreamCalls: 1,
    maxDepth: 1,
    maxFields: 1,
    maxRootFields: 1,
    maxResponseBytes: 1_024,
    introspection: false,
    mcp: { manifest: 'missing' },
  };
  const { env, ...options } = optionsOf('erase', 'ann', '--yes');
  const given = { ...env, ACME_KEY: 'acme-key', NOTIGRAPH_CONFIG_TEXT: JSON.stringify({ ...config, mcp: undefined }) };
  const result = await runNotigraph({ ...options, env: given });
  expect(result).toMatchObject({ code: 0 });
  expect([...people]).toEqual(['ben']);
  const lines = await readLines('audit.jsonl');
  expect(lines.map(({ requestId, field, outcome }) => `${requestId} ${field} ${outcome}`)).toEqual(
    ['removeSubscribersFromTopic', 'deleteMessage', 'deleteMessage', 'deleteSubscriber'].flatMap((field) =>
      ['PENDING', 'APPLIED'].map((outcome) => `erase-ann ${field} ${outcome}`),
    ),
  );
});

it('the audit log names the service, if there are several, and has ids that no header can have in another form', async () => {
  const { optionsOf, folder, readLines } = await setUp({ messages: { 'ann@mail.example': [] } });
  const { env, ...options } = optionsOf('erase', 'ann@mail.example', '--yes', '--name', 'eu');
  const { NOTIGRAPH_UPSTREAM: url, ...others } = env;
  const config = {
    audit: { to: { file: folder.path('audit.jsonl') } },
    maxRetries: 3,
    upstreams: {
      eu: { url, pathPrefix: '/eu', hosts: ['eu.example.com'], maxRetries: 3 },
      us: { url: 'http://127.0.0.1:9', default: true },
    },
  };
  const given = { ...others, NOTIGRAPH_CONFIG_TEXT: JSON.stringify(config) };
  expect(await runCommand({ ...options, env: given })).toMatchObject({ code: 0, stderr: '' });
  const requestId = `erase-${Buffer.from('ann@mail.example').toString('base64url')}`;
  expect(await readLines('audit.jsonl')).toMatchObject([{ upstream: 'eu', field: 'deleteSubscriber', requestId }]);
});

it('nothing is erased without a line in a required audit log', async () => {
  const { optionsOf, sent } = await setUp(two());
  const { env, ...options } = optionsOf('erase', 'ann', '--yes');
  const audit = { to: { file: '/dev/full' }, required: true };
  const { code, stderr } = await runCommand({
    ...options,
    env: { ...env, NOTIGRAPH_CONFIG_TEXT: JSON.stringify({ audit }) },
  });
  expect(code).toBe(1);
  expect(stderr).toContain('Correct audit.to, so that lines can be written: ');
  expect(sent()).toEqual([]);
});

it('export prints a record per line, page by page', async () => {
  const { run, sent } = await setUp({ ...two(), messages: { ann: ids('m', 130), ben: ['x'] } });
  const { code, stdout, stderr } = await run('export', 'ann');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const lines = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(lines.filter(({ kind }) => kind !== 'message')).toMatchObject([
    { kind: 'topic', subscriberId: 'ann', key: 'news', name: 'news' },
    { kind: 'subscriber', subscriberId: 'ann', email: 'ann@mail.example' },
    { kind: 'preference', subscriberId: 'ann', identifier: 'news', channels: { email: false, inApp: true } },
    { kind: 'globalPreference', subscriberId: 'ann', channels: { email: true } },
  ]);
  const messages = lines.filter(({ kind }) => kind === 'message');
  expect(messages.map(({ id, content }) => [id, content])).toEqual(ids('m', 130).map((id) => [id, `content of ${id}`]));
  expect(sent(/messages/)).toHaveLength(2);
  expect(sent()).toEqual([]);
});

it('export of a file names who does not exist and what cannot be read, and exports the rest', async () => {
  const {
    run,
    writeFile: write,
    readLines,
    folder,
  } = await setUp(two(), ({ path }) =>
    path.includes('/messages') && path.includes('=ann')
      ? { status: 403, body: { statusCode: 403, message: 'no' } }
      : undefined,
  );
  await write('ids.txt', 'ann\nnobody\nben\n');
  const { code, stdout, stderr } = await run('export', '--file', 'ids.txt', '--output', 'people.jsonl');
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toMatch(/^ann: the messages can't be read: .*\(FORBIDDEN\)\nnobody: there is no such subscriber\.\n$/);
  const kinds = (await readLines('people.jsonl')).map(({ kind, subscriberId }) => `${subscriberId} ${kind}`);
  expect(kinds).toEqual([
    ...['topic', 'subscriber', 'preference', 'globalPreference'].map((kind) => `ann ${kind}`),
    ...['topic', 'topic', 'subscriber', 'message', 'preference', 'globalPreference'].map((kind) => `ben ${kind}`),
  ]);
  expect((await stat(folder.path('people.jsonl'))).mode & 0o777).toBe(0o600);
});

it('without the topics, nothing is erased or exported', async () => {
  const forbidden = { status: 403, body: { statusCode: 403, message: 'no' } };
  const { run, sent } = await setUp(two(), ({ path }) => (path.includes('/topics') ? forbidden : undefined));
  for (const [command = '', ...options] of [['erase', '--yes'], ['erase'], ['export']]) {
    const { code, stderr } = await run(command, 'ann', ...options);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(/^The topics can't be read: .*FORBIDDEN/),
    });
  }
  expect(sent()).toEqual([]);
});

it('an export that a disk has no room for says so, and leaves no file', async () => {
  const { optionsOf, folder } = await setUp({ messages: { ann: ids('m', 100) } });
  const options = optionsOf('export', 'ann', '--output', 'people.jsonl');
  const { code, stdout, stderr } = await runNotigraph({ ...options, maxFileBlocks: 2 });
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toMatch(
    /^The file people\.jsonl can't be written: file too large\. Fix this and run the same command again\.\n$/,
  );
  expect(existsSync(folder.path('people.jsonl'))).toBe(false);
});

it('an export that ends early leaves no file', async () => {
  let isDown = false;
  const { run, folder } = await setUp(two(), ({ path }) => {
    isDown ||= path.includes('/messages');
    return isDown ? { status: 401, body: { statusCode: 401, message: 'no' } } : undefined;
  });
  const { code, stderr } = await run('export', 'ann', '--output', 'people.jsonl');
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('Correct the API key') });
  await expect(stat(folder.path('people.jsonl'))).rejects.toThrow('ENOENT');
});
