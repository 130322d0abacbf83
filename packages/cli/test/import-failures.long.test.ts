import { readdir } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { runCommand } from '../../../test/support/command.ts';
import { guards } from '../../../test/support/guards.ts';
import { KEY, type Sent, setUpImport } from '../../../test/support/import.ts';
import { subscriber } from '../../../test/support/records.ts';

guards('packages/cli/src/import/results.ts', 'Results.[Symbol.dispose]');
guards('packages/cli/src/import/send.ts', 'assertUsable');
guards('packages/cli/src/import/send.ts', 'sendRow');
guards('packages/cli/src/import/pace.ts', 'Pace.backOff');
guards('packages/cli/src/import/pace.ts', 'Pace.failed');

const writeUsers = (count: number) =>
  `subscriberId,email\n${Array.from({ length: count }, (_, i) => `${i},ann-${i}@mail.example\n`).join('')}`;

const USERS = writeUsers(30);

/** Requests that fail during an outage. A row has fewer tries. */
const FAILED_REQUESTS = 6;

/** Tries of a row that fails while the service answers. */
const TRIES = 5;

/** Message of a service that quotes the row. */
const quote = ({ email }: Sent) => ({ message: [`Rejected: ${email?.toUpperCase()}`] });

it.each([
  ['a message', 100, '… …'],
  ['a message that was cut', 800, '…'],
])('keeps personal data out of %s', async (_, length, expected) => {
  const long = `Secret${'x'.repeat(length)}`;
  const { run, results } = await setUpImport(
    `subscriberId,email,firstName\n1,ann@mail.example,${long}\n2,,\n`,
    (row) => (row.subscriberId === '1' ? { status: 422, body: { message: [`ANN@mail.example ${long}`] } } : undefined),
  );
  const { code, stdout, stderr } = await run();
  expect({ code, stderr }).toEqual({ code: 1, stderr: `users.csv:2: ${expected} (BAD_USER_INPUT)\n` });
  expect(stdout).toContain('1 rejected row: correct it in users.csv, and run the same command again.\n');
  expect(results()[0]).toMatchObject({ line: 2, outcome: 'failed', message: expected });
});

it('R10, R12: reports why a field is invalid in any form of services, without its value', async () => {
  const { run, report } = await setUpImport(
    'subscriberId,email,firstName\n1,ann@mail.example,Annabel\n2,ben@mail.example,B\n3,,\n',
    ({ subscriberId, email }) =>
      subscriberId === '1'
        ? {
            status: 422,
            body: { message: 'Validation Error', errors: { email: { messages: [`${email} is taken`], value: email } } },
          }
        : subscriberId === '2'
          ? { status: 400, body: { errors: [{ path: ['firstName'], message: 'Too short', received: email }] } }
          : undefined,
  );
  const { code, stderr } = await run('--report', 'report.jsonl');
  expect({ code, lines: stderr.trim().split('\n').toSorted() }).toEqual({
    code: 1,
    lines: [
      'users.csv:2: Validation Error; email: … is taken (BAD_USER_INPUT)',
      'users.csv:3: firstName: Too short (BAD_USER_INPUT)',
    ],
  });
  expect(await report('report.jsonl')).toMatchObject([
    { outcome: 'failed', message: 'Validation Error; email: … is taken' },
    { outcome: 'failed', message: 'firstName: Too short' },
    { outcome: 'created' },
  ]);
});

it('R15: an empty cell keeps a value, and null in JSON lines clears it', async () => {
  const withoutKeys = (rows: readonly Sent[]) => rows.map(({ key: _, ...row }: Sent & { key?: unknown }) => row);
  const cells = await setUpImport('subscriberId,email,firstName\n1,,Ann\n');
  expect((await cells.run()).code).toBe(0);
  expect(withoutKeys(cells.sent())).toEqual([{ subscriberId: '1', firstName: 'Ann' }]);
  const lines = await setUpImport('{"subscriberId":"1","email":null,"data":null,"firstName":"Ann"}\n');
  expect((await lines.run('--format', 'jsonl')).code).toBe(0);
  expect(withoutKeys(lines.sent())).toEqual([{ subscriberId: '1', email: null, data: null, firstName: 'Ann' }]);
});

