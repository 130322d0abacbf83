import { writeFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { runCommand } from '../../../test/support/command.ts';
import { guards } from '../../../test/support/guards.ts';
import { type Sent, setUpImport } from '../../../test/support/import.ts';
import { spawnNotigraph } from '../../../test/support/process.ts';
import { subscriber } from '../../../test/support/records.ts';
import { createTestFolder } from '../../../test/support/sandbox-files.ts';
import type { ServiceResponse } from '../../../test/support/service.ts';
import { SANDBOX_KEYS, startSandbox } from '../../sandbox/src/sandbox.ts';

guards('packages/cli/src/import/bulk.ts', 'isAlone');
guards('packages/cli/src/import/bulk.ts', 'takeRows');
guards('packages/cli/src/import/bulk.ts', 'sendTogether');
guards('packages/cli/src/import/send.ts', 'merge');
guards('packages/cli/src/import/send.ts', 'withStoredData');

const writeUsers = (count: number, email = (i: number) => `ann-${i}@mail.example`) =>
  `subscriberId,email\n${Array.from({ length: count }, (_, i) => `${i},${email(i)}\n`).join('')}`;

const idsOf = ({ subscriberId, subscribers }: Sent): string[] =>
  subscribers?.map((each) => each.subscriberId) ?? [subscriberId];

/** Returns the number of rows of each call. */
const sizesOf = (sent: readonly Sent[]) => sent.map((call) => idsOf(call).length);

it('sends the first row alone, and the others together', async () => {
  const { run, sent, results } = await setUpImport(writeUsers(1_102), ({ subscribers = [] }) =>
    subscribers.length > 0
      ? {
          status: 201,
          body: {
            data: { created: subscribers.slice(10), updated: subscribers.slice(0, 10), failed: [] },
          },
        }
      : undefined,
  );
  const { code, stdout, stderr } = await run('--bulk');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatch(/: 1,072 created, 30 updated\.\nAll 1,102 rows of the file are applied\./);
  expect(sizesOf(sent())[0]).toBe(1);
  expect(sizesOf(sent()).toSorted((a, b) => a - b)).toEqual([1, 101, 500, 500]);
  expect(new Set(sent().flatMap(idsOf)).size).toBe(1_102);
  expect(results().filter(({ outcome }) => outcome === 'updated')).toHaveLength(30);
  expect((await run('--bulk')).stdout).toContain('All rows are already applied');
  expect(sent()).toHaveLength(4);
});

it('sends bodies of at most 100 KiB, and rows alone that have channels or null', async () => {
  const rows = Array.from({ length: 60 }, (_, i) => ({ subscriberId: `${i}`, data: { text: 'x'.repeat(9_000) } }));
  const alone = [
    { subscriberId: 'null', phone: null },
    { subscriberId: 'channels', channels: [{ providerId: 'fcm' }] },
  ];
  const { folder, importFile, sent, requests } = await setUpImport('');
  const lines = [...rows.slice(0, 5), ...alone, ...rows.slice(5)].map((row) => JSON.stringify(row));
  await writeFile(folder.path('users.jsonl'), lines.join('\n'));
  expect((await importFile('users.jsonl', '--bulk')).code).toBe(0);
  expect(requests.every(({ body }) => Buffer.byteLength(body) <= 102_400)).toBe(true);
  const alones = sent().filter(({ subscribers }) => subscribers === undefined);
  expect(alones.map(({ subscriberId }) => subscriberId)).toEqual(expect.arrayContaining(['0', 'null', 'channels']));
  expect(alones.length).toBeLessThanOrEqual(10); // With those for which a call had no room.
  expect(sent().flatMap(idsOf).toSorted()).toEqual([...rows, ...alone].map((row) => row.subscriberId).toSorted());
});

it('sends rows one by one that a call has not applied, and reports their reasons', async () => {
  const isBad = ({ subscriberId }: Sent) => Number(subscriberId) % 10 === 5;
  const { run, sent, results } = await setUpImport(writeUsers(100), ({ subscribers = [], ...row }) =>
    subscribers.length > 0
      ? {
          status: 201,
          body: {
            data: {
              created: subscribers.filter((each) => !isBad(each)),
              updated: [],
              failed: subscribers.filter(isBad).map(({ email }) => ({ message: `dup key: ${email}` })), // Services leave out the id.
            },
          },
        }
      : isBad(row)
        ? { status: 422, body: { message: [`${row.email} is not deliverable`] } }
        : undefined,
  );
  const { code, stdout, stderr } = await run('--bulk');
  expect({ code, stdout }).toEqual({ code: 1, stdout: expect.stringContaining('90 of 100 rows are applied.') });
  expect(stderr).toContain('users.csv:7: … is not deliverable (BAD_USER_INPUT)\n');
  expect(stderr).not.toContain('mail.example');
  expect(sizesOf(sent()).toSorted((a, b) => a - b)).toEqual([...Array(11).fill(1), 99]);
  expect(results().filter(({ outcome }) => outcome === 'failed')).toHaveLength(10);
  // They are not sent together again, because each would fail the others.
  expect((await run('--bulk')).code).toBe(1);
  expect(sizesOf(sent()).slice(12)).toEqual(Array(10).fill(1));
});

it('sends the rows of a rejected call one by one, and goes on with the next calls', async () => {
  const { run, sent, results } = await setUpImport(
    writeUsers(1_501, (i) => (i === 700 ? 'bad@mail.example' : `ann-${i}@mail.example`)),
    ({ subscribers, email }) =>
      [email, ...(subscribers ?? []).map((each) => each.email)].includes('bad@mail.example')
        ? { status: 400, body: { message: ['subscribers.199.email must be an email'] } }
        : undefined,
  );
  const { code, stderr } = await run('--bulk');
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: 'users.csv:702: subscribers.199.email must be an email (BAD_USER_INPUT)\n',
  });
  expect(sizesOf(sent()).filter((size) => size === 500)).toHaveLength(3);
  expect(sizesOf(sent()).filter((size) => size === 1)).toHaveLength(501);
  expect(results().filter(({ outcome }) => outcome === 'created')).toHaveLength(1_500);
});

