import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { openDashboard } from '../support/open-dashboard.ts';

const { browser, dashboard } = await openDashboard();

describe('feeds in the dashboard', () => {
  it('are created and listed with their ids to copy, only for the person who created them', async () => {
    await using visitor = await dashboard.visit(browser);
    const { page } = visitor;
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await visitor.signIn('Ada Lindqvist');
    await visitor.open('Feeds');
    await createFeed(page, '  Offers ');
    expect(dashboard.upstream('POST /v1/feeds').at(-1)?.body).toBe('{"name":"Offers"}');
    await createFeed(page, 'Offers', 'This name already exists.');
    await page.getByRole('button', { name: 'Copy id of Offers' }).click();
    await page
      .getByRole('status')
      .getByText(/^Copied /)
      .waitFor();
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    expect(copied).toMatch(/^[0-9a-f]{24}$/);
    expect(await page.locator('.row', { hasText: 'Offers' }).locator('code').textContent()).toBe(copied);

    await page.getByRole('textbox', { name: 'New feed' }).fill('');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await visitor.signIn('Dev Kapoor');
    await visitor.open('Feeds');
    await page.getByText('This browser knows no feeds yet.').waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await visitor.signIn('Ada Lindqvist');
    await visitor.open('Feeds');
    await page.locator('.row-name', { hasText: 'Offers' }).waitFor();
  });

  it('are deleted by id after confirmation, and the remaining ones are listed', async () => {
    await using visitor = await dashboard.visit(browser);
    const { page } = visitor;
    await visitor.signIn('Ada Lindqvist');
    await visitor.open('Feeds');
    await createFeed(page, 'Kept');
    await createFeed(page, 'Dropped');
    const id = await page.locator('.row', { hasText: 'Dropped' }).locator('code').textContent();
    await page.evaluate(() => localStorage.clear()); // As in another browser.
    await visitor.open('Groups');
    await page.getByText('In use:').waitFor(); // Follows the last response that the page waits for.
    await visitor.open('Feeds');
    dashboard.forget();
    const field = page.getByRole('textbox', { name: 'Delete a feed by its id' });
    const dialog = page.getByRole('alertdialog', { name: 'Delete this feed?' });
    await field.fill('000000000000000000000000');
    await page.keyboard.press('Enter');
    await dialog.getByText('Unknown in this browser').waitFor();
    expect(dashboard.upstream()).toEqual([]);
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await dialog.getByRole('alert').getByText('This feed no longer exists.').waitFor();
    await page.keyboard.press('Escape');

    await field.fill(` ${id} `);
    await page.keyboard.press('Enter');
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await page.getByText(`“${id}” was deleted.`).waitFor();
    expect(dashboard.upstream('DELETE ').at(-1)?.path).toBe(`/v1/feeds/${id}`);
    const names = await page.locator('.row-name').allTextContents();
    expect(names).toContain('Kept');
    expect(names).not.toContain('Dropped');
    const heading = page.getByRole('heading', { name: 'Known feeds' });
    expect(await heading.evaluate((element) => element === document.activeElement)).toBe(true);
    expect(visitor.problems).toEqual([]);
  });
});

describe('messages in the dashboard', () => {
  it('are deleted only after a confirmation that states which ones', async () => {
    await using visitor = await dashboard.visit(browser);
    const { page } = visitor;
    await visitor.signIn('Ada Lindqvist');
    await visitor.open('Messages');
    dashboard.forget();
    await page.getByRole('textbox', { name: 'Transaction id' }).fill(' sample-transaction-0001 ');
    await page.getByRole('combobox', { name: 'Channel' }).selectOption('Only Email');
    await page.getByRole('button', { name: 'Delete…' }).click();
    const dialog = page.getByRole('alertdialog', { name: 'Delete these messages?' });
    const facts = () => dialog.locator('dd').allTextContents();
    await dialog.waitFor();
    expect(await facts()).toEqual(['sample-transaction-0001', 'Email', 'juniper']);
    await dialog.getByText('Every Email message of this transaction is deleted').waitFor();
    await dialog.getByText("This can't be undone.").waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await dialog.waitFor({ state: 'detached' });
    expect(dashboard.upstream()).toEqual([]);

    for (const [option, path, message] of [
      ['Only Email', '?channel=email', 'Email messages of “sample-transaction-0001” were deleted.'],
      ['All channels', '', 'All messages of “sample-transaction-0001” were deleted.'],
    ] as const) {
      await page.getByRole('textbox', { name: 'Transaction id' }).fill('sample-transaction-0001');
      await page.getByRole('combobox', { name: 'Channel' }).selectOption(option);
      await page.getByRole('button', { name: 'Delete…' }).click();
      await dialog.getByRole('button', { name: 'Delete' }).click();
      await page.getByText(message).waitFor();
      expect(dashboard.upstream().at(-1)?.path).toBe(`/v1/messages/transaction/sample-transaction-0001${path}`);
    }
    await page.getByRole('textbox', { name: 'Transaction id' }).fill('sample-transaction-0001');
    await page.getByRole('button', { name: 'Delete…' }).click();
    expect(await facts()).toEqual(['sample-transaction-0001', 'All channels', 'juniper']);
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await dialog.getByRole('alert').getByText('There are no messages to delete.').waitFor();
    expect(visitor.problems).toEqual([]);
  });

  it('cannot be deleted by an editor, who reads whom to ask', async () => {
    await using visitor = await dashboard.visit(browser);
    const { page } = visitor;
    await visitor.signIn('Dev Kapoor');
    await visitor.open('Messages');
    await page.getByText('Dev Kapoor cannot delete messages.').waitFor();
    await page.getByText('Nobody at fernhill has it: ask whoever manages your accounts.').waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await visitor.signIn('Ben Osei');
    await visitor.open('Messages');
    await page.getByText('This requires messages:write. Ask Ada Lindqvist (Administrator).').waitFor();
  });
});

/** Creates a feed and waits for a message. */
async function createFeed(page: Page, name: string, message = `“${name.trim()}” was created.`): Promise<void> {
  await page.getByRole('textbox', { name: 'New feed' }).fill(name);
  await page.getByRole('button', { name: 'Create', exact: true }).click();
  await page.getByText(message).first().waitFor();
}