it('stops when the service rejects the API key in the middle, and names the line', async () => {
  const { run, sent } = await setUpImport(USERS, (row) =>
    Number(row.subscriberId) >= 10 ? { status: 401, body: quote(row) } : undefined,
  );
  const { code, stdout, stderr } = await run();
  expect(code).toBe(1);
  expect(stdout).toContain('\nRun the same command again to send the others.\n');
  expect(stderr).toMatch(/^Correct the API key: the service rejected it with 401 at line \d+: Rejected: …\n$/);
  expect(sent().length).toBeLessThanOrEqual(20);
  expect(stdout + stderr).not.toContain(KEY);
});

it('stops when something in front of the service demands a login in the middle', async () => {
  const page = { status: 401, headers: { 'content-type': 'text/html' }, body: '<h1>Sign in</h1>' };
  const { run, sent } = await setUpImport(USERS, ({ subscriberId }) => (Number(subscriberId) >= 10 ? page : undefined));
  expect(await run()).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^Correct what is in front of the service, .* it answered 401 at line \d+: /),
  });
  expect(sent().length).toBeLessThanOrEqual(20);
});

it('gives up on a row that the service answers with 500 each time', async () => {
  const { run, sent, results } = await setUpImport(writeUsers(1), () => ({ status: 500, body: {} }), {
    NOTIGRAPH_MAX_RETRIES: '0',
  });
  expect((await run()).code).toBe(1);
  expect(sent()).toHaveLength(3 * TRIES); // Each twice, and once to the bulk endpoint.
  expect(results()).toMatchObject([{ outcome: 'unknown', code: 'UPSTREAM_ERROR' }]);
});

it('sends the other rows if the service forbids one of them', async () => {
  const { run, results } = await setUpImport(USERS, (row) =>
    row.subscriberId === '7' ? { status: 403, body: '<html>Blocked' } : undefined,
  );
  const { code, stdout } = await run();
  expect({ code, stdout }).toEqual({ code: 1, stdout: expect.stringContaining('29 of 30 rows are applied.') });
  expect(results().filter(({ outcome }) => outcome === 'failed')).toMatchObject([{ line: 9, code: 'FORBIDDEN' }]);
});

it('waits while an ingress answers 404, after rows were applied', async () => {
  let count = 0;
  const { run, sent } = await setUpImport(USERS, () => {
    count += 1;
    return count > 10 && count <= 10 + FAILED_REQUESTS
      ? { status: 404, headers: { 'content-type': 'text/plain' }, body: 'default backend - 404' }
      : undefined;
  });
  const { code, stdout } = await run();
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('All 30 rows of the file are applied') });
  expect(sent().length).toBeGreaterThan(30);
});

it('stops at a page of a firewall before any row was applied', async () => {
  const page = { status: 403, headers: { 'content-type': 'text/html' }, body: '<h1>Blocked</h1>' };
  const { run, sent } = await setUpImport(USERS, () => page);
  const { code, stderr } = await run();
  expect(code).toBe(1);
  expect(stderr).toMatch(/^Correct what is in front of the service, such as a firewall: it answered 403 at line 2: /);
  expect(sent()).toHaveLength(1);
});

it.each([300, 302, 404])(
  'sends one row to an address without the endpoint (%d), which can be corrected',
  async (status) => {
    const { optionsOf, folder, run, sent } = await setUpImport(USERS, (_, path) =>
      path.startsWith('/wrong/') ? { status, headers: { location: '/login' }, body: '' } : undefined,
    );
    const { args, ...options } = optionsOf();
    const wrong = await runCommand({
      ...options,
      args: args.map((arg) => (arg.startsWith('http') ? `${arg}/wrong` : arg)),
    });
    expect(wrong).toMatchObject({
      code: 1,
      stderr: `Correct the address of the service: it has no POST /v1/subscribers (status ${status}).\n`,
    });
    expect(wrong.stdout).toMatch(/^0 of 30 rows are applied\.\nRun the same command again to send the others\.\n$/m);
    expect(sent()).toHaveLength(1);
    expect(await readdir(folder.path())).toEqual(['users.csv']);
    expect(await run()).toMatchObject({ code: 0, stderr: '' });
  },
);