it.each([404, 405, 410])(
  'sends rows one by one if the service has no endpoint for several (%d), and says so once',
  async (status) => {
    const { run, sent } = await setUpImport(writeUsers(1_200), ({ subscribers }) =>
      subscribers === undefined ? undefined : { status, body: { statusCode: status, message: 'Cannot POST' } },
    );
    expect(await run('--bulk')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('All 1,200 rows of the file are applied.'),
      stderr: `The service does not accept POST /v1/subscribers/bulk (status ${status}), so rows are sent one by one.\n`,
    });
    expect(sizesOf(sent()).filter((size) => size > 1).length).toBeLessThanOrEqual(2);
  },
);

it('stops at a rejected API key before rows are sent together', async () => {
  const { run, sent } = await setUpImport(writeUsers(20), () => ({ status: 401, body: {} }));
  expect(await run('--bulk')).toMatchObject({ code: 1, stderr: expect.stringMatching(/^Correct the API key: /) });
  expect(sizesOf(sent())).toEqual([1]);
});

/** Starts an import into a service that applies several rows, but responds to the first such call only as given. */
async function setUpUnanswered(count: number, first: 'broken connection' | 'no response') {
  const times = new Map<string, string>();
  const isReceived = Promise.withResolvers<void>();
  const imported = await setUpImport(writeUsers(count), ({ subscriberId, subscribers }) => {
    if (subscribers !== undefined) {
      const isFirst = times.size === 0;
      for (const each of subscribers) {
        times.set(each.subscriberId, new Date().toISOString());
      }
      isReceived.resolve();
      return isFirst ? first : undefined;
    }
    const createdAt = times.get(subscriberId) ?? new Date().toISOString();
    return { status: 201, body: { data: subscriber({ subscriberId, createdAt, _environmentId: 'env-1' }) } };
  });
  return { ...imported, isReceived: isReceived.promise };
}

