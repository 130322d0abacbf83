import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { runOperation, shareGraphiql, untilGraphiqlReady } from '../../../test/support/graphiql.ts';

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

/** Opens a menu of the editor, waits for one of its entries, and closes it. */
async function openInEditor(page: Page, area: string, key: string, content: string): Promise<void> {
  await page.locator(`${area} .view-line`).first().click();
  await page.keyboard.press(key);
  await page.locator(content).filter({ visible: true }).first().waitFor();
  await page.keyboard.press('Escape');
  await page.locator(content).filter({ visible: true }).waitFor({ state: 'hidden' });
}

/** Opens a tab and enters an operation, whose brackets the editor closes. */
async function inNewTab(page: Page, text: string): Promise<void> {
  await button(page, 'New tab').click();
  await page.locator('.query .view-lines', { hasText: /^$/ }).waitFor();
  await page.keyboard.insertText(text);
}

/** Opens, uses and closes each part of the page that is not always shown. */
const PARTS: Readonly<Record<string, (page: Page) => Promise<void>>> = {
  async Docs(page) {
    const docs = page.getByRole('complementary', { name: 'Documentation Explorer' });
    await button(page, 'Docs').click();
    await docs.locator('a', { hasText: /^Query$/ }).click();
    await docs.getByText('Reads records.').waitFor();
    await docs.locator('.graphiql-doc-explorer-search-input').click();
    await page.keyboard.insertText('notificationGroups');
    await docs.getByRole('option', { name: 'notificationGroups' }).first().click();
    await docs.getByText('Returns all groups').waitFor();
    await button(page, 'Close Documentation Explorer').click();
    await docs.waitFor({ state: 'detached' });
  },
  async History(page) {
    const history = page.getByRole('complementary', { name: 'History' });
    await button(page, 'History').click();
    await history.locator('.graphiql-history-header').waitFor();
    if ((await history.getByRole('listitem').count()) > 0) {
      await tryHistory(page);
    }
    await button(page, 'Close History').click();
    await history.waitFor({ state: 'detached' });
  },
  async operations(page) {
    const list = page.getByRole('dialog', { name: 'Operations' });
    await button(page, 'Operations').click();
    await list.getByRole('button', { name: 'Create feed' }).waitFor();
    await page.keyboard.press('Escape');
    await list.waitFor({ state: 'hidden' });
  },
  async 'keyboard shortcuts'(page) {
    const list = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
    await button(page, 'Keyboard shortcuts').click();
    await list.waitFor();
    await page.mouse.click(1, 400); // Elsewhere.
    await list.waitFor({ state: 'hidden' });
  },
  async themes(page) {
    for (const theme of ['dark', 'light', 'system']) {
      await page.getByLabel('Theme').selectOption(theme);
    }
  },
  async 'schema refresh'(page) {
    await Promise.all([
      page.waitForResponse((response) => response.request().method() === 'POST'),
      button(page, 'Refresh schema').click(),
    ]);
  },
  async variables(page) {
    await button(page, 'Workflow').click();
    await button(page, 'Variables').click();
    await page.locator('#tool-variables').waitFor({ state: 'hidden' });
    await button(page, 'Variables').click();
    await openInEditor(page, '#tool-variables', 'F1', '.quick-input-widget');
    await openInEditor(page, '#tool-variables', 'Shift+F10', '.context-view .action-label');
  },
  async headers(page) {
    await button(page, 'Headers').click();
    await openInEditor(page, '#tool-headers', 'F1', '.quick-input-widget');
    await button(page, 'Variables').click();
    await page.locator('#tool-headers').waitFor({ state: 'hidden' });
  },
  'command palette': (page) => openInEditor(page, '.query', 'F1', '.quick-input-widget'),
  'context menu': (page) => openInEditor(page, '.query', 'Shift+F10', '.context-view .action-label'),
  search: (page) => openInEditor(page, '.query', 'Control+f', '.find-widget.visible'),
  async suggestions(page) {
    await page.locator('.query .view-line', { hasText: 'name' }).first().click();
    await page.keyboard.press('Home');
    await page.keyboard.press('Control+Space');
    await page.locator('.suggest-widget.visible .monaco-list-row').first().waitFor();
    await page.keyboard.press('Escape');
  },
  async 'editing tools'(page) {
    await page.context().grantPermissions(['clipboard-write']);
    await inNewTab(page, 'query Groups { notificationGroups { id');
    await button(page, 'Groups').waitFor(); // GraphiQL has parsed it.
    await button(page, 'Prettify').click();
    await page.locator('.query .view-line').nth(4).waitFor();
    await button(page, 'Merge fragments').click();
    for (const item of ['Operation', 'curl command', 'fetch call', 'Typed client']) {
      await button(page, 'Copy').click();
      await page.getByRole('menuitem', { name: item }).click();
      await page.locator('.toolbar [role=status]', { hasText: 'Copied.' }).first().waitFor();
    }
    await button(page, 'Copy link').click();
    await page.getByText('The link contains the operation').waitFor();
    await button(page, 'Close Groups').click();
  },
  async 'operation selection'(page) {
    await inNewTab(page, 'query One { __typename } query Two { __typename');
    await page.getByLabel('Operation to run').selectOption('Two');
    await button(page, 'Close Two').click();
  },
  async costs(page) {
    await button(page, 'Workflow').click();
    const costs = page.locator('.cost-bar summary');
    if (await costs.isVisible()) {
      await costs.click();
      await costs.click();
    }
  },
  async plan(page) {
    await button(page, 'Notification stats').click();
    await button(page, 'Explain').click();
    const plan = page.getByRole('region', { name: 'Plan' });
    await plan.getByText('curl', { exact: true }).first().click();
    await plan.getByRole('button', { name: 'Copy the curl command' }).first().click();
    await plan.getByText('Copied.').waitFor();
  },
};

