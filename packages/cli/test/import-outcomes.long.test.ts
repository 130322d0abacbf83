import { readFile, writeFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { runCommand } from '../../../test/support/command.ts';
import { guards } from '../../../test/support/guards.ts';
import { setUpImport } from '../../../test/support/import.ts';
import { subscriber } from '../../../test/support/records.ts';
import { createTestFolder } from '../../../test/support/sandbox-files.ts';
import { SANDBOX_KEYS, startSandbox } from '../../sandbox/src/sandbox.ts';

guards('packages/cli/src/import/pace.ts', 'Pace.backOff');
guards('packages/cli/src/import/send.ts', 'sendRow');
guards('packages/cli/src/import/results.ts', 'Results.confirm');
guards('packages/cli/src/import/service.ts', 'ImportService.isNew');
guards('packages/cli/src/import/results.ts', 'Results.begin');

const USERS = 'subscriberId,email\n1,a@mail.example\n2,b@mail.example\n3,c@mail.example\n';

const created = (fields: Parameters<typeof subscriber>[0]) => ({
  status: 201,
  body: { data: subscriber({ _environmentId: 'env-1', createdAt: new Date().toISOString(), ...fields }) },
});

it('lists rows whose values the service kept although null was to clear them, and sends them again with new keys', async () => {
  let clears = false;
  const lines = ['{"subscriberId":"1","phone":null,"channels":[]}', '{"subscriberId":"2","email":"b@mail.example"}'];
  const { folder, importFile, sent, report } = await setUpImport('', ({ subscriberId }) =>
    created({ subscriberId, ...(!clears && { phone: '+44 20', channels: [{ providerId: 'fcm' }] }) }),
  );
  await writeFile(folder.path('users.jsonl'), `${lines.join('\n')}\n`);
  const first = await importFile('users.jsonl', '--report', 'report.jsonl');
  expect(first).toMatchObject({
    code: 1,
    stderr: 'users.jsonl:1: The service did not clear channels, phone.\n',
  });
  expect(first.stdout).toContain(
    '1 row has values that the service should have cleared. Versions before 31 October 2025',
  );
  expect(first.stdout).toContain('1 of 2 rows is applied.');
  expect(await report('report.jsonl')).toEqual([
    { line: 1, subscriberId: '1', outcome: 'uncleared', message: 'The service did not clear channels, phone.' },
    { line: 2, subscriberId: '2', outcome: 'created' },
  ]);
  expect((await importFile('users.jsonl')).code).toBe(1);
  clears = true;
  expect(await importFile('users.jsonl')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('All 2 rows of the file are applied.'),
  });
  expect(sent().map(({ subscriberId }) => subscriberId)).toEqual(['1', '2', '1', '1']);
  expect(new Set(sent().map(({ key }) => key)).size).toBe(4);
  expect(await readFile(folder.path('users.jsonl.results.db'), 'latin1')).not.toContain('+44 20');
});

it('waits for a locked key as long as the service says so, not for a number of tries', async () => {
  const locked = { status: 409, headers: { 'retry-after': '0' }, body: { message: 'Request is in progress' } };
  let answers = 0;
  const { run, sent } = await setUpImport(
    USERS,
    ({ subscriberId }) => (subscriberId === '2' && ++answers <= 6 ? locked : undefined),
    { NOTIGRAPH_MAX_RETRIES: '0' },
  );
  expect(await run()).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('All 3 rows of the file are applied.'),
  });
  const keys = sent().filter(({ subscriberId }) => subscriberId === '2');
  expect([keys.length, new Set(keys.map(({ key }) => key)).size]).toEqual([7, 1]);
});

it('waits for a locked key no longer than --max-wait', async () => {
  const locked = { status: 409, headers: { 'retry-after': '0' }, body: { message: 'Request is in progress' } };
  const { run, results } = await setUpImport(USERS, ({ subscriberId }) => (subscriberId === '2' ? locked : undefined), {
    NOTIGRAPH_MAX_RETRIES: '0',
  });
  expect(await run('--max-wait', '1')).toMatchObject({
    code: 1,
    stdout: expect.stringContaining('2 of 3 rows are applied.'),
  });
  expect(results().map(({ outcome }) => outcome)).toEqual(['created', 'unknown', 'created']); // The interrupted request may have applied it.
});

it('keeps a row as one that may have been applied if a later import is rejected', async () => {
  const answers = [
    { status: 201, body: '{' },
    { status: 400, body: { message: ['email must be an email'] } },
  ];
  const { run, results } = await setUpImport('subscriberId,email\n1,a@mail.example\n', () => answers.shift());
  for (const code of ['UPSTREAM_BAD_RESPONSE', 'BAD_USER_INPUT']) {
    expect(await run()).toMatchObject({ code: 1, stdout: expect.stringContaining('may have been applied') });
    expect(results()).toMatchObject([{ outcome: 'unknown', code }]);
  }
});

