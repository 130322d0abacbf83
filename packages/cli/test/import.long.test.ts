import { readdir, readFile, stat, watch, writeFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { guards } from '../../../test/support/guards.ts';
import { setUpImport } from '../../../test/support/import.ts';
import { spawnNotigraph } from '../../../test/support/process.ts';

guards('packages/cli/src/import/results.ts', 'Results.begin');
guards('packages/cli/src/import/send.ts', 'sendRow');
guards('packages/cli/src/import/results.ts', 'Results.[Symbol.dispose]');

it('sends nothing if a row is invalid, and lists all problems in the report', async () => {
  const rows = Array.from({ length: 25 }, (_, i) => `${i},nobody-${i}\n`).join('');
  const { folder, run, sent, report } = await setUpImport(`subscriberId,email\nok,a@b.example\n${rows}`);
  const { code, stdout, stderr } = await run('--report', 'report.jsonl');
  expect({ code, stdout, lines: stderr.trim().split('\n').slice(-3) }).toEqual({
    code: 2,
    stdout: '',
    lines: [
      'users.csv:22: email must be an email address.',
      '… and 5 more.',
      '25 problems, so nothing was sent. All of them are in report.jsonl.',
    ],
  });
  const lines = await report('report.jsonl');
  expect(lines.slice(0, 2)).toEqual([
    { line: 2, subscriberId: 'ok', outcome: 'pending' },
    { line: 3, subscriberId: '0', outcome: 'invalid', message: 'email must be an email address.' },
  ]);
  expect(lines).toHaveLength(26);
  expect(JSON.stringify(lines)).not.toContain('nobody');
  expect((await readdir(folder.path())).toSorted()).toEqual(['report.jsonl', 'users.csv']);
  expect(sent()).toEqual([]);
});

it.each([
  ['SIGINT', []],
  ['SIGTERM', ['--skip-invalid']],
  ['SIGHUP', ['--skip-invalid', '--restart']],
] as const)('leaves no file and sends nothing if %s comes while the file is checked (%j)', async (signal, args) => {
  const rows = Array.from({ length: 400_000 }, (_, i) => `user-${i},\n`).join('');
  const { folder, optionsOf, sent } = await setUpImport(`subscriberId,email\nfirst,nobody\n${rows}`);
  await writeFile(folder.path('users.csv.rejected.csv'), 'corrected');
  const stopped = new AbortController();
  const changes = watch(folder.path(), { signal: stopped.signal });
  await using importing = spawnNotigraph(optionsOf(...args));
  for await (const { filename } of changes) {
    if (filename === 'users.csv.results.db') {
      break;
    }
  }
  stopped.abort();
  expect(await importing.stop(signal)).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(/Nothing was sent\.\n$/),
  });
  expect((await readdir(folder.path())).toSorted()).toEqual(['users.csv', 'users.csv.rejected.csv']);
  expect(sent()).toEqual([]);
});

it('warns of numbers that a spreadsheet has rounded, and sends them', async () => {
  const warning = 'warning: a spreadsheet has rounded a number; export it as text.\n';
  for (const [row, isWarned] of [
    ['1.23457E+11,', true],
    ['"1,23457E+11",', true],
    ['ok,4.9E+11', true],
    ['1.23457E11x,', false],
    ['E+11,2E+', false],
    ['123456789012,a1E+2', false],
  ] as const) {
    const { run, sent } = await setUpImport(`subscriberId,phone\nfirst,\n${row}\nlast,5E+3\n`);
    const { stdout, stderr } = await run('--dry-run');
    expect([row, stderr]).toEqual([row, `users.csv:${isWarned ? 3 : 4}: ${warning}`]);
    expect(stdout).toContain('users.csv: 3 rows, all valid.');
    if (row === '1.23457E+11,') {
      const { importFile, folder } = await setUpImport('');
      await writeFile(folder.path('bars.csv'), 'subscriberId|phone\n1|1.23457E+11\n');
      expect((await importFile('bars.csv', '--dry-run')).stderr).toBe(`bars.csv:2: ${warning}`);
      expect(await run()).toMatchObject({ code: 0, stderr: `users.csv:3: ${warning}` });
      expect(sent().map(({ subscriberId }) => subscriberId)).toEqual(['first', '1.23457E+11', 'last']);
    }
  }
});