/** Uses every control of the history. */
async function tryHistory(page: Page): Promise<void> {
  const history = page.getByRole('complementary', { name: 'History' });
  const first = history.getByRole('listitem').first();
  for (const name of ['Set active', 'Edit label', 'Add favorite', 'Delete from history']) {
    await first.getByRole('button', { name }).hover();
    await page.getByRole('tooltip', { name }).waitFor();
    await page.mouse.move(700, 700, { steps: 10 }); // On its way to a tooltip, the pointer doesn't open others.
    await page.getByRole('tooltip').waitFor({ state: 'detached' });
  }
  await first.getByRole('button', { name: 'Edit label' }).click();
  await page.keyboard.insertText('My label');
  await first.getByRole('button', { name: 'Save' }).click();
  await first.getByText('My label').waitFor();
  await first.getByRole('button', { name: 'Add favorite' }).click();
  await first.getByRole('button', { name: 'Remove favorite' }).click();
  await first.getByRole('button', { name: 'Set active' }).click();
}

/** Actions of a visitor before the parts are opened. */
const STATES: Readonly<Record<string, (page: Page) => Promise<void>>> = {
  async 'before the first run'() {},
  async 'after a reload with runs in the history'(page) {
    await button(page, 'Workflow').click();
    await runOperation(page);
    await page.locator('.result', { hasText: 'Welcome and onboarding' }).waitFor();
    await page.getByLabel('API key').fill('wrong');
    await runOperation(page);
    await page.locator('.error-help h2').waitFor();
    await page.reload();
    await untilGraphiqlReady(page);
  },
};

const shared = shareGraphiql();

it.each(Object.entries(STATES))('every part of GraphiQL works %s', async (_name, prepare) => {
  const { page, problems } = shared;
  await prepare(page);
  for (const [name, use] of Object.entries(PARTS)) {
    await use(page);
    expect([name, problems]).toEqual([name, []]);
  }
});

it('the parts above are all of them', async () => {
  const names = await shared.page
    .locator(':is(.header, .toolbar, .tool-buttons) :is(button, select, input):visible')
    .evaluateAll((all) => all.map((control) => control.ariaLabel ?? control.textContent.trim()));
  expect(names.map((name) => name || 'API key')).toEqual([
    ...['Operations', 'API key', 'Docs', 'History', 'Refresh schema', 'Keyboard shortcuts', 'Theme'],
    ...['Run', 'Explain', 'Prettify', 'Merge fragments', 'Copy', 'Copy link', 'Variables', 'Headers'],
  ]);
});

it('a panel stays open over runs and reloads, and shows what was run', async () => {
  const { page, problems } = shared;
  const panel = page.locator('.plugin');
  await button(page, 'Workflow').click();
  await button(page, 'History').click();
  await runOperation(page);
  await page.locator('.result', { hasText: 'Welcome and onboarding' }).waitFor();
  for (const _ of ['first', 'second']) {
    await panel.locator('.graphiql-history-item').first().waitFor();
    await page.reload();
    await untilGraphiqlReady(page);
  }
  await panel.getByRole('button', { name: 'Clear' }).click();
  await panel.locator('.graphiql-history-item').waitFor({ state: 'detached' });
  await button(page, 'Close History').click();
  expect(problems).toEqual([]);
});

it('the divider between request and response moves with the arrow keys and the pointer', async () => {
  const { page, problems } = shared;
  await button(page, 'Docs').click();
  const request = page.getByRole('region', { name: 'Request' });
  const box = async () => (await request.boundingBox()) ?? { x: 0, width: 0 };
  const { width } = await box();
  await page.getByRole('slider', { name: 'Width of the request' }).press('ArrowRight');
  const wider = await box();
  expect(wider.width).toBeGreaterThan(width);

  const edge = wider.x + wider.width;
  await page.mouse.move(edge + 3, 400);
  await page.mouse.down();
  await page.mouse.move(edge - 200, 400, { steps: 5 });
  await page.mouse.up();
  const narrower = await box();
  expect(Math.abs(narrower.x + narrower.width - (edge - 200))).toBeLessThan(30);
  expect(problems).toEqual([]);
});
