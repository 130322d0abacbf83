import { execFileSync } from 'node:child_process';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { PassThrough } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { runCommand } from '../../../test/support/command.ts';
import { guards } from '../../../test/support/guards.ts';
import { type Sent, setUpImport } from '../../../test/support/import.ts';
import { runNotigraph, spawnNotigraph } from '../../../test/support/process.ts';
import { readRows } from '../src/import/rows.ts';

guards('packages/cli/src/import/run-import.ts', 'readColumns');
guards('packages/cli/src/import/rows.ts', 'setMember');
guards('packages/cli/src/import/rows.ts', 'readText');
guards('packages/cli/src/import/rows.ts', 'readJsonArrays');

/** Sets up imports whose output has no warning about `data`, which tests of --merge-data read. */
async function setUp(...args: Parameters<typeof setUpImport>) {
  const { run, importFile, ...others } = await setUpImport(...args);
  const quiet = <Result extends { stderr: string }>(result: Result): Result => ({
    ...result,
    stderr: result.stderr.replace(/^.*: warning: the service replaces data .*\n/gm, ''),
  });
  return {
    ...others,
    run: async (...options: string[]) => quiet(await run(...options)),
    importFile: async (file: string, ...options: string[]) => quiet(await importFile(file, ...options)),
  };
}

/** Returns the rows that were sent, without their keys. */
const fieldsOf = (rows: readonly (Sent & { key: unknown })[]) => rows.map(({ key: _, ...fields }) => fields);

