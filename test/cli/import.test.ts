import { appendFile, readFile, writeFile } from 'node:fs/promises';
import { expect, it, onTestFinished } from 'vitest';
import { checkRows } from '../../src/cli/import/check-rows.ts';
import { openInput } from '../../src/cli/import/input-file.ts';
import type { Format } from '../../src/cli/import/row.ts';
import { runNotigraph, spawnNotigraph } from '../support/process.ts';
import { group, subscriber } from '../support/records.ts';
import { createTemporaryFolder } from '../support/sandbox-files.ts';
import { type ScriptedResponse, startScriptedUpstream } from '../support/scripted-upstream.ts';

const KEY = 'canaryKeyOfTheImport';

/** Fields that the service gets. */
interface Sent {
  subscriberId: string;
  email?: string;
}

/** Starts a service and writes a file into an empty folder, and returns a function that imports it. */
async function setUp(content: string, respond: (row: Sent) => ScriptedResponse | undefined = () => undefined) {
  let environment = 'env-1';
  const folder = await createTemporaryFolder();
  onTestFinished(() => folder[Symbol.asyncDispose]());
  await writeFile(folder.path('users.csv'), content);
  const service = await startScriptedUpstream(({ method, body }) => {
    if (method === 'GET') {
      return { body: { data: [group({ _environmentId: environment })] } };
    }
    const row: Sent = JSON.parse(body);
    return respond(row) ?? { status: 201, body: { data: subscriber({ subscriberId: row.subscriberId }) } };
  });
  onTestFinished(() => service[Symbol.asyncDispose]());
  const optionsOf = (...args: string[]) => ({
    cwd: folder.path(),
    args: ['subscribers', 'import', 'users.csv', '--upstream', service.url, ...args],
    env: { NOTIGRAPH_IMPORT_KEY: KEY, NOTIGRAPH_RETRY_BASE_DELAY_MS: '2', NOTIGRAPH_CACHE: 'on' },
  });
  return {
    folder,
    optionsOf,
    run: (...args: string[]) => runNotigraph(optionsOf(...args)),
    /** Changes the environment of the API key. */
    switchEnvironment(id: string): void {
      environment = id;
    },
    /** Returns the rows that were sent, with their keys. */
    sent: () =>
      service.requests
        .filter(({ method }) => method === 'POST')
        .map(({ body, headers }) => ({ ...(JSON.parse(body) as Sent), key: headers['idempotency-key'] })),
    results: async () =>
      (await readFile(folder.path('users.csv.results.jsonl'), 'utf8'))
        .split('\n')
        .filter(Boolean)
        .map((line): Record<string, unknown> => JSON.parse(line)),
  };
}

/** Checks a file, and returns its rows and problems as lines. */
async function check(content: string | Buffer, format: Format = 'csv') {
  await using folder = await createTemporaryFolder();
  await writeFile(folder.path('file'), content);
  await using input = await openInput(folder.path('file'));
  const problems: string[] = [];
  const { rows, samples } = await checkRows(input, format, {
    onProblem: ({ line, problem }) => problems.push(`${line}: ${problem}`),
    onRow: () => {},
  });
  return { rows, problems, samples: samples.map(({ subscriber: fields }) => fields) };
}

it('reads CSV as spreadsheets write it', async () => {
  const content =
    '\ufeffsubscriberId;firstName;data.plan;data.team.id\r\n1;"Ann; ""A""\r\nB.";pro;7\r\n\r\n2;;;\n3;Zoë;;';
  expect(await check(content)).toEqual({
    rows: 3,
    problems: [],
    samples: [
      { subscriberId: '1', firstName: 'Ann; "A"\r\nB.', data: { plan: 'pro', team: { id: '7' } } },
      { subscriberId: '2' },
      { subscriberId: '3', firstName: 'Zoë' },
    ],
  });
  expect((await check('subscriberId,data\n1,"{""a"":[1]}"\n')).samples).toEqual([
    { subscriberId: '1', data: { a: [1] } },
  ]);
});

