import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { DatabaseSync } from 'node:sqlite';
import { promisify } from 'node:util';

import { describe, expect, it } from 'vitest';
import { runCommand } from '../../../test/support/command.ts';
import { findPrograms } from '../../../test/support/programs.ts';
import { createSandboxClient, openSandbox } from '../../../test/support/sandbox-client.ts';
import { createTemporaryFolder } from '../../../test/support/sandbox-files.ts';
import {
  runLimitedSandbox,
  runSandbox,
  spawnLimitedSandbox,
  spawnSandbox,
} from '../../../test/support/sandbox-process.ts';
import { resetSandbox, startSandbox } from '../../sandbox/src/sandbox.ts';
import { sandbox as sandboxCommand } from '../src/commands/sandbox.ts';

const CURL = findPrograms('curl');

describe('the sandbox as a process', () => {
  it.runIf(CURL.areThere)(
    `prints its address, the data file and an example request, and exits with 0 on SIGINT${CURL.note}`,
    async () => {
      await using folder = await createTemporaryFolder();
      const file = folder.path('sandbox.db');
      await using sandbox = await spawnSandbox('--file', file);
      expect(sandbox.output()).toContain(`Data: ${file}`);
      expect(sandbox.output()).toContain('sandbox-production-key');
      const command = /curl .*/.exec(sandbox.output())?.[0] ?? '';
      const { stdout } = await promisify(execFile)('sh', ['-c', command]);
      expect(JSON.parse(stdout)).toHaveProperty('data');
      expect(await sandbox.stop('SIGINT')).toEqual({ code: 0, signal: null });
    },
  );

  it('rejects invalid options together, without their values', async () => {
    const args = ['--port', 'web', '--prot', '1', '--rate-limit', '0', '--file', '/dev/null', '4010'];
    const { code, stdout, stderr } = await runSandbox(...args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr.trimEnd().split('\n')).toEqual([
      'Unknown option "--prot" (did you mean "--port"?). See notigraph sandbox --help.',
      'Unexpected argument. See notigraph sandbox --help.',
      '--port must be a whole number from 0 to 65535.',
      '--rate-limit must be a whole number from 1 to 999999.',
      '--file: the file /dev/null is a device, not a regular file.',
    ]);
  });

  it('takes on traits, and names the closest one to an unknown one', async () => {
    await using sandbox = await spawnSandbox('--file', ':memory:', '--traits', 'null-items, ingress-404');
    expect(sandbox.output()).toContain('Traits: null-items, ingress-404\n');
    expect(await (await fetch(`${sandbox.url}/v1/feeds`)).text()).toBe('default backend - 404');

    const unknown = await runSandbox('--traits', 'null-item,sick-pod,x');
    expect(unknown).toMatchObject({ code: 2, stdout: '' });
    expect(unknown.stderr).toBe(
      `--traits: unknown trait "null-item" (did you mean "null-items"?). See notigraph sandbox --help.
--traits: unknown trait "x". See notigraph sandbox --help.
`,
    );
    expect(sandboxCommand.details).toMatch(/\n {2}null-items\n/);
  });

  it('reports in one sentence that its file could not be written at the start', async () => {
    await using folder = await createTemporaryFolder();
    const file = folder.path('sandbox.db');
    expect(await runLimitedSandbox(100, '--port', '0', '--file', file)).toEqual({
      code: 1,
      stdout: '',
      stderr: `${file} can't be read or written.\n`,
    });
  });

  it('responds with 507 while its file cannot grow, logs that once, and serves reads', async () => {
    await using folder = await createTemporaryFolder();
    const file = folder.path('sandbox.db');
    await using sandbox = await spawnLimitedSandbox(3_000, '--file', file);
    const send = await createSandboxClient(sandbox.url);
    const write = async (name: string) => (await send('POST /v1/notification-groups', { body: { name } })).status;
    const countGroups = async () => (await send('GET /v1/notification-groups')).list.length;
    const statuses = [await write('g0')];
    while (statuses.at(-1) === 201 && statuses.length < 300) {
      statuses.push(await write(`g${statuses.length}`));
    }
    const count = await countGroups();
    expect([await write('x'), await write('y')]).toEqual([507, 507]);
    expect(statuses.filter((status) => status !== 201)).toEqual([507]);
    expect(await countGroups()).toBe(count);
    expect(sandbox.errors()).toBe(
      `Sandbox: ${file} can't be read or written. Writes fail with status 507 until this is fixed.\n`,
    );
  });
});

describe('notigraph sandbox reset', () => {
  it('replaces the records of a file after a confirmation, also while a sandbox is using it', async () => {
    await using folder = await createTemporaryFolder();
    const file = folder.path('sandbox.db');
    await using send = await openSandbox({ file });
    const countGroups = async () => (await send('GET /v1/notification-groups')).list.length;
    const before = await countGroups();
    await send('POST /v1/notification-groups', { body: { name: 'New' } });

    const refused = await runSandbox('reset', file);
    expect(refused).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/^Confirm the reset with --yes, [^\n]+\n$/),
    });
    expect(await countGroups()).toBe(before + 1);
    expect(await runSandbox('reset', file, '-y')).toEqual({
      code: 0,
      stdout: `${file} now has the sample records. A sandbox that is using it shows them immediately.\n`,
      stderr: '',
    });
    expect(await countGroups()).toBe(before);
  });

  it('asks on a terminal, and changes nothing without a yes', async () => {
    await using folder = await createTemporaryFolder();
    const file = folder.path('sandbox.db');
    await (await startSandbox({ file })).close();
    const ask = async (answer: string) =>
      (await runCommand({ args: ['sandbox', 'reset', file], input: { text: answer, isTTY: true } })).stdout;
    const question = `Replace all records in ${file} with the sample records? [y/N] `;
    expect(await ask('\n')).toBe(`${question}Nothing was changed.\n`);
    expect(await ask('')).toBe(`${question}Nothing was changed.\n`);
    expect(await ask('y\n')).toContain(`${file} now has the sample records.`);
  });

  it('leaves every file unchanged that is not the database of a sandbox', async () => {
    await using folder = await createTemporaryFolder();
    const other = new DatabaseSync(folder.path('other.db'));
    other.exec('CREATE TABLE records (id); INSERT INTO records VALUES (1)');
    other.close();
    await writeFile(folder.path('empty.db'), '');
    await writeFile(folder.path('notes.txt'), 'Some other text.');
    for (const [name, problem] of [
      ['other.db', 'is not the database of a sandbox. It was not changed.'],
      ['empty.db', 'is not the database of a sandbox. It was not changed.'],
      ['notes.txt', 'is not a SQLite database.'],
      ['nowhere.db', "doesn't exist."],
    ] as const) {
      const file = folder.path(name);
      const content = existsSync(file) ? await readFile(file) : undefined;
      expect(() => resetSandbox(file)).toThrow(`${file} ${problem}`);
      expect(existsSync(file) ? await readFile(file) : undefined).toEqual(content);
    }
    expect(await readdir(folder.path())).toEqual(['empty.db', 'notes.txt', 'other.db']);
  });
});
