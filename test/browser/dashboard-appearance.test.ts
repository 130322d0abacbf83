import { describe, expect, it } from 'vitest';
import { findViolations } from '../support/axe.ts';
import { VIEWS } from '../support/dashboard.ts';
import { openDashboard } from '../support/open-dashboard.ts';

const { browser, dashboard } = await openDashboard();

it('the dashboard has no violations of axe on any screen: light, dark, with forced colors, and on a phone', async () => {
  await using visitor = await dashboard.visit(browser, {});
  const { page } = visitor;
  const found: [screen: string, violations: string[]][] = [];
  const check = async (screen: string) => void found.push([screen, await findViolations(page)]);

  await page.getByText('Ada Lindqvist').waitFor();
  await check('sign-in');
  await visitor.signIn('Ada Lindqvist');
  await page.getByRole('button', { name: /^Theme/ }).click();
  await page.getByRole('menu').waitFor();
  await check('theme menu');
  await page.keyboard.press('Escape');
  for (const view of VIEWS) {
    await visitor.openLoaded(view);
    await check(view);
  }
  await page.getByRole('button', { name: 'Save subscriber' }).click();
  await page.getByText('Enter a subscriber id.').waitFor();
  await check('invalid input');
  await visitor.open('Messages');
  await page.getByRole('textbox', { name: 'Transaction id' }).fill('unknown');
  await page.getByRole('button', { name: 'Delete…' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('alertdialog').getByRole('alert').waitFor();
  await check('failure in a dialog');
  await page.keyboard.press('Escape');
  await visitor.open('Feeds');
  await page.getByRole('textbox', { name: 'New feed' }).fill('For axe');
  await page.keyboard.press('Enter');
  await page.locator('.toast').waitFor();
  await page.setViewportSize({ width: 390, height: 844 });
  await check('toast and list on a phone');
  await visitor.openLoaded('Groups');
  await page.getByRole('textbox', { name: 'New group' }).fill('lifecycle');
  await page.getByRole('button', { name: 'Create', exact: true }).click();
  await page.getByRole('button', { name: /^Use/ }).waitFor();
  await page.getByRole('button', { name: 'Rename Community' }).click();
  await check('two forms on a phone');
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('textbox', { name: 'New group' }).fill('');
  await page.getByRole('button', { name: 'Sign out' }).click();
  await visitor.signIn('Ben Osei');
  for (const view of ['Workflows', 'Groups', 'Messages'] as const) {
    await visitor.open(view);
    await check(`${view} for a viewer`);
  }
  expect(found.filter(([, violations]) => violations.length > 0)).toEqual([]);
  expect(visitor.problems).toEqual([]);
});

describe('the theme of the dashboard', () => {
  it('follows the system until one is chosen, which the browser keeps', async () => {
    await using visitor = await dashboard.visit(browser, { colorScheme: 'light' });
    const { page } = visitor;
    const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    await page.getByText('Ada Lindqvist').waitFor();
    const light = await background();
    await page.emulateMedia({ colorScheme: 'dark' });
    const dark = await background();
    expect(dark).not.toBe(light);

    await page.getByRole('button', { name: 'Theme: Same as system' }).click();
    await page.getByRole('menuitemradio', { name: 'Light', exact: true }).click();
    await page.getByRole('button', { name: 'Theme: Light' }).waitFor();
    expect(await background()).toBe(light);
    await page.reload();
    await page.getByText('Ada Lindqvist').waitFor();
    expect(await background()).toBe(light);

    await page.getByRole('button', { name: 'Theme: Light' }).click();
    await page.getByRole('menuitemradio', { name: 'Same as system' }).click();
    expect(await background()).toBe(dark);
    expect(await page.evaluate(() => localStorage.length)).toBe(0);
  });
});

describe('while time passes, the dashboard', () => {
  it('dismisses toasts, except under the pointer, moves nothing for them, and says how old data is without loading it', async () => {
    await using visitor = await dashboard.visit(browser, {});
    const { page } = visitor;
    await page.clock.install();
    await visitor.signIn('Ada Lindqvist');
    await visitor.openLoaded('Groups');
    await page.getByText('In use:').waitFor();
    await page.getByText('Updated just now').waitFor();
    await page.getByRole('textbox', { name: 'New group' }).fill('Passing');
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    const toast = page.locator('.toast');
    await toast.waitFor();
    const last = page.locator('.row', { hasText: 'Passing' });
    await last.waitFor();
    const measure = async () => [await last.boundingBox(), await page.evaluate(() => document.body.offsetHeight)];
    const withToast = await measure();
    await toast.hover();
    await page.clock.runFor(20_000);
    expect(await toast.count()).toBe(1);
    await page.mouse.move(0, 0);
    await page.clock.runFor(7000);
    expect(await toast.count()).toBe(0);
    expect(await measure()).toEqual(withToast);

    dashboard.forget();
    await page.clock.runFor(120_000);
    await page.getByText('Updated 2 min ago').waitFor();
    await page.context().setOffline(true);
    await page.getByText('Offline. Updated 2 min ago').waitFor();
    await page.getByRole('button', { name: 'Refresh' }).click();
    await page.getByRole('alert').getByText('The gateway cannot be reached.').waitFor();
    await page.getByText('Offline. Updated 2 min ago').waitFor();
    expect(await page.locator('.row-name').count()).toBeGreaterThan(3);
    expect(dashboard.upstream()).toEqual([]);
    await page.context().setOffline(false);
    await page.getByText('Updated just now').waitFor();

    await page.route(dashboard.gateway.url, async (route) => {
      const response = await route.fetch();
      const cache = { stale: true, ageSeconds: 184 };
      await route.fulfill({ response, json: { ...(await response.json()), extensions: { cache } } });
    });
    await page.getByRole('button', { name: 'Refresh' }).click();
    await page.getByText('Updated 3 min ago').waitFor();
  });

  it('shows placeholders as large as the content, so that nothing moves when it arrives', async () => {
    await using visitor = await dashboard.visit(browser, {});
    const { page } = visitor;
    const heightOf = (selector: string) =>
      page
        .locator(selector)
        .first()
        .evaluate((element) => element.getBoundingClientRect().height);
    await page.goto(`${dashboard.url}#/workflows`); // Statistics would load the workflows.
    for (const [open, item] of [
      [() => visitor.signIn('Ada Lindqvist'), '.card.workflow'],
      [() => visitor.open('Groups'), '.row'],
    ] as const) {
      const mayAnswer = Promise.withResolvers<void>();
      await page.route(dashboard.gateway.url, async (route) => {
        await mayAnswer.promise;
        await route.continue();
      });
      await open();
      const placeholder = await heightOf(`[role=status] ${item}`);
      mayAnswer.resolve();
      await page.locator(`li ${item}, li${item}`).first().waitFor();
      expect([item, await heightOf(item)]).toEqual([item, placeholder]);
      await page.unrouteAll({ behavior: 'wait' });
    }
  });
});