it('names every problem of a file by its line', async () => {
  const rows = ['1,a@b.example,en_US', '2,nobody,x', '" 3",,', '"a\n\nb",,', '1,,', '5,"a@b.example",en,more', '6,a"b'];
  expect((await check(`subscriberId,email,locale\n${rows.join('\n')}\n7,nobody,`)).problems).toMatchInlineSnapshot(`
    [
      "3: email must be an email address.",
      "3: locale must be a locale such as en or en_US.",
      "4: subscriberId must not begin or end with a space.",
      "5: subscriberId must not contain control characters.",
      "8: subscriberId is that of line 2 too. A subscriber must have one row.",
      "9: The row has 4 cells, but the header has 3.",
      "10: A cell with a quote must be in quotes. Write a quote in it twice.",
    ]
  `);
  expect((await check('subscriberid,emial,data,data.x,email,email\n1,,,,,\n')).problems).toMatchInlineSnapshot(`
    [
      "1: The header has the unknown column "subscriberid" (did you mean "subscriberId"?).",
      "1: The header has the unknown column "emial" (did you mean "email"?).",
      "1: The header has the column "email" twice.",
      "1: Use either the column "data" or columns that begin with "data.", not both.",
      "1: The header has no column "subscriberId".",
    ]
  `);
  expect((await check('')).problems).toEqual(['1: The file is empty. Its first line must name the columns.']);
  expect((await check('subscriberId\n')).problems).toEqual(['1: The file has no rows.']);
  const latin1 = Buffer.from('subscriberId,firstName\n1,Ann\n2,Zo\u00eb\n', 'latin1');
  expect((await check(latin1)).problems).toEqual(['3: The file is not UTF-8 here. Save it as UTF-8.']);
  const unclosed = `subscriberId,firstName\n1,ok\n2,"${'x,\n'.repeat(200_000)}`;
  expect((await check(unclosed)).problems).toEqual(['3: The row is longer than 256 KiB. A quote may not be closed.']);
});

it('names the problems of JSON lines', async () => {
  const lines = [
    '{"subscriberId":1,"email":null,"channels":[{}]}',
    '',
    '[1]',
    '{"subscriberId":"x"',
    '{"subscriberId":"a","emial":"x"}',
    '{"email":"a@b.example","phone":5}',
    '{"subscriberId":"b","data":{"n":12345678901234567890}}',
    `{"subscriberId":"c","firstName":"${'x'.repeat(600_000)}"}`,
    '{"subscriberId":"d","avatar":"ftp://x"}',
  ];
  const { samples, problems } = await check(lines.join('\n'), 'jsonl');
  expect(samples).toEqual([{ subscriberId: '1', channels: [{}] }]);
  expect(problems).toMatchInlineSnapshot(`
    [
      "3: The line must be a JSON object.",
      "4: The line is not valid JSON.",
      "5: The row has the unknown field "emial" (did you mean "email"?).",
      "6: subscriberId is missing.",
      "6: phone must be text.",
      "7: data is invalid: JSON cannot represent this number exactly; send it as a string.",
      "8: The line is longer than 256 KiB.",
      "9: avatar must be an http or https URL.",
    ]
  `);
});

it('sends nothing if a row is invalid, and lists all problems in the results file', async () => {
  const rows = Array.from({ length: 25 }, (_, i) => `${i},nobody-${i}\n`).join('');
  const { run, sent, results } = await setUp(`subscriberId,email\nok,a@b.example\n${rows}`);
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
  const { folder, optionsOf, run, sent, results, switchEnvironment } = await setUp(content, ({ subscriberId }) => {
    if (subscriberId === '20') {
      answered.resolve();
    }
    return subscriberId === '5' && isBroken ? { status: 201, body: 'not JSON' } : undefined;
  });
  const importing = spawnNotigraph(optionsOf('--rate', '40'));
  await answered.promise;
  const { code, stdout, stderr } = await importing.stop('SIGINT');
  expect(code).toBe(1);
  expect(stderr).toContain('Stopping: finishing rows in flight.');
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
  const { run, sent, results } = await setUp('subscriberId,email\n1,a@b.example\n2,c@d.example\n', (row) => {
    if (row.subscriberId === '2') {
      return { status: 422, body: { message: [`${row.email} is not deliverable`] } };
    }
    const response = isLimited ? { status: 429, headers: { 'retry-after': '1' }, body: {} } : undefined;
    isLimited = false;
    return response;
  });
  const { code, stdout, stderr } = await run();
  expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
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
  const { run, sent } = await setUp(`subscriberId\n${rows}`, () => ({ status: 403, body: { message: 'Read only' } }));
  const { code, stdout, stderr } = await run();
  expect(code).toBe(1);
  expect(stderr).toBe('The service rejected the API key with 403: Read only\n');
  expect(sent()).toHaveLength(1);
  expect(stdout + stderr).not.toContain(KEY);
});
