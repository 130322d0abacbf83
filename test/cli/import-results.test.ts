import { appendFile, chmod, lstat, readdir, readFile, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { expect, it } from 'vitest';
import { openResults } from '../../src/cli/import/results-file.ts';
import { lockResults } from '../../src/cli/import/results-lock.ts';
import { setUpImport } from '../support/import.ts';
import { createTemporaryFolder } from '../support/sandbox-files.ts';

const USERS = `subscriberId\n${Array.from({ length: 40 }, (_, i) => `${i}\n`).join('')}`;

const RESULTS = 'users.csv.results.jsonl';

const LOCK = `${RESULTS}.lock`;

/** Id of a process that was killed. */
const KILLED = 1;

const isKilled = (): never => {
  throw new Error('There is no such process.');
};

it.each(['', '{"import":"sub', '{"import":"subscribers","version":1,"run":"x'])(
  'begins anew if the first line of the results was not written completely (%j)',
  async (content) => {
    const { folder, run, sent } = await setUpImport(USERS);
    await writeFile(folder.path(RESULTS), content);
    expect(await run()).toMatchObject({ code: 0, stderr: '' });
    expect(sent()).toHaveLength(40);
  },
);

it.each(['notes', 'notes\n', '{"a":1}\n'])('does not overwrite a file of another kind (%j)', async (content) => {
  const { folder, run, sent } = await setUpImport(USERS);
  await writeFile(folder.path(RESULTS), content);
  expect(await run()).toMatchObject({ code: 2, stderr: expect.stringContaining('has no results of an import.') });
  expect(await readFile(folder.path(RESULTS), 'utf8')).toBe(content);
  expect(sent()).toEqual([]);
});

it.each([
  ['that leads nowhere', 'victim.txt'],
  ['to the results of another import', 'other.jsonl'],
])('does not follow a symbolic link %s', async (_, target) => {
  const { folder, run, sent } = await setUpImport(USERS);
  const results = '{"import":"subscribers","version":1,"problems":true}\n';
  await writeFile(folder.path('other.jsonl'), results);
  await symlink(target, folder.path(RESULTS));
  const stderr = `--results: the file ${RESULTS} is a symbolic link, not a regular file.\n`;
  expect(await run()).toMatchObject({ code: 2, stdout: '', stderr });
  expect(sent()).toEqual([]);
  expect(await readFile(folder.path('other.jsonl'), 'utf8')).toBe(results);
  expect((await readdir(folder.path())).toSorted()).toEqual(['other.jsonl', 'users.csv', RESULTS]);
});

it('does not follow a symbolic link that appears after the check', async () => {
  await using folder = await createTemporaryFolder();
  await symlink('victim.txt', folder.path(RESULTS));
  expect(() => openResults(folder.path(RESULTS), 0)).toThrow(
    `The results file ${folder.path(RESULTS)} can't be written: it is a symbolic link.`,
  );
  expect(await readdir(folder.path())).toEqual([RESULTS]);
});

it('is readable by its owner only, also if an earlier version wrote it', async () => {
  const { folder, run } = await setUpImport(USERS);
  expect((await run()).code).toBe(0);
  const modeOf = async () => (await lstat(folder.path(RESULTS))).mode & 0o777;
  expect(await modeOf()).toBe(0o600);
  await chmod(folder.path(RESULTS), 0o644);
  expect((await run('--restart')).code).toBe(0);
  expect(await modeOf()).toBe(0o600);
});

it('prints the problems of a file even if they cannot be written', async () => {
  const { run } = await setUpImport('subscriberId,email\n1,nobody\n');
  expect(await run('--dry-run', '--results', 'missing/results.jsonl')).toMatchObject({
    code: 2,
    stderr: 'users.csv:2: email must be an email address.\n1 problem, so nothing was sent.\n',
  });
  expect(await run('--results', 'missing/results.jsonl')).toMatchObject({
    code: 1,
    stderr:
      "The results file missing/results.jsonl can't be written: no such file or directory. Fix this and run the same command again, or name another file with --results.\n",
  });
});

it('does not take the rows of one environment for those of another', async () => {
  const { run, sent, switchEnvironment } = await setUpImport(USERS);
  expect((await run()).code).toBe(0);
  expect(await run()).toMatchObject({ code: 0, stdout: expect.stringContaining('All rows are already applied') });
  switchEnvironment('env-2');
  expect(await run()).toMatchObject({ code: 2, stderr: expect.stringContaining('This API key belongs to env-2.') });
  expect(sent()).toHaveLength(40);
  expect((await run('--results', 'env-2.jsonl')).code).toBe(0);
  expect(sent()).toHaveLength(80);
});

it('permits one import of a file at a time', async () => {
  const firstSent = Promise.withResolvers<void>();
  const { folder, start, run, sent } = await setUpImport(USERS, () => void firstSent.resolve());
  const first = start('--rate', '10');
  await firstSent.promise;
  expect(await run('--restart')).toMatchObject({
    code: 2,
    stderr: `Another import with the results file ${RESULTS} is running. Wait until it ends, or name another file with --results.\n`,
  });
  await first.stop('SIGKILL');
  await expect(stat(folder.path(LOCK))).resolves.toBeDefined();
  expect(await run()).toMatchObject({ code: 0, stdout: expect.stringContaining('Resuming') });
  await expect(stat(folder.path(LOCK))).rejects.toThrow('ENOENT');
  expect(new Set(sent().map(({ key }) => key)).size).toBe(40);
});

it('takes over the lock of another machine when it is not renewed', async () => {
  const { folder, run } = await setUpImport(USERS);
  await writeFile(folder.path(LOCK), JSON.stringify({ pid: 1, host: `not-${hostname()}` }));
  expect((await run()).code).toBe(2);
  const before = new Date(Date.now() - 20_000);
  await utimes(folder.path(LOCK), before, before);
  expect((await run()).code).toBe(0);
});

it('lets only one of two imports take over a lock in the same instant', async () => {
  await using folder = await createTemporaryFolder();
  const path = folder.path(RESULTS);
  await writeFile(folder.path(LOCK), JSON.stringify({ pid: KILLED, host: hostname() }));
  let other: Disposable | undefined;
  const isOther = (pid: number): true => {
    if (pid === KILLED) {
      // The other import takes the lock over after this one has found out that its owner was killed.
      other ??= lockResults(path, { pid: 3, kill: isKilled });
      return isKilled();
    }
    return true;
  };
  expect(() => lockResults(path, { pid: 2, kill: isOther })).toThrow('is running. Wait until it ends');
  expect(await readdir(folder.path())).toEqual([LOCK]);
  expect(JSON.parse(await readFile(folder.path(LOCK), 'utf8'))).toEqual({ pid: 3, host: hostname() });
  other?.[Symbol.dispose]();
});

it('takes over a lock after an import was killed while it did', async () => {
  await using folder = await createTemporaryFolder();
  const killed = JSON.stringify({ pid: KILLED, host: hostname() });
  await writeFile(folder.path(LOCK), killed);
  await writeFile(folder.path(`${LOCK}.new`), killed);
  using _lock = lockResults(folder.path(RESULTS), { pid: 2, kill: isKilled });
  expect(await readdir(folder.path())).toEqual([LOCK]);
});

it('does not take over a lock that another import is about to take over', async () => {
  await using folder = await createTemporaryFolder();
  await writeFile(folder.path(LOCK), JSON.stringify({ pid: KILLED, host: hostname() }));
  await writeFile(folder.path(`${LOCK}.new`), JSON.stringify({ pid: 3, host: hostname() }));
  const kill = (pid: number): true => pid === 3 || isKilled();
  expect(() => lockResults(folder.path(RESULTS), { pid: 2, kill })).toThrow('is running. Wait until it ends');
});

it('sends no row that was added to the file during the import', async () => {
  const firstSent = Promise.withResolvers<void>();
  const { folder, start, sent } = await setUpImport(USERS, () => void firstSent.resolve());
  const importing = start('--rate', '20');
  await firstSent.promise;
  await appendFile(folder.path('users.csv'), '40\n41\n');
  expect(await importing.ended).toMatchObject({
    code: 1,
    stdout: expect.stringContaining(
      '\nOnce the file is complete, run the command with --restart, which sends all rows.\n',
    ),
    stderr: expect.stringContaining('The file changed during the import.'),
  });
  expect(sent().filter(({ subscriberId }) => Number(subscriberId) >= 40)).toEqual([]);
});
