// Shows in a browser that GraphiQL works. The files beside this one, which end in `.slow.test.ts`, test what it does.

import { expect, it, onTestFinished } from 'vitest';
import { launchBrowser } from '../../../test/support/browser.ts';
import { startServing } from '../../../test/support/command.ts';
import { LIFE, runOperation, visitGraphiql } from '../../../test/support/graphiql.ts';

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
