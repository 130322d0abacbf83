import { writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { resetSandbox, SandboxError, startSandbox } from '../../src/sandbox/sandbox.ts';
import { createSandboxClient } from '../support/sandbox-client.ts';
import { createTemporaryFolder } from '../support/sandbox-files.ts';

it('a reset replaces all records by the samples, also for a sandbox that is using the file', async () => {
  await using folder = await createTemporaryFolder();
  const file = folder.path('sandbox.db');
  await using sandbox = await startSandbox({ file });
  const send = await createSandboxClient(sandbox.url);
  const read = async () => [
    (await send('GET /v1/notification-groups')).text,
    (await send('GET /v1/notifications/graph/stats?days=90')).body,
    (await send('GET /v1/workflows/weekly-digest')).data.active,
  ];
  const before = await read();
  const withKey = { body: { name: 'New' }, headers: { 'idempotency-key': 'key-1' } };
  await send('POST /v1/notification-groups', withKey);
  const { data } = await send('GET /v1/workflows/weekly-digest');
  await send(`PUT /v1/workflows/${data._id}/status`, { body: { active: false } });
  expect(await read()).not.toEqual(before);

  resetSandbox(file);
  expect(await read()).toEqual(before);
  expect((await send('POST /v1/notification-groups', withKey)).headers.get('idempotency-replay')).toBeNull();
});

it('a reset leaves the file of another application unchanged', async () => {
  await using folder = await createTemporaryFolder();
  const file = folder.path('other.db');
  writeFileSync(file, 'Some other text.'.repeat(100));
  expect(() => resetSandbox(file)).toThrow(SandboxError);
});