it('fails no row during an outage, and rows that fail while others are applied', async () => {
  let failed = 0;
  const { run, sent, results } = await setUpImport(
    writeUsers(120),
    ({ subscriberId }) => {
      if ((subscriberId === '0' && failed < FAILED_REQUESTS) || subscriberId === '5') {
        failed += 1;
        return 'broken connection';
      }
      return undefined;
    },
    { NOTIGRAPH_MAX_RETRIES: '0' },
  );
  const { code, stdout } = await run('--rate', '40');
  expect({ code, stdout }).toEqual({ code: 1, stdout: expect.stringContaining('119 of 120 rows are applied.') });
  expect(stdout).toContain('1 row failed and may have been applied.');
  // No other row is sent yet, and without other answers its tries don't count.
  expect(sent().filter(({ subscriberId }) => subscriberId === '0')).toHaveLength(FAILED_REQUESTS + 1);
  expect(results().find(({ outcome }) => outcome === 'unknown')).toEqual({
    line: 7,
    subscriberId: '5',
    outcome: 'unknown',
    code: 'UPSTREAM_UNAVAILABLE',
    message: 'The connection to the notification service broke before it responded.',
  });
});

it('fails no row during an outage after some were applied', async () => {
  let applied = 0;
  let failed = 0;
  const { run } = await setUpImport(
    USERS,
    () => {
      applied += 1;
      return undefined;
    },
    { NOTIGRAPH_MAX_RETRIES: '0', NOTIGRAPH_MAX_CONCURRENT_CALLS_PER_KEY: '2' },
    (method) => {
      const isDown = applied >= 10 && failed < 2 * FAILED_REQUESTS;
      failed += Number(isDown && method === 'POST');
      return isDown;
    },
  );
  expect(await run()).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('All 30 rows of the file are applied.'),
  });
});

it.each([
  ['the last row, also in another import', (id: number) => id === 29, 29, 2],
  ['more rows than are sent at a time', (id: number) => id >= 5 && id < 20, 15, 1],
])('fails %s if they break the connection while the service answers', async (_, isBad, applied, imports) => {
  const { run, sent, results } = await setUpImport(
    USERS,
    ({ subscriberId }) => (isBad(Number(subscriberId)) ? 'broken connection' : undefined),
    { NOTIGRAPH_MAX_RETRIES: '0', NOTIGRAPH_MAX_CONCURRENT_CALLS_PER_KEY: '8' },
  );
  for (let count = 1; count <= imports; count += 1) {
    expect(await run()).toMatchObject({
      code: 1,
      stdout: expect.stringContaining(`${applied} of 30 rows are applied.`),
      stderr: expect.not.stringContaining('No row was answered'),
    });
  }
  const unknown = results().filter(({ outcome }) => outcome === 'unknown');
  expect(unknown).toHaveLength(30 - applied);
  expect(unknown[0]?.message).toBe('The connection to the notification service broke before it responded.');
  // The first try is before the read that shows that the service answers.
  const counts = Map.groupBy(sent(), ({ subscriberId }) => subscriberId);
  expect([...counts.values()].every(({ length }) => length <= imports * (TRIES + 1))).toBe(true);
});

it('stops after --max-wait without an answer, and records rows that may have been applied', async () => {
  const { run, results } = await setUpImport(USERS, () => 'broken connection');
  const { code, stdout, stderr } = await run('--max-wait', '1');
  expect(code).toBe(1);
  expect(stderr).toContain('No row was answered for 1 s. The last reason: The connection');
  expect(stdout).toContain('1 row failed and may have been applied.');
  expect(results()).toMatchObject([{ line: 2, outcome: 'unknown' }]);
});

it('stops if the rate limit permits no call within --max-wait', async () => {
  const { run, sent } = await setUpImport(USERS, () => ({ status: 429, headers: { 'retry-after': '60' }, body: {} }));
  expect(await run('--max-wait', '50')).toMatchObject({
    code: 1,
    stderr: "The service's rate limit permits no call for 60 s, which is longer than --max-wait.\n",
  });
  expect(sent()).toHaveLength(1);
});

it.each([{}, { 'retry-after': '0' }, { 'retry-after': '1' }])(
  'stops after --max-wait without another answer than rejections by the rate limit (%j)',
  async (headers) => {
    let isLimited = false;
    const { run, sent, results } = await setUpImport(USERS, () => {
      const response = isLimited ? { status: 429, headers, body: {} } : undefined;
      isLimited = true;
      return response;
    });
    const { code, stdout, stderr } = await run('--max-wait', '3');
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /^The service's rate limit has permitted no call for [3-9] s\. Find out what else uses this API key, or set a longer --max-wait\.$/m,
    );
    expect(stdout).toContain('1 of 30 rows is applied.');
    expect(results()).toMatchObject([{ line: 2, outcome: 'created' }]);
    expect(sent().length).toBeLessThan(200);
  },
);