it('resumes after an interruption with the same keys, but not with another environment', async () => {
  const content = `subscriberId,email\n${Array.from({ length: 60 }, (_, i) => `${i},\n`).join('')}`;
  const answered = Promise.withResolvers<void>();
  const awaited = new Set(['5', '20']); // In any order: rows that are due at the same time are.
  let isBroken = true;
  const { optionsOf, run, sent, results, switchEnvironment } = await setUpImport(content, ({ subscriberId }) => {
    awaited.delete(String(subscriberId));
    if (awaited.size === 0) {
      answered.resolve();
    }
    return subscriberId === '5' && isBroken ? { status: 201, body: 'not JSON' } : undefined;
  });
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
  expect(results().length).toBe(sentFirst);
  isBroken = false;

  switchEnvironment('env-2');
  expect(await run()).toMatchObject({ code: 2, stderr: expect.stringContaining('This API key belongs to env-2.') });
  switchEnvironment('env-1');
  expect(sent().length).toBe(sentFirst);

  expect(await run()).toMatchObject({
    code: 0,
    stdout: expect.stringContaining(`Resuming: ${sentFirst - 1} of 60 rows`),
  });
  const ids = sent().map(({ subscriberId }) => subscriberId);
  expect(ids.toSorted()).toEqual([...Array.from({ length: 60 }, (_, i) => String(i)), '5'].toSorted());
  expect(new Set(sent().map(({ key }) => key)).size).toBe(60);
  expect(results().map(({ line, outcome }) => `${line} ${outcome}`)).toEqual(
    Array.from({ length: 60 }, (_, i) => `${i + 2} created`),
  );
});

it('sends only the changed rows of a corrected file, with new keys', async () => {
  const users = { 1: 'a@b.example', 2: 'wrong@b.example', 3: 'c@d.example' };
  const write = (emails: object) =>
    `subscriberId,email\n${Object.entries(emails)
      .map(([id, email]) => `${id},${email}\n`)
      .join('')}`;
  const { folder, run, sent, results } = await setUpImport(write(users), ({ email }) =>
    email === 'wrong@b.example' ? { status: 422, body: { message: ['not deliverable'] } } : undefined,
  );
  const failed = await run();
  expect(failed).toMatchObject({ code: 1, stderr: 'users.csv:3: not deliverable (BAD_USER_INPUT)\n' });
  expect(failed.stdout).toContain('1 rejected row: correct it in users.csv, and run the same command again.\n');

  await writeFile(folder.path('users.csv'), write({ ...users, 2: 'right@b.example', 4: 'e@f.example' }));
  expect(await run()).toMatchObject({
    code: 0,
    stdout: expect.stringContaining(
      'users.csv has changed: 2 of 4 rows are new or different. 2 rows are already applied, and not sent again.\n',
    ),
  });
  await writeFile(folder.path('users.csv'), write({ 1: 'z@b.example', 3: 'c@d.example' }));
  expect((await run()).stdout).toContain(
    '1 of 2 rows is new or different. 1 row is already applied, and not sent again.',
  );
  expect((await run()).stdout).toContain('All rows are already applied');
  // An invalid file changes nothing, also not the results.
  await writeFile(folder.path('users.csv'), write({ 1: 'y@b.example', 3: 'nobody' }));
  expect((await run()).code).toBe(2);
  expect(results().map(({ outcome }) => outcome)).toEqual(['created', 'created']);
  await writeFile(folder.path('users.csv'), write({ 1: 'z@b.example', 3: 'c@d.example' }));
  expect((await run()).stdout).toContain('All rows are already applied');
  // The rows of one import are sent at the same time, so only the order of the imports is certain.
  const rows = sent().map(({ subscriberId, email }) => `${subscriberId} ${email}`);
  expect([rows.slice(0, 3).toSorted(), rows.slice(3, 5).toSorted(), ...rows.slice(5)]).toEqual([
    ['1 a@b.example', '2 wrong@b.example', '3 c@d.example'],
    ['2 right@b.example', '4 e@f.example'],
    '1 z@b.example',
  ]);
  expect(new Set(sent().map(({ key }) => key)).size).toBe(6);
  expect(results()).toEqual([
    { line: 2, subscriberId: '1', outcome: 'created' },
    { line: 3, subscriberId: '3', outcome: 'created' },
  ]);
});

