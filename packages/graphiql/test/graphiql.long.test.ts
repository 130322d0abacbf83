// Shows in a browser that GraphiQL works. The files beside this one, which end in `.slow.test.ts`, test what it does.

import { writeFile } from 'node:fs/promises';
import { expect, it, onTestFinished } from 'vitest';
import { launchBrowser } from '../../../test/support/browser.ts';
import { startServing } from '../../../test/support/command.ts';
import { blocks, read } from '../../../test/support/docs.ts';
import { LIFE, runOperation, visitGraphiql } from '../../../test/support/graphiql.ts';
import { createTestFolder } from '../../../test/support/sandbox-files.ts';
import { SANDBOX_KEYS } from '../../sandbox/src/sandbox.ts';

it('GraphiQL on the sandbox has the life of a notification in its first tabs', async () => {
  const browser = await launchBrowser();
  onTestFinished(() => browser.close());
  await using notigraph = await startServing({ args: ['--sandbox', ':memory:'] });
  await using visitor = await visitGraphiql(browser, notigraph.url);
  const { page } = visitor;
  for (const [title, text] of LIFE) {
    await page.getByRole('button', { name: title, exact: true }).click();
    await runOperation(page);
    await page.locator('.result', { hasText: text }).waitFor();
    if (title === 'Notification stats') {
      const note = await page.locator('.notice').textContent();
      const [, before, after] =
        /^Counted today: (\d+) before the event, (\d+) after it, one per channel\.$/.exec(note ?? '') ?? [];
      expect([note, Number(after) - Number(before)]).toEqual([note, 3]);
    }
  }
  expect(visitor.problems).toEqual([]);
});

it('GraphiQL of the gateway of docs/inbox.md begins with the inbox, for a key and for the token of its person', async () => {
  const browser = await launchBrowser();
  onTestFinished(() => browser.close());
  const folder = await createTestFolder();
  await writeFile(folder.path('notigraph.config.yaml'), blocks(read('docs/inbox.md'), 'yaml')[0] ?? '');
  const authorization = `ApiKey ${SANDBOX_KEYS.development}`;
  await using notigraph = await startServing({
    cwd: folder.path(),
    args: ['--sandbox', ':memory:'],
    env: { ACME_KEY: SANDBOX_KEYS.development, CLIENT_TOKEN_SECRET: 'x'.repeat(32) },
  });
  await using visitor = await visitGraphiql(browser, notigraph.url);
  const { page } = visitor;
  const titles = await page.locator('.tabs .tab').allTextContents();
  expect(titles).toEqual(['Unseen messages', 'Inbox', 'Mark all messages', 'Inbox preferences']);
  const answer = await fetch(new URL('/client-tokens', notigraph.url), {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    body: JSON.stringify({ scopes: ['inbox:read', 'inbox:write'], subject: 'customer-1001' }),
  });
  const { token } = await answer.json();
  for (const credential of [authorization, `Bearer ${token}`]) {
    for (const title of titles) {
      await page.getByRole('button', { name: title, exact: true }).click();
      if (credential !== authorization) {
        await page.getByLabel('Kind of credential').selectOption('Bearer');
        await page.getByLabel('Token').fill(token);
      }
      const request = await runOperation(page);
      expect(request.headers().authorization).toBe(credential);
      const response = await request.response();
      expect(Object.keys(await response?.json())).not.toContain('errors');
    }
  }
  expect(visitor.problems).toEqual([]);
});
