import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { createSandboxClient, openSandbox } from '../../../test/support/sandbox-client.ts';
import { createTemporaryFolder } from '../../../test/support/sandbox-files.ts';
import { runSandbox, spawnSandbox } from '../../../test/support/sandbox-process.ts';
import { startSandbox } from '../../sandbox/src/sandbox.ts';

const SAMPLE_GROUPS = ['Lifecycle', 'Community', 'Billing', 'Orders'];

/** Changes a file by SQL, as another program would. */
function change(file: string, sql: string): void {
  using database = new DatabaseSync(file);
  database.exec(sql);
}

async function groupsOf(url: string): Promise<unknown[]> {
  const send = await createSandboxClient(url);
  return (await send('GET /v1/notification-groups')).list.map(({ name }) => name);
}

it('a file of another version is refused and left unchanged, until it is reset', async () => {
  await using folder = await createTemporaryFolder();
  const file = folder.path('sandbox.db');
  await (await startSandbox({ file })).close();
  change(
    file,
    "CREATE TABLE layouts (name TEXT); UPDATE notification_groups SET name = 'Old'; PRAGMA user_version = 4",
  );
  const content = readFileSync(file);
  expect(await runSandbox('--port', '0', '--file', file)).toEqual({
    code: 1,
    stdout: '',
    stderr: `${file} was written by another version of Notigraph. To replace its records with the sample records, run: notigraph sandbox reset ${file}\n`,
  });
  expect(readFileSync(file)).toEqual(content);
  expect(readdirSync(folder.path())).toEqual(['sandbox.db']);

  expect(await runSandbox('reset', file, '--yes')).toMatchObject({ code: 0, stderr: '' });
  await using sandbox = await startSandbox({ file });
  expect(await groupsOf(sandbox.url)).toEqual(SAMPLE_GROUPS);
  expect(() => change(file, 'SELECT * FROM layouts')).toThrow('no such table: layouts');
});

it('only its owner may read a file, and those that SQLite puts beside it', async () => {
  await using folder = await createTemporaryFolder();
  const mask = process.umask(0o022);
  try {
    await using sandbox = await startSandbox({ file: folder.path('data', 'sandbox.db') });
    await groupsOf(sandbox.url);
    const modes = readdirSync(folder.path('data')).map((name) => [
      name,
      (statSync(folder.path('data', name)).mode & 0o777).toString(8),
    ]);
    expect(modes.toSorted()).toEqual([
      ['sandbox.db', '600'],
      ['sandbox.db-shm', '600'],
      ['sandbox.db-wal', '600'],
    ]);
  } finally {
    process.umask(mask);
  }
});

describe('a file of another application', () => {
  it.each([
    ['has tables', 'CREATE TABLE recipes (name TEXT)'],
    ['has tables and a version', 'CREATE TABLE recipes (name TEXT); PRAGMA user_version = 1'],
    ['has a version and no tables', 'PRAGMA user_version = 1'],
    ['has another application id', 'PRAGMA application_id = 7'],
  ])('is refused and left unchanged if it %s', async (_, sql) => {
    await using folder = await createTemporaryFolder();
    const file = folder.path('other.db');
    change(file, sql);
    const content = readFileSync(file);
    await expect(startSandbox({ file })).rejects.toMatchObject({
      name: 'SandboxError',
      message: `${file} belongs to another application. Use another file.`,
    });
    expect(readFileSync(file)).toEqual(content);
    expect(readdirSync(folder.path())).toEqual(['other.db']);
  });
});

describe('a process that is killed', () => {
  /** Kills a process while it writes the records of a new or reset file. */
  async function killWhileWriting(file: string, ...mode: string[]): Promise<void> {
    const script = fileURLToPath(new URL('endless-creation.ts', import.meta.url));
    const child = spawn(process.execPath, [script, file, ...mode], { stdio: ['ignore', 'inherit', 'inherit'] });
    const exited = once(child, 'exit');
    // SQLite writes pages of the transaction to the log once they exceed its cache.
    await expect.poll(() => statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0).toBeGreaterThan(4_000_000);
    child.kill('SIGKILL');
    expect(await exited).toEqual([null, 'SIGKILL']);
  }

  it('while it creates a file leaves a new one', async () => {
    await using folder = await createTemporaryFolder();
    const file = folder.path('sandbox.db');
    await killWhileWriting(file);
    await using sandbox = await startSandbox({ file });
    expect(await groupsOf(sandbox.url)).toEqual(SAMPLE_GROUPS);
  });

  it('while it resets a file leaves all records', async () => {
    await using folder = await createTemporaryFolder();
    const file = folder.path('sandbox.db');
    {
      await using send = await openSandbox({ file });
      expect((await send('POST /v1/notification-groups', { body: { name: 'New' } })).status).toBe(201);
    }
    await killWhileWriting(file, 'reset');
    await using sandbox = await startSandbox({ file });
    expect(await groupsOf(sandbox.url)).toEqual([...SAMPLE_GROUPS, 'New']);
  });
});

it.skipIf(process.platform !== 'linux')('two processes that start at the same time create a file once', async () => {
  await using folder = await createTemporaryFolder();
  const file = folder.path('sandbox.db');
  const other = new DatabaseSync(file);
  other.exec('PRAGMA journal_mode = WAL; BEGIN IMMEDIATE');
  await using processes = new AsyncDisposableStack();
  const starting = [1, 2].map(async () => processes.use(await spawnSandbox('--file', file)));
  // Both have found a new file when they have opened the log, and wait for the write lock.
  await expect.poll(() => countReaders(`${file}-wal`)).toBe(3);
  other.exec('COMMIT');
  other.close();
  await Promise.allSettled(starting); // If one start fails, the other sandbox must still be closed.
  for (const { url } of await Promise.all(starting)) {
    expect(await groupsOf(url)).toEqual(SAMPLE_GROUPS);
  }
});

/** Counts the processes of this machine that have the file open. */
function countReaders(file: string): number {
  const isOpenIn = (pid: string): boolean => {
    try {
      return readdirSync(`/proc/${pid}/fd`).some((fd) => readlinkSync(`/proc/${pid}/fd/${fd}`) === file);
    } catch {
      return false; // It ended, or belongs to another user.
    }
  };
  return readdirSync('/proc').filter((name) => /^\d+$/.test(name) && isOpenIn(name)).length;
}