it('sends the valid rows with --skip-invalid, and writes the others to a file', async () => {
  const rows = ['1,a@b.example,Ann', '2,nobody,"B, ""x"""', '3,c@d.example,Zoë', '1,e@f.example,Twice', '5,x'];
  const { folder, run, sent, report } = await setUpImport(`subscriberId,email,firstName\n${rows.join('\n')}\n`);
  const { code, stdout, stderr } = await run('--skip-invalid', '--report', 'report.jsonl');
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr:
      'users.csv:3: email must be an email address.\nusers.csv:5: subscriberId is that of line 2 too. A subscriber must have one row.\nusers.csv:6: The row has 2 cells, but the header has 3.\n',
  });
  expect(stdout).toMatch(
    /^users\.csv: 2 rows valid, 3 rejected\.\n.*All 2 valid rows of the file are applied\..*users\.csv\.rejected\.csv has the rejected rows, with reasons\.\n/s,
  );
  expect(stdout).toContain('3 rejected rows: correct them in users.csv, and run the same command again.');
  expect(sent().map(({ subscriberId }) => subscriberId)).toEqual(['1', '3']);
  const rejected = folder.path('users.csv.rejected.csv');
  expect(await readFile(rejected, 'utf8')).toBe(
    [
      'line,reasons,subscriberId,email,firstName',
      '3,email must be an email address.,2,nobody,"B, ""x"""',
      '5,subscriberId is that of line 2 too. A subscriber must have one row.,1,e@f.example,Twice',
      '6,"The row has 2 cells, but the header has 3.",5,x',
      '',
    ].join('\n'),
  );
  expect((await stat(rejected)).mode & 0o777).toBe(0o600);
  expect((await report('report.jsonl')).map(({ line, outcome }) => `${line} ${outcome}`)).toEqual([
    '2 created',
    '3 invalid',
    '4 created',
    '5 invalid',
    '6 invalid',
  ]);

  await writeFile(folder.path('users.csv'), 'subscriberId,email,firstName\n1,a@b.example,Ann\n2,b@b.example,"B"\n');
  expect((await run('--skip-invalid')).code).toBe(0);
  expect(sent().map(({ subscriberId }) => subscriberId)).toEqual(['1', '3', '2']);
  expect(await readdir(folder.path())).not.toContain('users.csv.rejected.csv');
});

const EMAIL = 'email must be an email address.';

it.each([
  {
    dialect: 'semicolons, quotes, CRLF and a byte order mark',
    name: 'users.csv',
    content: '\ufeff"subscriberId";"email"\r\n"1";"a@b.example"\r\n"2";nobody\r\n"3";"x;""y"',
    rejected: `\ufeffline;reasons;"subscriberId";"email"\r\n3;${EMAIL};"2";nobody\r\n4;${EMAIL};"3";"x;""y"\r\n`,
    left: `\ufeffline;reasons;"subscriberId";"email"\r\n3;${EMAIL};"3";"x;""y"\r\n`,
  },
  {
    dialect: 'tabs and empty cells',
    name: 'users.tsv',
    content: 'subscriberId\temail\tdata.a,b\n1\ta@b.example\tx\n2\tnobody\t"q""t"\n3\tx\t\n',
    rejected: `line\treasons\tsubscriberId\temail\tdata.a,b\n3\t${EMAIL}\t2\tnobody\t"q""t"\n4\t${EMAIL}\t3\tx\t\n`,
    left: `line\treasons\tsubscriberId\temail\tdata.a,b\n3\t${EMAIL}\t3\tx\t\n`,
  },
  {
    dialect: 'CR, and reasons with commas',
    name: 'users.csv',
    content: 'subscriberId,email\r1,a@b.example\r2,nobody\r"3\rb","x,y",z\r',
    rejected: `line,reasons,subscriberId,email\r3,${EMAIL},2,nobody\r4,"The row has 3 cells, but the header has 2.","3\rb","x,y",z\r`,
    left: 'line,reasons,subscriberId,email\r3,"The row has 3 cells, but the header has 2.","3\rb","x,y",z\r',
  },
])('writes rejected rows as the file has them, so that they can be corrected and imported: $dialect', async (each) => {
  const { name, content } = each;
  const { folder, importFile, sent } = await setUpImport('');
  await writeFile(folder.path(name), content);
  expect((await importFile(name, '--skip-invalid')).code).toBe(1);
  const rejected = `${name}.rejected${name.slice(-4)}`;
  expect(await readFile(folder.path(rejected), 'utf8')).toBe(each.rejected);

  // Corrects one row. The other one gets new notes instead of the old ones.
  await writeFile(folder.path(rejected), each.rejected.replace('nobody', 'b@b.example'));
  expect((await importFile(rejected, '--skip-invalid')).code).toBe(1);
  expect(await readFile(folder.path(`${rejected}.rejected${name.slice(-4)}`), 'utf8')).toBe(each.left);
  expect(sent().map(({ subscriberId, email }) => [subscriberId, email])).toEqual([
    ['1', 'a@b.example'],
    ['2', 'b@b.example'],
  ]);
});