/** Lets a shell split the options that a message recommends. */
function readAdvice(stderr: string): string[] {
  const [, options = ''] = /or add (--.*?")\.(?: To keep .*)?\n/.exec(stderr) ?? [];
  return execFileSync('sh', ['-c', `printf '%s\\n' ${options}`], { encoding: 'utf8' })
    .trimEnd()
    .split('\n');
}

const POSTGRES = `id\temail\tgiven_name\tphone\tcreated_at
7\tann@mail.example\tAnn\t\\N\t2026-01-02 03:04:05+00
8\t\\N\tBen\t+44 20\t2026-01-02 03:04:05+00
`;

it.each([
  {
    product: 'HubSpot',
    file: 'hubspot.csv',
    content: `"Record ID","First Name","Last Name","Email","Phone Number","Lead Status","# of Form/Survey Answers"
"501","Ann","Ode","ann@mail.example","","","3"
"502","Ben, Jr.","","ben@mail.example","+44 20","OPEN",""
`,
    advice:
      '--map "Record ID=subscriberId" --map "First Name=firstName" --map "Last Name=lastName" --map "Email=email" --map "Phone Number=phone" --ignore "Lead Status" --ignore "# of Form/Survey Answers"',
    sent: [
      { subscriberId: '501', firstName: 'Ann', lastName: 'Ode', email: 'ann@mail.example' },
      { subscriberId: '502', firstName: 'Ben, Jr.', email: 'ben@mail.example', phone: '+44 20' },
    ],
  },
  {
    product: 'Salesforce',
    file: 'users.csv',
    content:
      '"Id","FirstName","LastName","Email","Phone","LanguageLocaleKey","IsActive"\r\n"0055g00000A","Ann","Ode","ann@mail.example","","en_US","true"\r\n',
    advice:
      '--map "Id=subscriberId" --map "FirstName=firstName" --map "LastName=lastName" --map "Email=email" --map "Phone=phone" --map "LanguageLocaleKey=locale" --ignore "IsActive"',
    sent: [
      { subscriberId: '0055g00000A', firstName: 'Ann', lastName: 'Ode', email: 'ann@mail.example', locale: 'en_US' },
    ],
  },
  {
    product: 'Segment',
    file: 'identifies.json.gz',
    content: gzipSync(
      '{"user_id":"u1","traits.email":"ann@mail.example","first_name":"Ann","received_at":"2026-01-02"}\n{"user_id":"u2","first_name":"Ben","received_at":"2026-01-02"}\n',
    ),
    advice:
      '--map "user_id=subscriberId" --map "traits.email=email" --map "first_name=firstName" --ignore "received_at"',
    sent: [
      { subscriberId: 'u1', email: 'ann@mail.example', firstName: 'Ann' },
      { subscriberId: 'u2', firstName: 'Ben' },
    ],
  },
  {
    product: 'Postgres',
    file: 'users.tsv',
    content: POSTGRES,
    options: ['--null', '\\N'],
    advice: '--map "id=subscriberId" --map "given_name=firstName" --ignore "created_at"',
    sent: [
      { subscriberId: '7', email: 'ann@mail.example', firstName: 'Ann' },
      { subscriberId: '8', firstName: 'Ben', phone: '+44 20' },
    ],
  },
])('recommends the options that import an export of $product', async (each) => {
  const { folder, importFile, sent } = await setUp('');
  await writeFile(folder.path(each.file), each.content);
  const options = each.options ?? [];
  const rejection = await importFile(each.file, ...options);
  expect(rejection.code).toBe(2);
  expect(rejection.stderr.split('\n')[0]).toContain(`or add ${each.advice}`);
  expect(rejection.stderr.match(/or add/g)?.length).toBe(each.file.includes('json') ? 2 : 1);
  expect(sent()).toEqual([]);
  const advice = readAdvice(rejection.stderr);
  expect(await importFile(each.file, ...options, ...advice)).toMatchObject({ code: 0, stderr: '' });
  expect(fieldsOf(sent()).toSorted((a, b) => (a.subscriberId < b.subscriberId ? -1 : 1))).toEqual(each.sent);
});

it('reads renamed columns, also by a file, and the rejected rows with the same options', async () => {
  const { folder, importFile, sent } = await setUp('');
  const content = 'Nr,E-Mail,Company,Notes,a=b\n1,ann@mail.example,"Acme, Inc.",x,1\n2,nobody,Beta,,\n';
  await writeFile(folder.path('users.csv'), content);
  await writeFile(folder.path('columns'), '\ufeffE-Mail=email\r\n\r\n Company = data.company \r\nNotes=\r\n');
  const options = ['--map', 'Nr=subscriberId', '--map-file', 'columns', '--ignore', 'a=b', '--skip-invalid'];
  expect((await importFile('users.csv', ...options)).code).toBe(1);
  const rejected = folder.path('users.csv.rejected.csv');
  const text = await readFile(rejected, 'utf8');
  expect(text).toBe('line,reasons,Nr,E-Mail,Company,Notes,a=b\n3,email must be an email address.,2,nobody,Beta,,\n');
  await writeFile(rejected, text.replace('nobody', 'ben@mail.example'));
  expect((await importFile('users.csv.rejected.csv', ...options)).code).toBe(0);
  expect(fieldsOf(sent())).toEqual([
    { subscriberId: '1', email: 'ann@mail.example', data: { company: 'Acme, Inc.' } },
    { subscriberId: '2', email: 'ben@mail.example', data: { company: 'Beta' } },
  ]);
});

it('reads members that have the names of those that all objects have', async () => {
  const { run, sent } = await setUp('subscriberId,data.constructor,X,data.a.hasOwnProperty\n1,c,x,h\n');
  expect((await run('--map', 'X=data.toString.x')).code).toBe(0);
  expect(sent()).toMatchObject([{ data: { constructor: 'c', toString: { x: 'x' }, a: { hasOwnProperty: 'h' } } }]);
});

it('reads renamed members of JSON, which can be absent', async () => {
  const { folder, importFile, sent } = await setUp('');
  const lines = [
    '{"id":1,"E-Mail":"ann@mail.example","Company":"Acme","data":{"plan":"pro"},"extra":{}}',
    '{"id":2,"Company":null}',
    '{"id":3,"Company":"Acme","data":{"company":"Beta"}}',
    '{"id":4,"subscriberId":"5"}',
    '{"id":6,"Company":"Acme","data":"x"}',
    '{"id":7,"data":{},"profile":{}}',
  ];
  await writeFile(folder.path('users.jsonl'), lines.join('\n'));
  const pairs = ['id=subscriberId', 'E-Mail=email', 'Company=data.company', 'profile=data'];
  const options = pairs.flatMap((each) => ['--map', each]);
  const imported = await importFile('users.jsonl', ...options, '--ignore', 'extra', '--skip-invalid');
  expect(imported.stderr.split('\n')).toEqual([
    'users.jsonl:3: The row has several values of data.company.',
    'users.jsonl:4: The row has several values of subscriberId.',
    'users.jsonl:5: The row has several values of data.company.',
    'users.jsonl:6: The row has several values of data.',
    '',
  ]);
  expect(fieldsOf(sent())).toEqual([
    { subscriberId: '1', email: 'ann@mail.example', data: { plan: 'pro', company: 'Acme' } },
    { subscriberId: '2', data: { company: null } },
  ]);
});

it.each([
  [['--map', 'email'], '--map, or a line of --map-file, must be COLUMN=FIELD, such as --map "E-Mail=email".'],
  [['--map', 'Mail=emial'], '--map: "emial" is not a field (did you mean "email"?). For any other, use "data.NAME".'],
  [['--map', 'a=email', '--map', 'b=email'], '--map: the field "email" is named twice.'],
  [['--map', 'a=email', '--ignore', 'a'], '--map: the column "a" is named twice.'],
  [['--map', 'a=data.', '--map-file', 'none'], "--map-file: the file none doesn't exist."],
  [['--format', 'constructor'], '--format must be csv, tsv, jsonl or json.'],
  [['--delimiter', ';;'], '--delimiter must be one character such as ; or |, or tab.'],
  [['--delimiter', 'x'], '--delimiter must be one character such as ; or |, or tab.'],
  [['--map', 'Mail=email'], 'users.csv:1: The header has no column "Mail", which --map names.'],
  [['--map', 'plan=email'], 'users.csv:1: The header has several columns "email". Keep one.'],
  [['--map', 'plan=data', '--map', 'name=data.name'], 'users.csv:1: Use either the column "data" or columns'],
])('rejects %j', async (options, problem) => {
  const { run, sent } = await setUp('subscriberId,email,plan,name\n1,a@mail.example,{},x\n');
  const { code, stderr } = await run(...options);
  expect(code).toBe(2);
  expect(stderr).toContain(problem);
  expect(sent()).toEqual([]);
});

it('R59: warns of values that stand for none, and leaves out those that --null names', async () => {
  const rows = ['a,NULL,Null,\\N,pro', 'b,Ann,"NULL",+44,NULL', 'None,x,#N/A,,', 'd,nullable,,+44,N/A'];
  const { run, sent } = await setUp(`subscriberId,firstName,lastName,phone,data.plan\n${rows.join('\n')}\n`);
  const warn = (line: number, values: string, text: string) =>
    `users.csv:${line}: warning: ${values} ${text}. To read such values as empty, use --null "${text}".\n`;
  const warning = [
    warn(2, '3 values are', 'NULL'),
    warn(2, '1 value is', '\\N'),
    warn(4, '1 value is', 'None'),
    warn(4, '1 value is', '#N/A'),
    warn(5, '1 value is', 'N/A'),
  ].join('');
  expect(await run('--dry-run')).toMatchObject({ code: 0, stderr: warning });
  expect(await run()).toMatchObject({ code: 0, stderr: warning });
  expect(fieldsOf(sent())[0]).toEqual({
    subscriberId: 'a',
    firstName: 'NULL',
    lastName: 'Null',
    phone: '\\N',
    data: { plan: 'pro' },
  });
  const named = ['NULL', '\\N', 'None', '#N/A'].flatMap((text) => ['--null', text]);
  const rejected = await run(...named, '--skip-invalid', '--report', 'report.jsonl');
  expect(rejected.stderr).toBe(`${warn(5, '1 value is', 'N/A')}users.csv:4: subscriberId is missing.\n`);
  expect(rejected.code).toBe(1);
  expect(fieldsOf(sent()).slice(4)).toEqual([
    { subscriberId: 'a', lastName: 'Null', data: { plan: 'pro' } },
    { subscriberId: 'b', firstName: 'Ann', phone: '+44' },
  ]);
});

it('R59: leaves such values of JSON out, which keeps what the subscriber has, and clears those that are null', async () => {
  const { folder, importFile, sent } = await setUp('');
  const lines = ['{"subscriberId":"1","firstName":"NULL","lastName":null,"data":"NULL"}'];
  await writeFile(folder.path('users.jsonl'), lines.join('\n'));
  expect((await importFile('users.jsonl', '--dry-run')).stderr).toContain(
    'users.jsonl:1: warning: 2 values are NULL. ',
  );
  expect(await importFile('users.jsonl', '--null', 'NULL')).toMatchObject({ stderr: '' });
  expect(fieldsOf(sent())).toEqual([{ subscriberId: '1', lastName: null }]);
  await writeFile(folder.path('data.csv'), 'subscriberId,data,channels\n1,null,NULL\n');
  expect((await importFile('data.csv', '--dry-run')).stderr).toContain('data must be a JSON object.');
  expect(await importFile('data.csv', '--dry-run', '--null', 'NULL', '--null', 'null')).toMatchObject({
    code: 0,
    stderr: '',
  });
});

const ROWS = 'subscriberId,email\n1,ann@mail.example\n2,nobody\n3,cid@mail.example\n';

it('reads standard input, and resumes when the same rows are piped again', async () => {
  const { folder, pipe, sent } = await setUp('');
  const options = ['--format', 'csv', '--results', 'users.db', '--skip-invalid'];
  const first = await pipe(ROWS, ...options);
  expect(first).toMatchObject({ code: 1, stderr: 'standard input:3: email must be an email address.\n' });
  expect(first.stdout).toContain('users.db.rejected.csv has the rejected rows, with reasons.');
  const again = await pipe(`${ROWS}4,dan@mail.example\n`, ...options);
  expect(again.stdout).toContain(
    'standard input has changed: 1 of 3 rows is new or different. 2 rows are already applied',
  );
  expect(sent().map(({ subscriberId }) => subscriberId)).toEqual(['1', '3', '4']);
  expect((await readdir(folder.path())).toSorted()).toEqual(['users.csv', 'users.db', 'users.db.rejected.csv']);
});

it('requires the names that standard input does not have', async () => {
  const { folder, pipe, sent } = await setUp('');
  const needed = 'Standard input has no name: add --format and --results.\n';
  expect(await pipe(ROWS)).toMatchObject({ code: 2, stderr: needed });
  expect(await pipe(ROWS, '--format', 'csv')).toMatchObject({ code: 2, stderr: needed });
  expect(await pipe(ROWS, '--format', 'csv', '--results', 'a.db', '--key-file', '-')).toMatchObject({
    code: 2,
    stderr: 'Standard input can have the rows or the key, not both. Name a file with --key-file.\n',
  });
  expect(await readdir(folder.path())).toEqual(['users.csv']);
  expect(sent()).toEqual([]);
});

it('reads a pipe of a shell once, and ends when it is stopped while nothing arrives', async () => {
  const { folder, optionsOf, sent } = await setUp(ROWS.replace('2,nobody\n', ''));
  const { args, ...options } = optionsOf('--format', 'csv', '--results', 'users.db');
  const piped = { ...options, args: args.with(2, '-') };
  const readOnce = await runNotigraph({ ...piped, wrapper: ['sh', '-c', 'cat users.csv | "$@"', 'sh'] });
  expect(readOnce).toMatchObject({ code: 0, stderr: '' });
  expect(sent()).toHaveLength(2);

  await using waiting = spawnNotigraph({
    ...piped,
    args: [...piped.args, '--results', 'other.db'],
    wrapper: ['sh', '-c', 'mkfifo rows; exec "$@" <>rows', 'sh'],
  });
  await expect.poll(() => readdir(folder.path())).toContain('other.db');
  expect(await waiting.stop('SIGTERM')).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(/Nothing was sent\.\n$/),
  });
  expect(await readdir(folder.path())).not.toContain('other.db');
  expect(sent()).toHaveLength(2);
});