it('sends rows one by one that a call without a response may have applied, and knows which ones it has created', async () => {
  const { run, sent } = await setUpUnanswered(50, 'broken connection');
  expect(await run('--bulk')).toMatchObject({ code: 0, stdout: expect.stringContaining('50 created, 0 updated.') });
  expect(sizesOf(sent())).toEqual([1, 49, ...Array(49).fill(1)]);
});

it('sends rows one by one that were in flight when the import was killed, and knows which ones it has created', async () => {
  const { optionsOf, run, sent, results, isReceived } = await setUpUnanswered(30, 'no response');
  await using importing = spawnNotigraph(optionsOf('--bulk'));
  await isReceived;
  await importing.stop('SIGKILL');
  expect(results().map(({ outcome }) => outcome)).toEqual(['created', ...Array(29).fill('unknown')]);
  expect(await run('--bulk')).toMatchObject({ code: 0, stdout: expect.stringContaining('29 created, 0 updated.') });
  expect(sizesOf(sent())).toEqual([1, 29, ...Array(29).fill(1)]);
});

it('sends rows one by one that an import without --bulk may have sent before it was killed', async () => {
  const stored = new Set<string>();
  const isReceived = Promise.withResolvers<void>();
  const { optionsOf, run, sent } = await setUpImport(writeUsers(300), (row) => {
    const [updated, created] = [true, false].map((isStored) =>
      row.subscribers?.filter(({ subscriberId }) => stored.has(subscriberId) === isStored),
    );
    const isLost = row.subscriberId === '5' && !stored.has('5');
    for (const id of idsOf(row)) {
      stored.add(id);
    }
    if (isLost) {
      isReceived.resolve();
      return 'no response';
    }
    return row.subscribers && { status: 201, body: { data: { created, updated, failed: [] } } };
  });
  await using importing = spawnNotigraph(optionsOf());
  await isReceived.promise;
  await importing.stop('SIGKILL');
  expect(await run('--bulk')).toMatchObject({ code: 0, stdout: expect.stringContaining(', 0 updated.') });
  expect(sizesOf(sent()).some((size) => size > 100)).toBe(true); // Those that can't have been sent.
});

it('goes on with a restart that was killed while its last rows were in flight', async () => {
  const isReceived = Promise.withResolvers<void>();
  let isHanging = false;
  const { optionsOf, run, sent } = await setUpImport(writeUsers(30), ({ subscribers }) => {
    if (subscribers !== undefined && isHanging) {
      isReceived.resolve();
      return 'no response';
    }
    return undefined;
  });
  expect((await run('--bulk')).code).toBe(0);
  isHanging = true;
  await using importing = spawnNotigraph(optionsOf('--bulk', '--restart'));
  await isReceived.promise;
  await importing.stop('SIGKILL');
  const before = sent().length;
  expect(await run('--bulk', '--restart')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('Continuing the restart: 1 of 30 rows is already sent again.'),
  });
  expect(sizesOf(sent().slice(before))).toEqual(Array(29).fill(1));
});

it('keeps rows that no call has applied as not sent, if the import is stopped', async () => {
  const { run, report } = await setUpImport(writeUsers(30), ({ subscribers }) =>
    subscribers === undefined ? undefined : { status: 429, headers: { 'retry-after': '60' }, body: {} },
  );
  expect((await run('--bulk', '--max-wait', '5', '--report', 'report.jsonl')).code).toBe(1);
  expect((await report('report.jsonl')).map(({ outcome }) => outcome)).toEqual([
    'created',
    ...Array(29).fill('pending'),
  ]);
});

