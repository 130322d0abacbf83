// Shows in a browser that the example app works. `dashboard.slow.test.ts` tests what it does.

import { expect, it, onTestFinished } from 'vitest';
import { launchBrowser } from '../support/browser.ts';
import { startDashboard } from '../support/dashboard.ts';

it('a person signs in to the dashboard and sees the statistics and the workflows of their tenant', async () => {
  const browser = await launchBrowser();
  onTestFinished(() => browser.close());
  await using dashboard = await startDashboard();
  await using visitor = await dashboard.visit(browser);
  await visitor.signIn('Ada Lindqvist');
  await visitor.page.getByText('Order shipped').waitFor();
  await expect.poll(() => visitor.page.locator('.chart-bar').count()).toBe(30); // The chart is drawn once its width is known.
  await visitor.openLoaded('Workflows');
  expect(await visitor.switchOf('Weekly digest').count()).toBe(1);
  expect(visitor.problems).toEqual([]);
});