it.each([
  ['csv', 'subscriberId\n', 'user\n', 2],
  ['jsonl', '[', '{"subscriberId":"user"},', 1],
] as const)(
  'reads rows of %s before all have arrived, and closes the pipe if no more are wanted',
  async (format, start, row, line) => {
    const pipe = new PassThrough();
    pipe.write(start + row.repeat(20_000));
    const rows = readRows({ file: pipe, format });
    expect((await rows.next()).value).toMatchObject({ line, subscriber: { subscriberId: 'user' } });
    await rows.return(undefined);
    expect(pipe.destroyed).toBe(true);
  },
);

it('asks for no key if standard input has the rows', async () => {
  const { optionsOf, sent } = await setUp('', undefined, { NOTIGRAPH_IMPORT_KEY: '' });
  const { args, ...options } = optionsOf('--format', 'csv', '--results', 'a.db');
  const typed = { ...options, args: args.with(2, '-'), input: { text: ROWS, isTTY: true } };
  expect(await runCommand(typed)).toMatchObject({
    code: 2,
    stderr: 'There is no API key. Set NOTIGRAPH_IMPORT_KEY, or use --key-file.\n',
  });
  expect(sent()).toEqual([]);
});

it('refuses a pipe that has a name', async () => {
  const { folder, importFile } = await setUp('');
  execFileSync('mkfifo', [folder.path('rows.csv')]);
  expect(await importFile('rows.csv', '--dry-run')).toMatchObject({
    code: 2,
    stderr: 'The file rows.csv is a pipe, not a regular file.\n',
  });
});