it.each([
  ['whose clock is two hours behind', -7_200_000],
  ['whose clock is right', 0],
  ['whose clock is two hours ahead', 7_200_000],
])('tells created from updated subscribers by the clock of a service %s', async (_, skewMs) => {
  const now = (ms = 0) => new Date(Date.now() + skewMs + ms);
  const old = '2024-05-01T00:00:00.000Z';
  const { run, results } = await setUpImport(USERS, ({ subscriberId }) => ({
    ...created(
      subscriberId === '1'
        ? { subscriberId, createdAt: now().toISOString(), updatedAt: now(1).toISOString() }
        : subscriberId === '2'
          ? { subscriberId, createdAt: old, updatedAt: old } // Never changed, or found by an upsert.
          : { subscriberId, createdAt: now(-60_000).toISOString(), updatedAt: now().toISOString() },
    ),
    headers: { date: now().toUTCString() },
  }));
  expect((await run()).stdout).toContain('1 created, 2 updated.');
  expect(results().map(({ outcome }) => outcome)).toEqual(['created', 'updated', 'updated']);
});

it('sends nothing that another environment has applied, although neither has notification groups', async () => {
  const { run, sent, switchEnvironment } = await setUpImport(USERS);
  switchEnvironment('env-1', false);
  expect((await run()).code).toBe(0);
  switchEnvironment('env-2', false);
  expect(await run()).toMatchObject({ code: 2, stderr: expect.stringContaining('This API key belongs to env-2.') });
  expect(sent().map(({ subscriberId }) => subscriberId)).toEqual(['1', '2', '3', '1']);
  expect(await run('--results', 'env-2.db')).toMatchObject({ code: 0 });
  expect(sent()).toHaveLength(7);
  expect(new Set(sent().map(({ key }) => key)).size).toBe(7);
});

it.each([
  [true, false, 4],
  [false, true, 3],
])('knows the environment from the first response (groups: %s, then %s)', async (before, after, rows) => {
  const { run, sent, switchEnvironment } = await setUpImport(USERS);
  switchEnvironment('env-1', before);
  expect((await run()).code).toBe(0);
  switchEnvironment('env-2', after);
  expect(await run()).toMatchObject({ code: 2, stderr: expect.stringContaining('another environment, env-1.') });
  expect(sent()).toHaveLength(rows);
});

it('sends one row again to find out that the environment is the same, if it has no notification groups', async () => {
  const { run, sent, switchEnvironment } = await setUpImport(USERS);
  switchEnvironment('env-1', false);
  expect((await run()).code).toBe(0);
  expect(await run()).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('All 3 rows of the file are applied.'),
  });
  expect(sent().map(({ subscriberId }) => subscriberId)).toEqual(['1', '2', '3', '1']);
});

it('sends all rows again if neither the results nor the service know the environment', async () => {
  const { run, sent, switchEnvironment } = await setUpImport(USERS, ({ subscriberId }) =>
    created({ subscriberId, ...Object({ _environmentId: undefined }) }),
  );
  switchEnvironment('env-1', false);
  expect((await run()).code).toBe(0);
  expect((await run()).code).toBe(0);
  expect(sent()).toHaveLength(6);
});

it('brings back a deleted subscriber, and says that one may be stored whose channels were refused', async () => {
  let ageMs = 3_600_000;
  const now = () => new Date(Date.now() - ageMs);
  await using sandbox = await startSandbox({ traits: ['soft-deletions'], now });
  const folder = await createTestFolder();
  const file = folder.path('users.jsonl');
  const call = (method: string, path: string, body?: object) =>
    fetch(`${sandbox.url}/v1/subscribers${path}`, {
      method,
      headers: { authorization: `ApiKey ${SANDBOX_KEYS.development}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
  await call('POST', '', { subscriberId: 'deleted-1', phone: '+44 20' });
  await call('DELETE', '/deleted-1');
  ageMs = 0;
  await writeFile(
    file,
    `{"subscriberId":"deleted-1","email":"a@mail.example"}
{"subscriberId":"new-1","email":"b@mail.example"}
{"subscriberId":"new-2","email":"c@mail.example","channels":[{"providerId":"none"}]}
`,
  );
  const { code, stdout } = await runCommand({
    cwd: folder.path(),
    args: ['subscribers', 'import', file, '--upstream', sandbox.url, '--report', 'report.jsonl'],
    env: { NOTIGRAPH_IMPORT_KEY: SANDBOX_KEYS.development },
  });
  expect({ code, stdout }).toEqual({ code: 1, stdout: expect.stringContaining('2 of 3 rows are applied.') });
  const lines = (await readFile(folder.path('report.jsonl'), 'utf8')).trim().split('\n');
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { subscriberId: 'deleted-1', outcome: 'updated' },
    { subscriberId: 'new-1', outcome: 'created' },
    { subscriberId: 'new-2', outcome: 'unknown', code: 'BAD_USER_INPUT' },
  ]);
  const stored = await Promise.all(['/deleted-1', '/new-2'].map(async (path) => (await call('GET', path)).json()));
  expect(stored).toMatchObject([
    { data: { email: 'a@mail.example', phone: '+44 20' } },
    { data: { email: 'c@mail.example', channels: [] } },
  ]);
});
