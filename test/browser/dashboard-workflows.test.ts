import { describe, expect, it } from 'vitest';
import { openDashboard } from '../support/open-dashboard.ts';

const { browser, dashboard } = await openDashboard();

describe('the workflows of the dashboard', () => {
  it('are shown with their group and steps, and each workflow of the statistics is loaded once', async () => {
    await using visitor = await dashboard.visit(browser);
    const { page } = visitor;
    dashboard.forget();
    await visitor.signIn('Ada Lindqvist');
    await page.getByText('Order shipped').waitFor(); // Leaving the view earlier would cancel the request and repeat it.
    await visitor.open('Workflows');
    const card = page.getByRole('article').filter({ hasText: 'Welcome and onboarding' });
    await card.waitFor();
    expect(await card.getByRole('list', { name: 'Steps' }).getByRole('listitem').allInnerTexts()).toEqual([
      'Email\nWelcome email',
      'In-app\nWelcome in the app',
      'Wait 2 days\nTwo days later',
      'Email\nReminder to complete the profile',
    ]);
    expect(await card.getByText('Lifecycle').count()).toBe(1);
    const loaded = dashboard.upstream('GET /v1/workflows/').map(({ path }) => path);
    expect(loaded).toEqual([...new Set(loaded)]);
    await visitor.open('Statistics');
    await page.getByText('Order shipped').waitFor();
    expect(dashboard.upstream('GET /v1/workflows/')).toHaveLength(loaded.length);
  });

  it('are switched off and on again by one call each', async () => {
    await using visitor = await dashboard.visit(browser);
    const { page } = visitor;
    await visitor.signIn('Ada Lindqvist');
    await visitor.open('Workflows');
    const toggle = page.getByRole('switch', { name: 'Weekly digest' });
    await toggle.waitFor();
    dashboard.forget();
    for (const before of [true, false]) {
      expect(await toggle.isChecked()).toBe(before);
      await visitor.switchOf('Weekly digest').click();
      await visitor.switchOf('Weekly digest').and(page.locator(':not([data-busy])')).waitFor();
      expect(await toggle.isChecked()).toBe(!before);
    }
    const writes = dashboard.upstream('PUT ').map(({ path, body }) => [path.split('/').at(-1), body]);
    expect(writes).toEqual([
      ['status', '{"active":false}'],
      ['status', '{"active":true}'],
    ]);
    expect(dashboard.upstream('GET ')).toEqual([]);
    await visitor.open('Groups');
    await visitor.open('Workflows');
    expect(await toggle.isChecked()).toBe(true);
  });

  it('show the new state immediately, and revert it with the reason if the service fails', async () => {
    await using visitor = await dashboard.visit(browser);
    const { page } = visitor;
    await visitor.signIn('Ada Lindqvist');
    await visitor.open('Workflows');
    const toggle = page.getByRole('switch', { name: 'Order shipped' });
    await toggle.waitFor();
    const arrived = Promise.withResolvers<void>();
    const mayAnswer = Promise.withResolvers<void>();
    using _ = dashboard.answering('PUT /v1/workflows/', async () => {
      arrived.resolve();
      await mayAnswer.promise;
      return { status: 500, body: {} };
    });
    await visitor.switchOf('Order shipped').click();
    await arrived.promise;
    expect(await toggle.isChecked()).toBe(false);
    mayAnswer.resolve();

    const alert = page.getByRole('article').filter({ hasText: 'Order shipped' }).getByRole('alert');
    await alert.getByText('The notification service failed on this request.').waitFor();
    await alert.getByText('may have been applied').waitFor();
    expect(await toggle.isChecked()).toBe(true);
    expect(dashboard.upstream('PUT ').at(-1)?.body).toBe('{"active":false}');

    await alert.getByRole('button', { name: 'Check again' }).click();
    await page.getByRole('switch', { name: 'Order shipped' }).waitFor();
    expect(visitor.problems).toEqual([]);
  });

  it('that are idle are looked up by id or identifier, and are still listed after signing in again', async () => {
    using _ = dashboard.answering('GET /v1/notifications/graph/stats', { body: [] });
    await using visitor = await dashboard.visit(browser);
    const { page } = visitor;
    await visitor.signIn('Ada Lindqvist');
    await visitor.open('Workflows');
    await page.getByText('No workflow sent anything in this period.').waitFor();
    const field = page.getByRole('textbox', { name: 'Find any workflow' });
    await field.fill('no-such-workflow');
    await page.keyboard.press('Enter');
    await page.getByText('No workflow has the id or identifier “no-such-workflow”.').waitFor();

    dashboard.forget();
    await field.fill('  weekly-digest ');
    await page.keyboard.press('Enter');
    await page.getByRole('region', { name: 'Found by “weekly-digest”' }).waitFor();
    expect(dashboard.upstream('GET /v1/workflows/').map(({ path }) => path)).toEqual(['/v1/workflows/weekly-digest']);
    await visitor.switchOf('Weekly digest').click();
    await visitor.switchOf('Weekly digest').and(page.locator(':not([data-busy])')).waitFor();

    await page.getByRole('button', { name: 'Sign out' }).click();
    await visitor.signIn('Dev Kapoor');
    await visitor.open('Workflows');
    await page.getByText('No workflow sent anything in this period.').waitFor();
    expect(await page.getByRole('switch').count()).toBe(0);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await visitor.signIn('Ada Lindqvist');
    await visitor.open('Workflows');
    const recent = page.getByRole('region', { name: 'Looked up or changed' });
    await recent.getByRole('switch', { name: 'Weekly digest', checked: false }).waitFor();
    await visitor.switchOf('Weekly digest').click();
    await recent.getByRole('switch', { name: 'Weekly digest', checked: true }).waitFor();
    const stored = await page.evaluate(() => Object.entries(localStorage));
    expect(stored).toEqual([[expect.stringContaining('juniper:ada'), expect.stringMatching(/^\["[0-9a-f]{24}"\]$/)]]);
  });

  it('that are critical are switched off only after confirmation', async () => {
    await using visitor = await dashboard.visit(browser);
    const { page } = visitor;
    await visitor.signIn('Ada Lindqvist');
    await visitor.open('Workflows');
    const toggle = page.getByRole('switch', { name: 'Password reset' });
    await toggle.waitFor();
    dashboard.forget();
    await visitor.switchOf('Password reset').click();
    const dialog = page.getByRole('alertdialog', { name: 'Disable “Password reset”?' });
    await dialog.getByText('This workflow is critical').waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await dialog.waitFor({ state: 'detached' });
    expect(await toggle.isChecked()).toBe(true);
    expect(dashboard.upstream('PUT ')).toEqual([]);

    await visitor.switchOf('Password reset').click();
    await dialog.getByRole('button', { name: 'Disable' }).click();
    await page.getByRole('switch', { name: 'Password reset', checked: false }).waitFor();
    await visitor.switchOf('Password reset').and(page.locator(':not([data-busy])')).click();
    await page.getByRole('switch', { name: 'Password reset', checked: true }).waitFor();
    await expect
      .poll(() => dashboard.upstream('PUT ').map(({ body }) => body))
      .toEqual(['{"active":false}', '{"active":true}']);
  });
});
