import { appendFile, writeFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { KEY, setUpImport } from '../support/import.ts';
import { spawnNotigraph } from '../support/process.ts';

it('sends nothing if a row is invalid, and lists all problems in the results file', async () => {
  const rows = Array.from({ length: 25 }, (_, i) => `${i},nobody-${i}\n`).join('');
  const { run, sent, results } = await setUpImport(`subscriberId,email\nok,a@b.example\n${rows}`);
  const { code, stdout, stderr } = await run();
  expect({ code, stdout, lines: stderr.trim().split('\n').slice(-3) }).toEqual({
    code: 2,
    stdout: '',
    lines: [
      'users.csv:22: email must be an email address.',
      '… and 5 more.',
      '25 problems, so nothing was sent. All of them are in users.csv.results.jsonl.',
    ],
  });
  expect(sent()).toEqual([]);
  expect((await results()).length).toBe(26);
  expect(JSON.stringify(await results())).not.toContain('nobody');
});

it('resumes after an interruption with the same keys, but not with another file or environment', async () => {
  const content = `subscriberId,email\n${Array.from({ length: 60 }, (_, i) => `${i},\n`).join('')}`;
  const answered = Promise.withResolvers<void>();
  let isBroken = true;
  const { folder, optionsOf, run, sent, results, switchEnvironment } = await setUpImport(
    content,
    ({ subscriberId }) => {
      if (subscriberId === '20') {
        answered.resolve();
      }
      return subscriberId === '5' && isBroken ? { status: 201, body: 'not JSON' } : undefined;
    },
  );
  const options = optionsOf('--rate', '40');
  const importing = spawnNotigraph({ ...options, env: { ...options.env, NODE_ENV: 'production' } });
  await answered.promise;
  const { code, stdout, stderr } = await importing.stop('SIGINT');
  expect(code).toBe(1);
  expect(stderr).toMatch(/Stopping: finishing rows in flight\.\n/); // Without a hint for a terminal.
  expect(stdout).toMatch(
    /1 row failed and may have been applied\.\n\d+ of 60 rows are applied\..*Run the same command again/s,
  );
  const sentFirst = sent().length;
  expect((await results()).length).toBe(1 + sentFirst);
  isBroken = false;

  await writeFile(folder.path('users.csv'), `${content}60,\n`);
  expect(await run()).toMatchObject({ code: 2, stderr: expect.stringContaining('users.csv has changed since') });
  await writeFile(folder.path('users.csv'), content);
  switchEnvironment('env-2');
  expect(await run()).toMatchObject({ code: 2, stderr: expect.stringContaining('This API key belongs to env-2.') });
  switchEnvironment('env-1');
  expect(sent().length).toBe(sentFirst);

  await appendFile(folder.path('users.csv.results.jsonl'), '{"line":61,"subscriberId":"59","outco');
  expect(await run()).toMatchObject({
    code: 0,
    stdout: expect.stringContaining(`Resuming: ${sentFirst - 1} of 60 rows`),
  });
  const ids = sent().map(({ subscriberId }) => subscriberId);
  expect(ids.toSorted()).toEqual([...Array.from({ length: 60 }, (_, i) => String(i)), '5'].toSorted());
  expect(new Set(sent().map(({ key }) => key)).size).toBe(60);
  const outcomes = (await results()).slice(1).map(({ line, outcome }) => `${line} ${outcome}`);
  expect(outcomes.toSorted()).toEqual(
    [...Array.from({ length: 60 }, (_, i) => `${i + 2} created`), '7 unknown'].toSorted(),
  );
});

it('waits for the rate limit, and reports what the service rejects without personal data', async () => {
  let isLimited = true;
  const { run, sent, results } = await setUpImport('subscriberId,email\n1,a@b.example\n2,c@d.example\n', (row) => {
    if (row.subscriberId === '2') {
      return { status: 422, body: { message: [`${row.email} is not deliverable`] } };
    }
    const response = isLimited ? { status: 429, headers: { 'retry-after': '1' }, body: {} } : undefined;
    isLimited = false;
    return response;
  });
  const { code, stdout, stderr } = await run();
  expect({ code, stderr }).toEqual({ code: 1, stderr: 'users.csv:3: … is not deliverable (BAD_USER_INPUT)\n' });
  expect(stdout).toMatch(
    /^Applied 1 row in \d s: 1 created, 0 updated\.\n1 row failed and changed nothing\.\n1 of 2 rows/m,
  );
  expect(sent().map(({ subscriberId }) => subscriberId)).toEqual(['1', '1', '2']);
  expect((await results())[2]).toEqual({
    line: 3,
    subscriberId: '2',
    outcome: 'failed',
    code: 'BAD_USER_INPUT',
    message: '… is not deliverable',
  });
});

it('stops at the first row for which the API key is not permitted', async () => {
  const rows = Array.from({ length: 30 }, (_, i) => `${i}\n`).join('');
  const { run, sent } = await setUpImport(`subscriberId\n${rows}`, () => ({
    status: 403,
    body: { message: 'Read only' },
  }));
  const { code, stdout, stderr } = await run();
  expect(code).toBe(1);
  expect(stderr).toBe('The service rejected the API key with 403 at line 2: Read only\n');
  expect(sent()).toHaveLength(1);
  expect(stdout + stderr).not.toContain(KEY);
});
