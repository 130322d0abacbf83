import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { collectMigrations, openDatabase } from '../../src/sandbox/open-database.ts';
import type { Resource } from '../../src/sandbox/resource.ts';
import { resources } from '../../src/sandbox/resources/index.ts';
import { startSandbox } from '../../src/sandbox/sandbox.ts';
import { createSandboxClient } from '../support/sandbox-client.ts';
import { createTemporaryFolder } from '../support/sandbox-files.ts';
import { runSandbox, spawnSandbox } from '../support/sandbox-process.ts';
import { change, type Recording, readContents, recordedVersions, restore, withKeys } from './recorded-files.ts';

const MIGRATIONS = collectMigrations(resources);
const LATEST = MIGRATIONS.at(-1)?.version ?? 0;
const ENDLESS_UPGRADE = fileURLToPath(new URL('endless-upgrade.ts', import.meta.url));

/** Current names of renamed tables, by former name. */
const RENAMED: Record<string, string> = { idempotent_answers: 'idempotent_responses' };

/** Expects that every recorded read still has its response, and that every write with a key is replayed, not repeated. */
async function expectRecorded(url: string, recording: Recording): Promise<void> {
  const send = await createSandboxClient(url);
  for (const { as, target, status, text } of recording.reads) {
    const response = await send(target, { as });
    expect([target, response.status]).toEqual([target, status]);
    if (status < 400) {
      expect(response.body).toMatchObject(JSON.parse(text)); // Records may have new members.
    }
  }
  for (const { as, target, body, key = '', status, text } of withKeys(recording)) {
    const response = await send(target, { as, body, headers: { 'idempotency-key': key } });
    expect([target, response.status, response.headers.get('idempotency-replay')]).toEqual([target, status, 'true']);
    expect(response.text).toBe(text);
  }
}

it.each(recordedVersions())(
  'a file of version %i is upgraded with all its data and every acknowledged write',
  async (recorded) => {
    await using folder = await createTemporaryFolder();
    const file = folder.path('sandbox.db');
    const recording = restore(recorded, file);
    const before = readContents(file);
    expect(before.version).toBe(recorded);
    expect(before.tables.notifications?.length).toBeGreaterThan(100);
    {
      await using sandbox = await startSandbox({ file, now: () => new Date(recording.now) });
      await expectRecorded(sandbox.url, recording);
    }
    const { version, tables } = readContents(file);
    expect(version).toBe(LATEST);
    for (const [name, rows] of Object.entries(before.tables).filter(([name]) => name !== 'messages')) {
      expect(tables[RENAMED[name] ?? name]).toMatchObject(rows); // Rows may have new columns.
    }
  },
);

it.each([1, 2])(
  'a file of version %i keeps its deletions, and its other notifications get their messages',
  async (recorded) => {
    await using folder = await createTemporaryFolder();
    const file = folder.path('sandbox.db');
    const { now } = restore(recorded, file);
    change(
      file,
      `DELETE FROM messages WHERE transaction_id = 'sample-transaction-0002';
     DELETE FROM messages WHERE transaction_id = 'payment-failed-2026-01-14-1' AND channel = 'email';`,
    );
    await using sandbox = await startSandbox({ file, now: () => new Date(now) });
    const send = await createSandboxClient(sandbox.url);
    const statuses = async (transaction: string, ...queries: string[]) => {
      const responses = [];
      for (const query of queries) {
        responses.push((await send(`DELETE /v1/messages/transaction/${transaction}${query}`)).status);
      }
      return responses;
    };
    // Its email was deleted before the file was recorded.
    expect(await statuses('sample-transaction-0001', '?channel=email', '?channel=in_app', '')).toEqual([404, 204, 404]);
    expect(await statuses('sample-transaction-0002', '?channel=push', '')).toEqual([404, 404]);
    expect(await statuses('sample-transaction-0003', '?channel=sms', '', '')).toEqual([204, 204, 404]);
    expect(await statuses('order-shipped-2026-01-14-1', '?channel=push')).toEqual([204]);
    // Files of version 1 have stored messages of all notifications.
    const email = recorded === 1 ? 404 : 204;
    expect(await statuses('payment-failed-2026-01-14-1', '?channel=email', '')).toEqual([email, 204]);
  },
);