it('reads compressed files', async () => {
  const { folder, importFile, sent } = await setUp('');
  const parts = [ROWS.slice(0, 30), ROWS.slice(30)].map((part) => gzipSync(part)); // As `cat a.gz b.gz` joins them.
  await writeFile(folder.path('users.CSV.gz'), Buffer.concat(parts));
  expect((await importFile('users.CSV.gz', '--skip-invalid')).code).toBe(1);
  expect(sent().map(({ subscriberId }) => subscriberId)).toEqual(['1', '3']);
  expect((await readdir(folder.path())).toSorted()).toEqual([
    'users.CSV.gz',
    'users.CSV.gz.rejected.CSV',
    'users.CSV.gz.results.db',
    'users.csv',
  ]);
  expect(await readFile(folder.path('users.CSV.gz.rejected.CSV'), 'utf8')).toBe(
    'line,reasons,subscriberId,email\n3,email must be an email address.,2,nobody\n',
  );
});

it.each([
  ['cut off', (gzip: Buffer) => gzip.subarray(0, gzip.length - 20)],
  ['damaged', (gzip: Buffer) => gzip.fill(0, gzip.length >> 1, (gzip.length >> 1) + 16)],
  ['wrong at its checksum', (gzip: Buffer) => gzip.fill(0, gzip.length - 8)],
  ['not compressed', () => Buffer.from(ROWS)],
])('sends nothing of a compressed file that is %s', async (_kind, change) => {
  const { folder, importFile, sent } = await setUp('');
  const rows = Array.from({ length: 6_000 }, (_, i) => `${i},u${(i * 7919) % 6_000}@mail.example\n`).join('');
  await writeFile(folder.path('users.csv.gz'), change(gzipSync(`subscriberId,email\n${rows}`)));
  expect(await importFile('users.csv.gz', '--skip-invalid')).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringMatching(/The file users\.csv\.gz is damaged, incomplete or not compressed by gzip\.\n$/),
  });
  expect(sent()).toEqual([]);
});