it('counts rejections by the rate limit as no outage while the service applies rows in between', async () => {
  let answers = 0;
  const { run } = await setUpImport(
    writeUsers(4),
    () => (++answers % 2 === 1 ? { status: 429, headers: { 'retry-after': '1' }, body: {} } : undefined),
    { NOTIGRAPH_MAX_CONCURRENT_CALLS_PER_KEY: '1', NOTIGRAPH_MAX_RETRIES: '0' },
  );
  expect(await run('--max-wait', '2')).toMatchObject({ code: 0, stderr: '' });
});

it('counts retries of the client in --rate', async () => {
  let isDown = false;
  const { run, sent } = await setUpImport(
    writeUsers(40),
    () => {
      const response = isDown ? { status: 503, body: {} } : undefined;
      isDown = true;
      return response;
    },
    { NOTIGRAPH_UPSTREAM_IDEMPOTENCY: 'on' },
  );
  const startedAt = performance.now();
  expect((await run('--rate', '10', '--max-wait', '4')).code).toBe(1);
  const seconds = (performance.now() - startedAt) / 1_000;
  expect(sent().length).toBeGreaterThan(10);
  expect(sent().length).toBeLessThanOrEqual(10 * seconds + 10);
});

it('waits as long as a rejection by the rate limit says', async () => {
  let answers = 0;
  const { run, sent } = await setUpImport(
    writeUsers(2),
    () => (++answers === 1 ? { status: 429, headers: { 'retry-after': '1' }, body: {} } : undefined),
    { NOTIGRAPH_MAX_RETRIES: '0' },
  );
  expect(await run('--max-wait', '30')).toMatchObject({ code: 0, stderr: '' });
  expect(sent().map(({ subscriberId }) => subscriberId)).toEqual(['0', '0', '1']);
});

it('waits no longer than --max-wait, whatever a failed response asks for', async () => {
  const { run } = await setUpImport(USERS, () => ({ status: 503, headers: { 'retry-after': '60' }, body: {} }));
  expect(await run('--max-wait', '1')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('No row was answered for 1 s.'),
  });
});

it('says after 5 s without an answer why it waits, and then that it continues', async () => {
  let answers = 0;
  const { run } = await setUpImport(
    writeUsers(1),
    () => (++answers === 1 ? { status: 503, headers: { 'retry-after': '6' }, body: {} } : undefined),
    { NOTIGRAPH_MAX_RETRIES: '0' },
  );
  const { code, stderr } = await run('--max-wait', '60');
  expect(code).toBe(0);
  expect(stderr).toMatch(/^Waiting: .+\nContinuing: the service answers again\.\n$/);
});

it('does not count a pause for the rate limit as an outage', async () => {
  const exhausted = { 'ratelimit-limit': '1', 'ratelimit-remaining': '0', 'ratelimit-reset': '2' };
  const statuses = [201, 503, 201];
  const { run, sent } = await setUpImport(
    writeUsers(2),
    ({ subscriberId }) => {
      const status = statuses.shift() ?? 201;
      return status === 201
        ? { status, headers: subscriberId === '0' ? exhausted : {}, body: { data: subscriber({ subscriberId }) } }
        : { status };
    },
    { NOTIGRAPH_MAX_RETRIES: '0' },
  );
  expect(await run('--max-wait', '2')).toMatchObject({ code: 0, stderr: '' });
  expect(sent().map(({ subscriberId }) => subscriberId)).toEqual(['0', '1', '1']);
});

it('stops after 100 failed rows in succession, and records all of them', async () => {
  const { run, results } = await setUpImport(writeUsers(200), () => ({ status: 422, body: {} }));
  const { code, stdout, stderr } = await run();
  expect(code).toBe(1);
  expect(stderr).toContain('100 rows in succession failed, so the import stopped. The last reason: The notification');
  const failed = results().filter(({ outcome }) => outcome === 'failed').length;
  expect(failed).toBeGreaterThanOrEqual(100);
  expect(stdout).toContain(`${failed} rows failed and changed nothing.`);
});

it('stops at the first row for which the API key is not permitted', async () => {
  const { run, sent } = await setUpImport(USERS, () => ({ status: 403, body: { message: 'Read only' } }));
  const { code, stdout, stderr } = await run();
  expect(code).toBe(1);
  expect(stderr).toBe('Correct the API key: the service rejected it with 403 at line 2: Read only\n');
  expect(sent()).toHaveLength(1);
  expect(stdout + stderr).not.toContain(KEY);
});