it('adds the reasons to rejected JSON lines, and ignores them in the corrected file', async () => {
  const { folder, importFile, sent } = await setUpImport('');
  const lines = [
    '{"subscriberId":"1"}',
    '{"email":"a\\"b"}',
    ' { "subscriberId": "2", "plan": "x" }',
    '{"subscriberId":"3"',
    '[1]',
  ];
  await writeFile(folder.path('users.jsonl'), `${lines.join('\r\n')}\r\n`);
  expect((await importFile('users.jsonl', '--skip-invalid')).code).toBe(1);
  const text = await readFile(folder.path('users.jsonl.rejected.jsonl'), 'utf8');
  expect(text.split('\r\n')).toEqual([
    '{"line":2,"reasons":"subscriberId is missing. email must be an email address.","email":"a\\"b"}',
    '{"line":3,"reasons":"The row has 1 unknown field. Correct the row, or add --ignore \\"plan\\". To keep \\"plan\\", use --map \\"plan=data.plan\\" instead.", "subscriberId": "2", "plan": "x" }',
    '{"line":4,"reasons":"The line is not valid JSON. Each line must be a complete object.","subscriberId":"3"',
    '[1]',
    '',
  ]);
  await writeFile(folder.path('users.jsonl.rejected.jsonl'), text.replace('"3"', '"3"}').replace(', "plan": "x"', ''));
  expect((await importFile('users.jsonl.rejected.jsonl', '--skip-invalid')).code).toBe(1);
  expect(
    sent()
      .map(({ subscriberId }) => subscriberId)
      .toSorted(),
  ).toEqual(['1', '2', '3']);
  const left = await readFile(folder.path('users.jsonl.rejected.jsonl.rejected.jsonl'), 'utf8');
  expect(left.split('\r\n')[0]).toBe(text.split('\r\n')[0]?.replace('"line":2', '"line":1'));
});

it('counts one row as one', async () => {
  const { folder, run } = await setUpImport('subscriberId,email\n1,a@b.example\n');
  expect((await run('--dry-run')).stdout).toMatch(/^users\.csv: 1 row, valid\.\n/);
  expect((await run()).stdout).toContain('\n1 row of the file is applied. Results: users.csv.results.db\n');
  await writeFile(folder.path('users.csv'), 'subscriberId,email\n1,a@b.example\n2,nobody\n3,\n');
  const { stdout } = await run('--skip-invalid');
  expect(stdout).toContain('1 of 2 rows is new or different. 1 row is already applied, and not sent again.\n');
  expect(stdout).toContain('\n1 rejected row: correct it in users.csv, and run the same command again.\n');
});

it('prints no characters that change what people read', async () => {
  const { run } = await setUpImport('subscriberId,firstName\n1,a\u202eb\n', () => ({
    status: 422,
    body: { message: ['a\u202eb\u009bc'] },
  }));
  expect((await run('--dry-run')).stdout).toContain('"firstName":"a?b"');
  expect((await run()).stderr).toBe('users.csv:2: ab c (BAD_USER_INPUT)\n');
});

it.each([
  ['a family', '👩\u200d👩\u200d👧', '👩\u200d👩\u200d👧'],
  ['a sign with a selector and a skin', '🧑🏽\u200d❤\ufe0f\u200d🧑🏻', '🧑🏽\u200d❤\ufe0f\u200d🧑🏻'],
  [
    'a flag of tags',
    '🏴\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}',
    '🏴\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}',
  ],
  ['Persian', 'می\u200cخواهم', 'می\u200cخواهم'],
  ['Sinhala', 'ශ්\u200dරී', 'ශ්\u200dරී'],
  ['joiners in ASCII', 'ad\u200dmin\u200c', 'ad?min?'],
  ['several joiners', '👩\u200d\u200d👩\u200d', '👩??👩?'],
  ['tags without a flag', 'a\u{e0067}\u{e0062}b', 'a??b'],
  ['another text of tags', '🏴\u{e0061}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}', '🏴??????'],
  ['directions', 'א\u200fב\u202e\u2066ג', 'א?ב??ג'],
])('shows %s', async (_kind, name, shown) => {
  const { run, sent } = await setUpImport(`subscriberId,firstName\n1,${name}\n`);
  expect((await run('--dry-run')).stdout).toContain(`"firstName":"${shown}"`);
  await run();
  expect(sent()).toMatchObject([{ firstName: name }]);
});

it.each([
  ['a part of the file cannot be read', '1,\n2,"a" b\n3,\n'],
  ['no row is valid', '1,nobody\n'],
])('sends nothing with --skip-invalid if %s', async (_, rows) => {
  const { run, sent } = await setUpImport(`subscriberId,email\n${rows}`);
  expect(await run('--skip-invalid')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('1 problem, so nothing was sent.'),
  });
  expect(sent()).toEqual([]);
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
  expect(results()[1]).toEqual({
    line: 3,
    subscriberId: '2',
    outcome: 'failed',
    code: 'BAD_USER_INPUT',
    message: '… is not deliverable',
  });
});