it('reads JSON arrays in any layout, and names rows by the line in which they begin', async () => {
  const { folder, importFile, sent, report } = await setUp('');
  const content = `\ufeff
[
  {
    "subscriberId": "1",
    "firstName": "]} \\\\\\" , [{",
    "data": { "list": [1, { "a": "\\u005d" }], "text": "\\\\" }
  }, {"subscriberId":"2"}
  ,
  { "subscriberId": "3",
    "email": "nobody" },
  { "subscriberId": "4" "email": 1 }, 5, [{}], null, "a ], b", {"subscriberId": \\"5"},
  {"subscriberId":"6","firstName":"${'x'.repeat(300_000)}"},
  {"subscriberId":"7"}
]
`;
  await writeFile(folder.path('users.json'), content);
  const { code, stderr, stdout } = await importFile('users.json', '--skip-invalid', '--report', 'report.jsonl');
  expect(stderr.split('\n')).toEqual([
    'users.json:9: email must be an email address.',
    'users.json:11: The element is not valid JSON. Each element must be a complete object.',
    'users.json:11: The row must be a JSON object.',
    'users.json:11: The row must be a JSON object.',
    'users.json:11: The row must be a JSON object.',
    'users.json:11: The row must be a JSON object.',
    'users.json:11: The element is not valid JSON. Each element must be a complete object.',
    'users.json:12: The element is longer than 256 KiB.',
    '',
  ]);
  expect({ code, stdout }).toEqual({
    code: 1,
    stdout: expect.stringContaining('users.json.rejected.jsonl has the rejected rows'),
  });
  expect(fieldsOf(sent())).toEqual([
    { subscriberId: '1', firstName: ']} \\" , [{', data: { list: [1, { a: ']' }], text: '\\' } },
    { subscriberId: '2' },
    { subscriberId: '7' },
  ]);
  const rejected = await readFile(folder.path('users.json.rejected.jsonl'), 'utf8');
  const [first = ''] = rejected.split('\n');
  expect(first).toBe(
    '\ufeff{"line":9,"reasons":"email must be an email address.", "subscriberId": "3", "email": "nobody" }',
  );
  await writeFile(folder.path('users.json.rejected.jsonl'), `${first.replace('nobody', 'c@mail.example')}\n`);
  expect(await importFile('users.json.rejected.jsonl', '--format', 'json', '--skip-invalid')).toMatchObject({
    code: 0,
  });
  expect(fieldsOf(sent()).at(-1)).toEqual({ subscriberId: '3', email: 'c@mail.example' });
  expect(await report('report.jsonl')).toHaveLength(11);
});

