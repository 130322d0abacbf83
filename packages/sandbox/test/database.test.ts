import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { DatabaseSync } from 'node:sqlite';

import { describe, expect, it } from 'vitest';
import { dropPrivileges } from '../../../test/support/drop-privileges.ts';
import { openSandbox } from '../../../test/support/sandbox-client.ts';
import { createTemporaryFolder } from '../../../test/support/sandbox-files.ts';
import { SandboxError, startSandbox } from '../src/sandbox.ts';

async function failure(start: Promise<unknown>): Promise<SandboxError> {
  const error = await start.then(
    () => new Error('it started'),
    (reason: unknown) => reason,
  );
  if (!(error instanceof SandboxError)) {
    throw error;
  }
  expect(error.message).not.toContain('\n');
  return error;
}

/** Expects that no connection to a database is open. */
function expectReleased(file: string): void {
  using database = new DatabaseSync(file);
  database.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; ROLLBACK');
}

describe('a sandbox file', () => {
  it('is created with its folder and keeps what was written', async () => {
    await using folder = await createTemporaryFolder();
    const file = folder.path('new', 'folder', 'sandbox.db');
    const groups: unknown[] = [];
    for (const name of ['First', 'Second']) {
      await using send = await openSandbox({ file });
      await send('POST /v1/notification-groups', { body: { name } });
      const { list } = await send('GET /v1/notification-groups');
      groups.push(list.map((group) => group.name));
      await send(`DELETE /v1/notification-groups/${list[0]?._id}`);
    }
    expect(groups).toEqual([
      ['Lifecycle', 'Community', 'Billing', 'Orders', 'First'],
      ['Community', 'Billing', 'Orders', 'First', 'Second'], // A deleted sample is not created again.
    ]);
  });

  it('has the same sample ids as any other', async () => {
    const read = async () => {
      await using send = await openSandbox({ now: () => new Date('2026-03-17T12:00:00.000Z') });
      return [(await send('GET /v1/workflows/payment-failed')).body, (await send('GET /v1/notification-groups')).body];
    };
    expect(await read()).toEqual(await read());
  });

  it('that is not a database is rejected and not changed', async () => {
    await using folder = await createTemporaryFolder();
    const file = folder.path('notes.txt');
    const content = 'Buy milk, and read about databases.\n'.repeat(40);
    await writeFile(file, content);
    const error = await failure(startSandbox({ file }));
    expect(error.message).toBe(`${file} is not a SQLite database.`);
    expect(await readFile(file, 'utf8')).toBe(content);
  });

  it('that cannot be opened is named in the error', async () => {
    await using folder = await createTemporaryFolder();
    await mkdir(folder.path('folder.db'));
    const isFolder = await failure(startSandbox({ file: folder.path('folder.db') }));
    expect(isFolder.message).toBe(`${folder.path('folder.db')} can't be opened.`);

    await writeFile(folder.path('file'), '');
    const underFile = await failure(startSandbox({ file: folder.path('file', 'sandbox.db') }));
    expect(underFile).toMatchObject({
      name: 'SandboxError',
      message: expect.stringContaining("can't be created"),
    });
  });

  it('that is read-only is rejected', async () => {
    await using folder = await createTemporaryFolder();
    const file = folder.path('sandbox.db');
    await (await startSandbox({ file })).close();
    await chmod(file, 0o444);
    await chmod(folder.path(), 0o755);
    using _ = dropPrivileges();
    expect(await failure(startSandbox({ file }))).toMatchObject({ name: 'SandboxError' });
  });

  it('that lacks a table is rejected and released', async () => {
    await using folder = await createTemporaryFolder();
    const file = folder.path('sandbox.db');
    await (await startSandbox({ file })).close();
    {
      using database = new DatabaseSync(file);
      database.exec('DROP TABLE sample_traffic');
    }
    await expect(startSandbox({ file })).rejects.toThrow('no such table: sample_traffic');
    expectReleased(file);
  });

  it('may be shared by two sandboxes', async () => {
    await using folder = await createTemporaryFolder();
    const file = folder.path('sandbox.db');
    await using sendOne = await openSandbox({ file });
    await using sendOther = await openSandbox({ file });
    const { data } = await sendOne('POST /v1/notification-groups', { body: { name: 'Shared' } });
    expect((await sendOther(`GET /v1/notification-groups/${data._id}`)).data).toEqual(data);
  });
});

describe('a port', () => {
  it('that is in use is rejected, and the file is released', async () => {
    await using folder = await createTemporaryFolder();
    const file = folder.path('sandbox.db');
    await using sandbox = await startSandbox();
    const port = Number(new URL(sandbox.url).port);
    const error = await failure(startSandbox({ port, file }));
    expect(error.message).toBe(`Port ${port} on 127.0.0.1 is already in use. Choose another port.`);
    expectReleased(file);
  });

  it('that is out of range, or on an address of another machine, is rejected', async () => {
    expect(await failure(startSandbox({ host: '192.0.2.1' }))).toMatchObject({ name: 'SandboxError' });
    expect(await failure(startSandbox({ port: 70_000 }))).toMatchObject({ name: 'SandboxError' });
  });

  it('is part of a loopback URL even if the sandbox listens on all addresses', async () => {
    await using sandbox = await startSandbox({ host: '0.0.0.0' });
    expect(sandbox.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  });
});