it('waits for the rate limit, of which a call with several rows takes 100', async () => {
  let tokens = 150;
  let rejected = 0;
  const { run, sent } = await setUpImport(writeUsers(1_601), ({ subscribers }) => {
    const cost = subscribers === undefined ? 1 : 100;
    const isLimited = tokens < cost;
    rejected += Number(isLimited);
    tokens = isLimited ? 150 : tokens - cost; // The bucket is full again after the wait.
    const headers = {
      'ratelimit-remaining': String(tokens),
      'ratelimit-reset': '1',
      ...(isLimited && { 'retry-after': '1' }),
    };
    return isLimited
      ? { status: 429, headers, body: {} }
      : subscribers && { status: 201, headers, body: { data: { updated: [], created: subscribers, failed: [] } } };
  });
  expect(await run('--bulk')).toMatchObject({ code: 0, stderr: '' });
  expect(sizesOf(sent().filter((_, i) => i > 0)).every((size) => size > 1)).toBe(true);
  expect(rejected).toBeLessThanOrEqual(4);
});

/** Responds to calls with several rows in turn; undefined or the end of the list is a success. */
const respondInTurn = (responses: (ServiceResponse | 'broken connection' | undefined)[]) => (row: Sent) =>
  row.subscribers && responses.shift();

it('sends rows one by one once three calls in succession have failed', async () => {
  const broken = 'broken connection';
  const { run, sent } = await setUpImport(
    writeUsers(3_100),
    respondInTurn([broken, broken, undefined, broken, broken, broken, broken]),
    {
      NOTIGRAPH_MAX_RETRIES: '0',
    },
  );
  expect(await run('--bulk')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('All 3,100 rows of the file are applied.'),
    stderr:
      'The service does not accept POST /v1/subscribers/bulk (UPSTREAM_UNAVAILABLE), so rows are sent one by one.\n',
  });
  expect(sizesOf(sent()).filter((size) => size > 1).length).toBeLessThanOrEqual(7);
});

const PAGE = { status: 404, headers: { 'content-type': 'text/plain' }, body: 'default backend - 404' };

it.each([
  ['is rejected by the rate limit before it has applied any', [{ status: 429 }]],
  ['is not found after it has applied some', [undefined, PAGE, PAGE]],
  [
    'is rejected by the rate limit many times after it has applied some',
    [undefined, ...Array(7).fill({ status: 429 })],
  ],
] as const)('sends rows together again if such a call %s', async (_, responses) => {
  const { run, sent } = await setUpImport(writeUsers(1_501), respondInTurn([...responses]), {
    NOTIGRAPH_MAX_RETRIES: '0',
  });
  expect(await run('--bulk')).toMatchObject({ code: 0, stderr: '' });
  expect(sizesOf(sent()).filter((size) => size === 1)).toHaveLength(1);
});

it('sends rows one by one if the rate limit never permits a call with several', async () => {
  const limited = { status: 429, headers: { 'ratelimit-limit': '50' } };
  const { run, sent } = await setUpImport(writeUsers(20), respondInTurn(Array(99).fill(limited)), {
    NOTIGRAPH_MAX_RETRIES: '0',
  });
  expect(await run('--bulk')).toMatchObject({ code: 0, stdout: expect.stringContaining('All 20 rows') });
  expect(sizesOf(sent()).filter((size) => size > 1)).toHaveLength(6);
});

