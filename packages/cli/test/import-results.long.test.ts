import { constants } from 'node:fs';
import { appendFile, chmod, lstat, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { DatabaseSync } from 'node:sqlite';
import { expect, it } from 'vitest';
import { guards } from '../../../test/support/guards.ts';
import { setUpImport } from '../../../test/support/import.ts';
import { spawnNotigraph } from '../../../test/support/process.ts';
import { createTemporaryFolder } from '../../../test/support/sandbox-files.ts';
import { openPrivateFile } from '../src/import/results.ts';

guards('packages/cli/src/import/results.ts', 'Results.#open');

const USERS = `subscriberId\n${Array.from({ length: 40 }, (_, i) => `${i}\n`).join('')}`;

const RESULTS = 'users.csv.results.db';

it('does not overwrite a file of another kind, or the database of another program', async () => {
  const { folder, run, sent } = await setUpImport(USERS);
  const refusal = { code: 2, stderr: expect.stringContaining('has no results of an import.') };
  await writeFile(folder.path(RESULTS), '{"a":1}\n');
  expect(await run()).toMatchObject(refusal);
  expect(await readFile(folder.path(RESULTS), 'utf8')).toBe('{"a":1}\n');

  await rm(folder.path(RESULTS));
  using database = new DatabaseSync(folder.path(RESULTS));
  database.exec('CREATE TABLE mine (a)');
  const before = await readFile(folder.path(RESULTS));
  expect(await run()).toMatchObject(refusal);
  expect(before.equals(await readFile(folder.path(RESULTS)))).toBe(true);
  expect(sent()).toEqual([]);
});

it('does not follow a symbolic link', async () => {
  const { folder, run, sent } = await setUpImport(USERS);
  await writeFile(folder.path('other.db'), '');
  await symlink('other.db', folder.path(RESULTS));
  const stderr = `--results: the file ${RESULTS} is a symbolic link, not a regular file.\n`;
  expect(await run()).toMatchObject({ code: 2, stdout: '', stderr });
  expect(sent()).toEqual([]);
  expect(await readFile(folder.path('other.db'), 'utf8')).toBe('');
  expect((await readdir(folder.path())).toSorted()).toEqual(['other.db', 'users.csv', RESULTS]);
});

it('does not follow a symbolic link that appears after the check', async () => {
  await using folder = await createTemporaryFolder();
  await symlink('victim.txt', folder.path(RESULTS));
  expect(() => openPrivateFile(folder.path(RESULTS), constants.O_RDWR)).toThrow('ELOOP');
  expect(await readdir(folder.path())).toEqual([RESULTS]);
});

it('prints the problems of a file even if they cannot be written', async () => {
  const { run } = await setUpImport('subscriberId,email\n1,nobody\n');
  expect(await run('--dry-run', '--results', 'missing/results.db')).toMatchObject({
    code: 2,
    stderr: 'users.csv:2: email must be an email address.\n1 problem, so nothing was sent.\n',
  });
  expect(await run('--results', 'missing/results.db')).toMatchObject({
    code: 1,
    stderr:
      "The results file missing/results.db can't be written: no such file or directory. Fix this and run the same command again.\n",
  });
});

it('is readable by its owner only, also if it was not, and not used for another environment', async () => {
  const { folder, run, sent, switchEnvironment } = await setUpImport(USERS);
  await writeFile(folder.path(RESULTS), ''); // The first import was killed before it stored anything.
  expect(await run()).toMatchObject({ code: 0, stderr: '' });
  expect(sent()).toHaveLength(40);
  const modeOf = async (name = RESULTS) => (await lstat(folder.path(name))).mode & 0o777;
  await chmod(folder.path(RESULTS), 0o644);
  expect((await run('--restart')).code).toBe(0);
  expect(await modeOf()).toBe(0o600);
  expect(sent()).toHaveLength(80);
  switchEnvironment('env-2');
  expect(await run()).toMatchObject({ code: 2, stderr: expect.stringContaining('This API key belongs to env-2.') });
  expect((await run('--results', 'env-2.db')).code).toBe(0);
  expect(await modeOf('env-2.db')).toBe(0o600);
  expect(sent()).toHaveLength(120);
});

it('permits one import of a file at a time', async () => {
  const firstSent = Promise.withResolvers<void>();
  const { folder, optionsOf, run, sent } = await setUpImport(USERS, () => void firstSent.resolve());
  const first = spawnNotigraph(optionsOf('--rate', '1')); // It takes longer than the second one to start, on any machine.
  await firstSent.promise;
  expect(await run('--restart')).toMatchObject({
    code: 2,
    stderr: `Another import with the results file ${RESULTS} is running. Wait until it ends, or name another file with --results.\n`,
  });
  await first.stop('SIGKILL');
  expect(await run()).toMatchObject({ code: 0, stdout: expect.stringContaining('Resuming') });
  expect(await readdir(folder.path())).toEqual(['users.csv', RESULTS]);
  expect(new Set(sent().map(({ key }) => key)).size).toBe(40);
});

it('sends no row that was added to the file during the import', async () => {
  const firstSent = Promise.withResolvers<void>();
  const { folder, optionsOf, sent } = await setUpImport(USERS, () => void firstSent.resolve());
  const importing = spawnNotigraph(optionsOf('--rate', '20'));
  await firstSent.promise;
  await appendFile(folder.path('users.csv'), '40\n41\n');
  expect(await importing.ended).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('All 40 rows of the file are applied.'),
  });
  expect(sent().filter(({ subscriberId }) => Number(subscriberId) >= 40)).toEqual([]);
});