it.each([[[]], [['--bulk']]])('sends all elements of a JSON array that is a single line (%j)', async (args) => {
  const { folder, importFile, report } = await setUp('', ({ email, subscribers = [] }) =>
    [email, ...subscribers.map((each) => each.email)].includes('b@mail.example')
      ? { status: 422, body: { message: ['not deliverable'] } }
      : undefined,
  );
  const emails = ['a@mail.example', 'nobody', 'b@mail.example', 'no body', 'c@mail.example', 'd@mail.example'];
  const rows = emails.map((email, i) => ({ subscriberId: `${9 - i}`, email }));
  await writeFile(folder.path('users.json'), JSON.stringify(rows));
  const options = ['--skip-invalid', '--report', 'report.jsonl', ...args];
  expect(await importFile('users.json', ...options)).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(
      /3 created, 0 updated\.\n1 row failed .*\n3 of 4 valid rows are applied.*\n3 rejected rows/,
    ),
  });
  const outcomes = await report('report.jsonl');
  expect(
    outcomes
      .map(({ subscriberId, outcome }) => [subscriberId, outcome])
      .toSorted()
      .toReversed(),
  ).toEqual([
    ['9', 'created'],
    ['8', 'invalid'],
    ['7', 'failed'],
    ['6', 'invalid'],
    ['5', 'created'],
    ['4', 'created'],
  ]);
  const rejected = (await readFile(folder.path('users.json.rejected.jsonl'), 'utf8')).trim().split('\n');
  expect(rejected.map((line): unknown => JSON.parse(line))).toEqual([
    { line: 1, reasons: 'email must be an email address.', ...rows[1] },
    { line: 1, reasons: 'not deliverable (BAD_USER_INPUT)', ...rows[2] },
    { line: 1, reasons: 'email must be an email address.', ...rows[3] },
  ]);
});

it('reads a large JSON array in parts', async () => {
  const { folder, importFile } = await setUp('');
  const row = (i: number) =>
    JSON.stringify({ subscriberId: `${i}`, data: { text: '"\\}👩,'.repeat(1 + (i % 13)) } }, null, i % 3);
  const rows = Array.from({ length: 20_000 }, (_, i) => row(i));
  await writeFile(folder.path('users.json'), `[${rows.join(',\n')}]`);
  expect((await importFile('users.json', '--dry-run')).stdout).toContain('users.json: 20,000 rows, all valid.');
  await writeFile(folder.path('users.json.gz'), gzipSync(`[${rows.join(',\n')},{"subscriberId":"7"}]`));
  const line = rows.join(',\n').split('\n').length;
  expect((await importFile('users.json.gz', '--dry-run')).stderr).toMatch(
    new RegExp(`^users\\.json\\.gz:${line}: subscriberId is that of line \\d+ too\\.`, 'm'),
  );
});

