// Shows in a browser that GraphiQL works. The files beside this one, which end in `.slow.test.ts`, test what it does.

import { expect, it, onTestFinished } from 'vitest';
import { launchBrowser } from '../../../test/support/browser.ts';
import {
  runOperation,
  selectedTab,
  tabTitles,
  untilGraphiqlReady,
  visitGraphiql,
} from '../../../test/support/graphiql.ts';
import { startNotigraph } from '../../../test/support/process.ts';

const LIFE = [
  ['Trigger event', '"status": "PROCESSED"'],
  ['Notification stats', `"date": "${new Date().toISOString().slice(0, 10)}"`],
  ['Subscriber', '"Amara"'],
  ['Delete messages by transaction', '"transactionId": "my-first-notification"'],
] as const;

it('GraphiQL of the command has the life of a notification in its first four tabs, before and after a reload', async () => {
  const browser = await launchBrowser();
  onTestFinished(() => browser.close());
  await using notigraph = await startNotigraph({ args: ['--sandbox', ':memory:'] });
  await using visitor = await visitGraphiql(browser, notigraph.url);
  const { page } = visitor;
  expect(await page.locator('.welcome').textContent()).toContain('Run the tabs from left to right');
  const titles = [...LIFE.map(([title]) => title), 'Workflow'];
  const counts: number[] = [];
  for (const _ of ['first', 'after a reload']) {
    expect(await tabTitles(page)).toEqual(titles);
    for (const [title, text] of LIFE) {
      await page.getByRole('button', { name: title, exact: true }).click();
      await runOperation(page);
      await page.locator('.result', { hasText: text }).waitFor();
      const result = (await page.locator('.result').textContent()) ?? '';
      expect(result).not.toContain('"code"');
      counts.push(...[...result.matchAll(/"count":\s(\d+)/g)].map(([, count]) => Number(count)));
    }
    await page.getByRole('button', { name: 'Trigger event', exact: true }).click();
    await page.waitForFunction(() => localStorage.getItem('notigraph:tabState')?.endsWith('"activeTabIndex":0}'));
    await page.reload();
    await untilGraphiqlReady(page);
    expect(await selectedTab(page)).toBe('Trigger event');
  }
  // A value that is marked at last shows that the others were checked: those of scalars such as JSONObject are right.
  await page.locator('#tool-variables textarea').focus();
  await page.keyboard.press('Control+End');
  await page.keyboard.type('x');
  await page.locator('#tool-variables .squiggly-error').first().waitFor();
  expect(await page.locator('#tool-variables .squiggly-error').count()).toBe(1);
  const [before = 0, after = 0, ...others] = counts;
  expect([after > before, others]).toEqual([true, []]);
  const right = await page
    .locator('.tabs li')
    .last()
    .evaluate((tab) => tab.getBoundingClientRect().right);
  expect(right).toBeLessThan(1366);
  expect(visitor.problems).toEqual([]);
});