it('works with the sandbox, and brings back deleted subscribers', async () => {
  await using sandbox = await startSandbox({ traits: ['soft-deletions'] });
  const folder = await createTestFolder();
  const call = (method: string, path: string, body?: object) =>
    fetch(`${sandbox.url}/v1/subscribers${path}`, {
      method,
      headers: { authorization: `ApiKey ${SANDBOX_KEYS.development}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
  await call('POST', '', { subscriberId: '7', phone: '+44 20' });
  await call('DELETE', '/7');
  await writeFile(folder.path('users.csv'), writeUsers(20));
  const { code, stdout } = await runCommand({
    cwd: folder.path(),
    args: ['subscribers', 'import', 'users.csv', '--upstream', sandbox.url, '--bulk'],
    env: { NOTIGRAPH_IMPORT_KEY: SANDBOX_KEYS.development },
  });
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('19 created, 1 updated.') });
  expect(await (await call('GET', '/7')).json()).toMatchObject({
    data: { email: 'ann-7@mail.example', phone: '+44 20' },
  });
});

/** Subscriber of a service that replaces `data` as a whole. */
const stored = (data: unknown) => ({ body: { data: { subscriberId: '1', data } } });

it.each([
  ['users.csv', 'subscriberId,data.plan,data.team.id\n1,pro,\n2,,5\n', 'data.plan, data.team.id'],
  ['users.csv', 'subscriberId,data\n1,"{""plan"":""pro""}"\n', 'data'],
  ['users.jsonl', '{"subscriberId":"1","data":{"plan":"pro"}}\n', 'data'],
])('warns that data is replaced: %s', async (name, content, columns) => {
  const { folder, importFile, requests } = await setUpImport('');
  await writeFile(folder.path(name), content);
  const warning = `${name}: warning: the service replaces data as a whole, so rows with ${columns} delete its other members. To keep them, use --merge-data.\n`;
  for (const args of [['--dry-run'], []]) {
    expect(await importFile(name, ...args)).toMatchObject({ code: 0, stderr: warning });
    expect(requests.some(({ method, path }) => method === 'GET' && path.includes('/subscribers/'))).toBe(false);
    expect(await importFile(name, '--merge-data', ...args)).toMatchObject({ code: 0, stderr: '' });
  }
});

it.each([
  ['a column without values', 'subscriberId,data.plan\n1,\n'],
  ['null', '{"subscriberId":"1","data":null}\n'],
])('does not warn of %s', async (_, content) => {
  const { run } = await setUpImport(content);
  const format = content.startsWith('{') ? 'jsonl' : 'csv';
  expect(await run('--dry-run', '--format', format)).toMatchObject({ code: 0, stderr: '' });
});

it('keeps members of data that a row does not have with --merge-data', async () => {
  const rows = [
    '{"subscriberId":"1","data":{"plan":"pro","team":{"id":5,"tags":["b"]},"old":null,"toString":{"a":1}}}',
    '{"subscriberId":"2","data":{"plan":"free"}}',
    '{"subscriberId":"3","data":null}',
    '{"subscriberId":"4","email":"d@mail.example"}',
  ];
  const { folder, importFile, sent, requests } = await setUpImport('', ({ subscriberId }, path) =>
    path.endsWith('/1') && subscriberId === '1'
      ? {
          body: `{"data":{"subscriberId":"1","data":{"plan":"free","seen":true,"team":{"id":4,"name":"A","tags":["a"]},"old":1,"__proto__":{"x":1}}}}`,
        }
      : undefined,
  );
  await writeFile(folder.path('users.jsonl'), rows.join('\n'));
  const { code, stdout } = await importFile('users.jsonl', '--merge-data', '--rate', '100');
  expect({ code, stdout }).toEqual({
    code: 0,
    stdout: expect.stringContaining(
      '--merge-data makes 2 calls per row with data: up to 8 calls, about 1 s at --rate 100.\n',
    ),
  });
  const bodies = Object.fromEntries(sent().map(({ key: _, ...row }) => [row.subscriberId, JSON.stringify(row.data)]));
  expect(bodies).toEqual({
    1: '{"plan":"pro","seen":true,"team":{"id":5,"name":"A","tags":["b"]},"old":null,"__proto__":{"x":1},"toString":{"a":1}}',
    2: '{"plan":"free"}',
    3: 'null',
    4: undefined,
  });
  const reads = requests.filter(({ method, path }) => method === 'GET' && path.includes('/subscribers/'));
  expect(reads.map(({ path }) => path).toSorted()).toEqual(['/v1/subscribers/1', '/v1/subscribers/2']);
  // The digest is that of the row in the file.
  expect((await importFile('users.jsonl', '--merge-data')).stdout).toContain('All rows are already applied');
});

it('gives what was merged a key of its own each time, and reads again before another try', async () => {
  let reads = 0;
  const bodies = new Map<string, string>();
  const { run, sent, requests } = await setUpImport(
    'subscriberId,data.plan\n1,pro\n',
    (row, path, key) => {
      if (path.endsWith('/1')) {
        reads += 1;
        return stored({ count: reads });
      }
      const body = JSON.stringify(row);
      const isReused = (bodies.get(key) ?? body) !== body;
      bodies.set(key, body);
      return isReused
        ? { status: 422, body: { message: 'reused for a different body' } }
        : reads < 3
          ? { status: 503, body: {} }
          : undefined;
    },
    { NOTIGRAPH_MAX_RETRIES: '0' },
  );
  expect(await run('--merge-data')).toMatchObject({ code: 0, stderr: '' });
  expect(sent().map(({ data }) => data)).toEqual([1, 2, 3].map((count) => ({ count, plan: 'pro' })));
  expect(new Set(sent().map(({ key }) => key)).size).toBe(3);
  expect(requests.filter(({ path }) => path.endsWith('/1'))).toHaveLength(3);
});

it('writes nothing if the read fails, and waits if that is temporary', async () => {
  let isDown = true;
  const { run, sent, results } = await setUpImport(
    'subscriberId,data.plan\n1,pro\n2,pro\n3,pro\n',
    ({ subscriberId }, path) => {
      if (path.endsWith('/2')) {
        return { status: 400, body: { message: ['cannot be read'] } };
      }
      if (path.endsWith('/3') && isDown) {
        isDown = false;
        return { status: 503, body: {} };
      }
      return path.endsWith(`/${subscriberId}`) ? stored({ seen: true }) : undefined;
    },
    { NOTIGRAPH_MAX_RETRIES: '0' },
  );
  expect(await run('--merge-data')).toMatchObject({
    code: 1,
    stderr: 'users.csv:3: cannot be read (BAD_USER_INPUT)\n',
  });
  expect(sent().map(({ subscriberId }) => subscriberId)).toEqual(['1', '3']);
  expect(results().map(({ outcome }) => outcome)).toEqual(['created', 'failed', 'created']);
});

it('prints no values that were merged, if the service quotes them', async () => {
  const { folder, importFile, requests } = await setUpImport('', ({ subscriberId }, path) =>
    path.endsWith(subscriberId)
      ? { status: 200, body: { data: subscriber({ subscriberId, data: { note: 'canary-note' } }) } }
      : { status: 422, body: { message: ['data.note canary-note is not supported'] } },
  );
  await writeFile(folder.path('users.jsonl'), '{"subscriberId":"1","data":{"plan":"pro"}}');
  const { code, stderr } = await importFile('users.jsonl', '--merge-data');
  expect(requests.at(-1)?.body).toContain('canary-note');
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: 'users.jsonl:1: data.note … is not supported (BAD_USER_INPUT)\n',
  });
});

it('counts reads in --rate', async () => {
  const { run, requests } = await setUpImport(
    `subscriberId,data.plan\n${Array.from({ length: 20 }, (_, i) => `${i},pro\n`).join('')}`,
  );
  const startedAt = performance.now();
  expect((await run('--merge-data', '--rate', '20')).code).toBe(0);
  const seconds = (performance.now() - startedAt) / 1_000;
  expect(requests).toHaveLength(41); // With that of the notification groups.
  expect(requests.length).toBeLessThanOrEqual(20 * seconds + 5);
});

it('accepts either --bulk or --merge-data', async () => {
  const { run } = await setUpImport(writeUsers(1));
  expect(await run('--bulk', '--merge-data')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('Use either --bulk or --merge-data, not both.'),
  });
});