it.each([
  ['[{"subscriberId":"1"},\n{"subscriberId":"2"}', 2],
  ['[{"subscriberId":"1"},\n{"subscriberId":"2}]\n', 2],
  ['[{"subscriberId":"1"},\n{"subscriberId":"2","data":{"a":[1}]\n', 2],
  ['[{"subscriberId":"1"}\n]\n{"subscriberId":"2"', 3],
  ['[{"subscriberId":"1"}\n,\n', 3],
  ['[{"subscriberId":"1"}]\n{', 2],
  ['[{"subscriberId":"1"}]\nx', 2],
])('sends nothing of a JSON array that does not end: %j', async (content, line) => {
  const { folder, importFile, sent } = await setUp('');
  await writeFile(folder.path('users.json'), content);
  expect(await importFile('users.json', '--skip-invalid')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining(`users.json:${line}: The JSON array does not end.`),
  });
  expect(sent()).toEqual([]);
});

it('reads arrays that follow each other, and a line of them as lines', async () => {
  const { folder, importFile, pipe, sent } = await setUp('');
  await writeFile(folder.path('pages.json'), '[{"subscriberId":"1"}]\n[{"subscriberId":"2"},]');
  expect((await importFile('pages.json')).code).toBe(0);
  await writeFile(folder.path('lines.json'), '{"subscriberId":"3"}\n{"subscriberId":"4"}');
  expect((await importFile('lines.json')).code).toBe(0);
  expect((await pipe('[{"subscriberId":"5"}]', '--format', 'json', '--results', 'a.db')).code).toBe(0);
  expect(sent().map(({ subscriberId }) => subscriberId)).toEqual(['1', '2', '3', '4', '5']);
  await writeFile(folder.path('empty.json'), '[]');
  expect((await importFile('empty.json')).stderr).toContain('empty.json:1: The file has no rows.');
});

it.each([
  [
    'a comma in a quoted header',
    [],
    '"subscriberId";"data.a, b, c";"email"\n1;x;a@mail.example\n2;y;nobody\n',
    { 'a, b, c': 'x' },
  ],
  [
    'a line break in a quoted header',
    [],
    'subscriberId;"data.a,\n,b";email\n1;x;a@mail.example\n2;y;nobody\n',
    { 'a,\n,b': 'x' },
  ],
  [
    "Excel's line",
    [],
    '\ufeffsep=;\r\nsubscriberId;data.a,b;email\r\n1;x;a@mail.example\r\n2;y;nobody\r\n',
    { 'a,b': 'x' },
  ],
  [
    'another delimiter of Excel',
    [],
    'sep=^\nsubscriberId^data.plan^email\n1^x^a@mail.example\n2^y^nobody\n',
    { plan: 'x' },
  ],
  ['bars', [], 'subscriberId|data.a|email\n1|x|a@mail.example\n2|y|nobody\n', { a: 'x' }],
  [
    '--delimiter',
    ['--delimiter', '~'],
    'subscriberId~data.a,b;c~email\n1~x~a@mail.example\n2~y~nobody\n',
    { 'a,b;c': 'x' },
  ],
  [
    '--delimiter tab',
    ['--delimiter', 'tab'],
    'subscriberId\tdata.a,b;c\temail\n1\tx\ta@mail.example\n2\ty\tnobody\n',
    { 'a,b;c': 'x' },
  ],
  [
    '--delimiter \\t',
    ['--delimiter', '\\t'],
    'subscriberId\tdata.a,b\temail\n1\tx\ta@mail.example\n2\ty\tnobody\n',
    { 'a,b': 'x' },
  ],
] as const)('reads %s, and the rejected rows with the same options', async (_form, options, content, data) => {
  const { folder, run, importFile, sent } = await setUp(content);
  const line = content.split(/\r?\n/).length - 1;
  const first = await run(...options, '--skip-invalid');
  expect(first).toMatchObject({ code: 1, stderr: `users.csv:${line}: email must be an email address.\n` });
  const rejected = folder.path('users.csv.rejected.csv');
  await writeFile(rejected, (await readFile(rejected, 'utf8')).replace('nobody', 'b@mail.example'));
  expect(await importFile('users.csv.rejected.csv', ...options)).toMatchObject({ code: 0, stderr: '' });
  const [name = ''] = Object.keys(data);
  expect(fieldsOf(sent())).toEqual([
    { subscriberId: '1', email: 'a@mail.example', data },
    { subscriberId: '2', email: 'b@mail.example', data: { [name]: 'y' } },
  ]);
});