describe('a file of version 1', () => {
  it('keeps version and data if the process is killed in the middle of the upgrade, and is upgraded by the next start', async () => {
    await using folder = await createTemporaryFolder();
    const file = folder.path('sandbox.db');
    const recording = restore(1, file);
    const before = readContents(file);

    const child = spawn(process.execPath, [ENDLESS_UPGRADE, file], { stdio: ['ignore', 'inherit', 'inherit'] });
    const exited = once(child, 'exit');
    // SQLite writes pages of the transaction to the log once they exceed its cache.
    await expect.poll(() => statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0).toBeGreaterThan(4_000_000);
    child.kill('SIGKILL');
    expect(await exited).toEqual([null, 'SIGKILL']);

    expect(readContents(file)).toEqual(before);
    await using sandbox = await startSandbox({ file, now: () => new Date(recording.now) });
    await expectRecorded(sandbox.url, recording);
    expect(readContents(file).version).toBe(LATEST);
  });

  it.skipIf(process.platform !== 'linux')('is upgraded once by two processes that start at the same time', async () => {
    await using folder = await createTemporaryFolder();
    const file = folder.path('sandbox.db');
    const recording = restore(1, file);

    const other = new DatabaseSync(file);
    other.exec('BEGIN IMMEDIATE');
    await using processes = new AsyncDisposableStack();
    const starting = [1, 2].map(async () => processes.use(await spawnSandbox('--file', file)));
    // Both have read version 1 when they have opened the log, and wait for the write lock.
    await expect.poll(() => countReaders(`${file}-wal`)).toBe(3);
    other.exec('COMMIT');
    other.close();

    await Promise.allSettled(starting); // If one start fails, the other sandbox must still be closed.
    for (const { url } of await Promise.all(starting)) {
      const send = await createSandboxClient(url);
      for (const { as, target, body, key = '', text } of withKeys(recording)) {
        expect((await send(target, { as, body, headers: { 'idempotency-key': key } })).text).toBe(text);
      }
    }
    expect(readContents(file).version).toBe(LATEST);
  });

  it('gets the tables and the samples of a resource that is new to it, once', async () => {
    await using folder = await createTemporaryFolder();
    const file = folder.path('sandbox.db');
    restore(1, file);
    const { tables } = readContents(file);
    const layouts: Resource = {
      migrations: [{ version: LATEST + 1, description: 'Creates layouts.', sql: 'CREATE TABLE layouts (name TEXT)' }],
      writeSamples: (database) => void database.prepare('INSERT INTO layouts VALUES (?)').run('Makers'),
      createHandlers: () => ({}),
    };
    for (const _start of ['first', 'second']) {
      openDatabase(file, [...resources, layouts], () => new Date()).close();
      const upgraded = readContents(file).tables;
      expect(upgraded.layouts).toEqual([{ name: 'Makers' }]);
      expect(upgraded.feeds).toEqual(tables.feeds);
      expect(upgraded.subscribers).toEqual(tables.subscribers);
    }
  });

  it('that lacks a table is rejected with the failed migration, and left as it is', async () => {
    await using folder = await createTemporaryFolder();
    const file = folder.path('sandbox.db');
    restore(1, file);
    change(file, 'DROP TABLE idempotent_answers');
    const before = readContents(file);
    await expect(startSandbox({ file })).rejects.toMatchObject({
      code: 'SANDBOX_DATABASE',
      message: `${file} can't be upgraded: migration 2 failed (Renames the table of stored responses. no such table: idempotent_answers). The file was not changed.`,
    });
    expect(readContents(file)).toEqual(before);
  });
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

describe('a file that the sandbox must not change', () => {
  it('is rejected if a newer Notigraph wrote it', async () => {
    await using folder = await createTemporaryFolder();
    const file = folder.path('newer.db');
    restore(1, file);
    change(file, `PRAGMA user_version = ${LATEST + 1}`);
    const content = readFileSync(file);
    const message = `${file} has data version ${LATEST + 1}, but this Notigraph supports versions up to ${LATEST}. Update Notigraph or use another file.`;
    expect(await runSandbox('--port', '0', '--file', file)).toEqual({ code: 1, stdout: '', stderr: `${message}\n` });
    expect(readFileSync(file)).toEqual(content);
  });

  it.each([
    ['has tables', 'CREATE TABLE recipes (name TEXT)'],
    ['has tables and our version', 'CREATE TABLE recipes (name TEXT); PRAGMA user_version = 1'],
    ['has a version and no tables', 'PRAGMA user_version = 1'],
    ['has another application id', 'PRAGMA application_id = 7'],
  ])('is rejected if it %s', async (_, sql) => {
    await using folder = await createTemporaryFolder();
    const file = folder.path('other.db');
    change(file, sql);
    const content = readFileSync(file);
    await expect(startSandbox({ file })).rejects.toMatchObject({
      code: 'SANDBOX_DATABASE',
      message: `${file} belongs to another application. Use another file.`,
    });
    expect(readFileSync(file)).toEqual(content);
    expect(readdirSync(folder.path())).toEqual(['other.db']);
  });
});

it('every migration after the first version has a number of its own, and none is left out', () => {
  const versions = MIGRATIONS.map(({ version }) => version).filter((version) => version > 1);
  expect(versions).toEqual(Array.from({ length: LATEST - 1 }, (_, i) => i + 2));
});
