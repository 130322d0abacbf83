import { chmod, writeFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { dropPrivileges } from '../../../test/support/drop-privileges.ts';
import { createTemporaryFolder } from '../../../test/support/sandbox-files.ts';
import { Results } from '../src/import/results.ts';
import { type Format, readRows } from '../src/import/rows.ts';
import { checkRows } from '../src/import/run-import.ts';

/** Checks a file, and returns its rows and problems as lines. */
async function checkFile(content: string | Buffer, format: Format = 'csv') {
  await using folder = await createTemporaryFolder();
  await writeFile(folder.path('file'), content);
  using results = new Results(undefined);
  const checked = { rows: 0 };
  await checkRows(readRows({ file: folder.path('file'), format }), results, checked);
  const samples = [...results.pending().take(3)];
  const problems = [...results.entries(['invalid'])].map(({ line, message }) => `${line}: ${message}`);
  return {
    rows: checked.rows,
    problems,
    samples: samples.map(({ subscriber: fields }) => fields),
  };
}

it('reads CSV as spreadsheets write it', async () => {
  const content =
    '\ufeffsubscriberId;firstName;data.plan;data.team.id\r\n1;"Ann; ""A""";"pro\r\nplus";7\r\n\r\n2;;;\n3;Zoë;;';
  expect(await checkFile(content)).toEqual({
    rows: 3,
    problems: [],
    samples: [
      { subscriberId: '1', firstName: 'Ann; "A"', data: { plan: 'pro\r\nplus', team: { id: '7' } } },
      { subscriberId: '2' },
      { subscriberId: '3', firstName: 'Zoë' },
    ],
  });
  expect((await checkFile('subscriberId,data\n1,"{""a"":[1]}"\n')).samples).toEqual([
    { subscriberId: '1', data: { a: [1] } },
  ]);
});

it('names every problem of a file by its line', async () => {
  const rows = ['1,a@b.example,en_US', '2,nobody,x', '" 3",,', '"a\n\nb",,', '1,,', '5,"a@b.example",en,more', '6,a"b'];
  expect((await checkFile(`subscriberId,email,locale\n${rows.join('\n')}\n7,nobody,`)).problems).toMatchInlineSnapshot(`
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
  expect((await checkFile('subscriberid,emial,data,data.x,email,email\n1,,,,,\n')).problems).toMatchInlineSnapshot(`
    [
      "1: The header has 2 unknown columns. Correct the header, or add --map "subscriberid=subscriberId" --ignore "emial". To keep "emial", use --map "emial=data.emial" instead.",
      "1: The header has several columns "email". Keep one.",
      "1: Use either the column "data" or columns that begin with "data.", not both.",
    ]
  `);
  expect((await checkFile('')).problems).toEqual(['1: The file is empty. Its first line must name the columns.']);
  expect((await checkFile('subscriberId\n')).problems).toEqual(['1: The file has no rows.']);
  const latin1 = Buffer.from('subscriberId,firstName\n1,Ann\n2,Zo\u00eb\n', 'latin1');
  expect((await checkFile(latin1)).problems).toEqual(['3: The file is not UTF-8 here. Save it as UTF-8.']);
  const unclosed = `subscriberId,firstName\n1,ok\n2,"${'x,\n'.repeat(200_000)}`;
  expect((await checkFile(unclosed)).problems).toEqual([
    '3: The row is longer than 256 KiB. Check that every quote in it is closed.',
  ]);
});

it('says what to do about columns of other systems', async () => {
  const keep = 'To keep "plan", use --map "plan=data.plan" instead.';
  expect((await checkFile('id,email,plan\n1,,\n')).problems).toEqual([
    `1: The header has 2 unknown columns. Correct the header, or add --map "id=subscriberId" --ignore "plan". ${keep}`,
  ]);
  expect((await checkFile('emial,plan\n1,\n')).problems).toEqual([
    `1: The header has 2 unknown columns. Correct the header, or add --map "emial=email" --ignore "plan". ${keep}`,
    '1: The header has no column "subscriberId".',
  ]);
  expect((await checkFile('id,subscriberId,user_id\n1,1,1\n')).problems).toEqual([
    '1: The header has 2 unknown columns. Correct the header, or add --ignore "id" --ignore "user_id". To keep "id", use --map "id=data.id" instead.',
  ]);
  expect((await checkFile('{"id":1}\n{"subscriberId":1,"plan":"x","id":2}', 'jsonl')).problems).toEqual([
    '1: The row has 1 unknown field. Correct the row, or add --map "id=subscriberId".',
    '1: subscriberId is missing.',
    `2: The row has 2 unknown fields. Correct the row, or add --ignore "plan" --ignore "id". ${keep}`,
  ]);
  expect((await checkFile('line,subscriberId\n1,a\n')).problems).toEqual([
    '1: The header has 1 unknown column. Correct the header, or add --ignore "line". To keep "line", use --map "line=data.line" instead.',
  ]);
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
    '{"subscriberId":"e","avatar":"https://","email":"a@b.example\\r\\nBcc: c@d.example","locale":"en\\t"}',
    '{"subscriberId":"f","firstName":"a\\nb","lastName":"\\u0000","phone":"\\ud800","data":{"text":"a\\nb"}}',
  ];
  const { samples, problems } = await checkFile(lines.join('\n'), 'jsonl');
  expect(samples).toEqual([{ subscriberId: '1', email: null, channels: [{}] }]);
  expect(problems).toMatchInlineSnapshot(`
    [
      "3: The row must be a JSON object.",
      "4: The line is not valid JSON. Each line must be a complete object.",
      "5: The row has 1 unknown field. Correct the row, or add --map "emial=email".",
      "6: subscriberId is missing.",
      "6: phone must be text.",
      "7: data is invalid: JSON cannot represent this number exactly; send it as a string.",
      "8: The line is longer than 256 KiB.",
      "9: avatar must be an http or https URL.",
      "10: email must be a single line without control characters.",
      "10: avatar must be an http or https URL.",
      "10: locale must be a single line without control characters.",
      "11: firstName must be a single line without control characters.",
      "11: lastName must be a single line without control characters.",
      "11: phone must be well-formed Unicode.",
    ]
  `);
  expect((await checkFile('subscriberId,firstName\n1,"a\nb"\n')).problems).toEqual([
    '2: firstName must be a single line without control characters.',
  ]);
});

it('R16: rejects ids that could not be read, and empty fields of JSON lines', async () => {
  expect((await checkFile(`subscriberId,email\n..,\na/../b,\n"  ",\n${'x'.repeat(257)},\na b,\n`)).problems).toEqual([
    '2: subscriberId must not contain the path segments "." or "..".',
    '3: subscriberId must not contain the path segments "." or "..".',
    '4: subscriberId must not begin or end with a space.',
    '5: subscriberId must not be longer than 256 characters.',
  ]);
  const lines = [
    '{"subscriberId":"","email":""}',
    '{"subscriberId":null}',
    '{"subscriberId":"a","phone":"","emial":null}',
  ];
  expect((await checkFile(lines.join('\n'), 'jsonl')).problems).toEqual([
    '1: subscriberId must not be empty.',
    '1: email must not be empty. Use null to clear it.',
    '2: subscriberId is missing.',
    '3: phone must not be empty. Use null to clear it.',
  ]);
});

it('says why a file cannot be read', async () => {
  await using folder = await createTemporaryFolder();
  await writeFile(folder.path('secret.csv'), 'subscriberId\n1\n', { mode: 0 });
  const path = folder.path('secret.csv');
  await chmod(folder.path(), 0o755);
  using _ = dropPrivileges();
  await expect(readRows({ file: path, format: 'csv' }).next()).rejects.toThrow(
    `The file ${path} can't be read: permission denied.`,
  );
  await expect(readRows({ file: folder.path('missing.csv'), format: 'csv' }).next()).rejects.toThrow(
    "missing.csv doesn't exist.",
  );
});

it('rejects names that can be personal data without quoting them', async () => {
  const noHeader = await checkFile('user-1,ann@example.com,Ann\nuser-2,ben@example.com,Ben\n');
  expect(noHeader.problems).toEqual(['1: The first line must name the columns, such as subscriberId and email.']);
  const oneRow = await checkFile('subscriberId,ann@example.com,,Notes\n1,,,\n');
  expect(oneRow.problems).toEqual([
    '1: Column 3 of the header has no name.',
    '1: The header has 1 unknown column. Correct the header, or add --ignore "Notes". To keep "Notes", use --map "Notes=data.Notes" instead.',
    '1: The header has an unknown column (column 2).',
  ]);
  const escapes = await checkFile(`{"subscriberId":"1","\\u001b[31m":1,"${'x'.repeat(60)}":2}`, 'jsonl');
  expect(escapes.problems).toEqual(['1: The row has an unknown field.', '1: The row has an unknown field.']);
});

it('rejects what would be lost on the way to the service', async () => {
  const column = await checkFile('subscriberId,data.__proto__\n1,x\n');
  expect(column.problems).toEqual(['2: data is invalid: JSON cannot represent a key "__proto__".']);
  const members = ['{"subscriberId":"1","data":{"__proto__":1}}', '{"subscriberId":"2","channels":[{"__proto__":1}]}'];
  expect((await checkFile(members.join('\n'), 'jsonl')).problems).toEqual([
    '1: data is invalid: JSON cannot represent a key "__proto__".',
    '2: channels is invalid: JSON cannot represent a key "__proto__".',
  ]);
});
