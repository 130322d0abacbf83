import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type GraphiqlVisitor,
  runOperation,
  shareGraphiql,
  untilGraphiqlReady,
} from '../../../test/support/graphiql.ts';

/** Operation with brackets before a number of calls, and two of them in succession. */
const QUERY = `query Layout {
  workflow(idOrIdentifier: "payment-failed") {
    name
    notificationGroup { name }
  }
}`;

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

/** Opens the part of the header that a phone hides. */
async function openTools(page: Page): Promise<void> {
  if (!(await page.getByLabel('Theme').isVisible())) {
    await button(page, 'Key and tools').click();
  }
}

/** Returns what is too small to be hit, broken over lines, or wider than the page, besides the editors and links in sentences. */
const findDefects = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const isVisible = (element: Element) =>
      element.checkVisibility({ visibilityProperty: true }) && !element.closest('.monaco-editor, p');
    const describe = (element: Element, problem: string) => `${problem}: ${element.outerHTML.slice(0, 120)}`;
    const small = [...document.querySelectorAll('button, a, input:not(.splitter), select, summary, [role=menuitem]')]
      .filter((target) => isVisible(target) && target.getClientRects().length > 0)
      .filter((target) => Math.min(target.getBoundingClientRect().width, target.getBoundingClientRect().height) < 24);
    const broken = [...document.querySelectorAll('kbd')].filter(
      (key) => key.checkVisibility() && (key.getClientRects().length > 1 || key.getBoundingClientRect().height > 30),
    );
    const { scrollWidth } = document.documentElement;
    return [
      ...small.map((target) => describe(target, 'smaller than 24 px')),
      ...broken.map((key) => describe(key, 'a keycap on two lines')),
      ...(scrollWidth > innerWidth ? [`the page is ${scrollWidth - innerWidth} px too wide`] : []),
    ];
  });

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

/** Opens, uses and closes each part of the page that is not always shown. Each calls `check` while it is open. */
const PARTS: Readonly<Record<string, (page: Page, check: () => Promise<void>) => Promise<void>>> = {
  'the page': (_, check) => check(),
  async Docs(page, check) {
    const docs = page.getByRole('complementary', { name: 'Documentation Explorer' });
    await openTools(page);
    await button(page, 'Docs').click();
    await docs.getByText('Root Types').waitFor();
    const icons = await docs.locator('svg title').allTextContents(); // Named after functions, which the build could shorten.
    expect(icons).toEqual(['magnifying glass icon', 'root type icon', 'type icon']);
    const search = docs.getByLabel('Search the docs');
    const found = docs.locator('.docs li');
    for (const type of ['Query', 'Mutation', 'Boolean']) {
      // Neither outside of the window or the panel, nor below something else.
      const isShown = await docs.getByRole('link', { name: type, exact: true }).evaluate((link) => {
        const { left, right, top, bottom } = link.getBoundingClientRect();
        return bottom < innerHeight && document.elementFromPoint((left + right) / 2, (top + bottom) / 2) === link;
      });
      expect([type, isShown]).toEqual([type, true]);
    }
    await check();
    await docs.getByRole('link', { name: 'Query', exact: true }).click();
    await docs.getByText('Reads records.').waitFor();
    await check();
    await search.fill('createNot');
    // Fields before types, inputs last. The results replace the docs.
    await expect
      .poll(() => found.allTextContents())
      .toEqual([
        'Mutation.createNotificationGroup',
        'CreateNotificationGroupResult',
        'CreateNotificationGroupSuccess',
        'CreateNotificationGroupInput',
      ]);
    expect(await docs.locator('.graphiql-doc-explorer-content').count()).toBe(0);
    await check();
    await search.fill('name');
    await expect.poll(async () => (await found.allTextContents())[0]).toBe('Feed.name');
    await search.fill('fillGaps');
    await expect.poll(() => found.allTextContents()).toEqual(['Query.notificationStats(fillGaps)']);
    await search.fill('nothing');
    await docs.getByText('Nothing in the schema has this name.').waitFor();
    await search.fill('NOTIFICATIONGROUPS');
    await expect.poll(async () => (await found.allTextContents())[0]).toBe('Query.notificationGroups');
    await page.keyboard.press('ArrowDown');
    await docs.locator('li button:focus').waitFor();
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('Enter');
    await docs.getByText('Returns all groups').waitFor();
    expect(await search.inputValue()).toBe('');
    await button(page, 'Close Documentation Explorer').click();
    await docs.waitFor({ state: 'detached' });
  },
  async History(page, check) {
    const history = page.getByRole('complementary', { name: 'History' });
    await openTools(page);
    await button(page, 'History').click();
    await history.locator('.graphiql-history-header').waitFor();
    await check();
    if ((await history.getByRole('listitem').count()) > 0) {
      await tryHistory(page);
    }
    await button(page, 'Close History').click();
    await history.waitFor({ state: 'detached' });
  },
  async operations(page, check) {
    const list = page.getByRole('dialog', { name: 'Operations' });
    await button(page, 'Operations').click();
    await list.getByRole('button', { name: 'Create feed' }).waitFor();
    await check();
    await page.keyboard.press('Escape');
    await list.waitFor({ state: 'hidden' });
  },
  async 'keyboard shortcuts'(page, check) {
    const list = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
    await openTools(page);
    await button(page, 'Keyboard shortcuts').click();
    await list.waitFor();
    await check();
    await page.mouse.click(1, 400); // Elsewhere.
    await list.waitFor({ state: 'hidden' });
  },
  async themes(page) {
    await openTools(page);
    for (const theme of ['dark', 'light', 'system']) {
      await page.getByLabel('Theme').selectOption(theme);
    }
  },
  async 'schema refresh'(page) {
    await openTools(page);
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
  async headers(page, check) {
    await button(page, 'Headers').click();
    await page.locator('#tool-headers .view-lines').waitFor();
    await check();
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
  async 'editing tools'(page, check) {
    await inNewTab(page, 'query Groups { notificationGroups { id');
    await button(page, 'Groups').waitFor(); // GraphiQL has parsed it.
    await button(page, 'Prettify').click();
    await page.locator('.query .view-line').nth(4).waitFor();
    await button(page, 'Merge fragments').click();
    for (const item of ['Operation', 'curl command', 'fetch call', 'Typed client']) {
      await button(page, 'Copy').click();
      await page.getByRole('menuitem', { name: item }).waitFor();
      await check();
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
  async plan(page, check) {
    await button(page, 'Notification stats').click();
    await button(page, 'Explain').click();
    const plan = page.getByRole('region', { name: 'Plan' });
    await plan.getByText('curl', { exact: true }).first().click();
    await plan.getByRole('button', { name: 'Copy the curl command' }).first().waitFor();
    await check();
    await plan.getByRole('button', { name: 'Copy the curl command' }).first().click();
    await plan.getByText('Copied.').waitFor();
  },
};

/** Uses every control of the history. */
async function tryHistory(page: Page): Promise<void> {
  const history = page.getByRole('complementary', { name: 'History' });
  const first = history.getByRole('listitem').first();
  const { width = 0, height = 0 } = page.viewportSize() ?? {};
  for (const name of ['Set active', 'Edit label', 'Add favorite', 'Delete from history']) {
    await first.getByRole('button', { name }).hover();
    await page.getByRole('tooltip', { name }).waitFor();
    await page.mouse.move(width / 2, height - 60, { steps: 10 }); // On its way to a tooltip, the pointer doesn't open others.
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
const STATES: Readonly<Record<string, (page: Page, check: () => Promise<void>) => Promise<void>>> = {
  async 'before the first run'() {},
  async 'after a reload with runs in the history'(page, check) {
    await button(page, 'Workflow').click();
    await runOperation(page);
    await page.locator('.result', { hasText: 'Welcome and onboarding' }).waitFor();
    await page.locator('.cost-bar summary').click();
    await check();
    await openTools(page);
    await page.getByLabel('API key').fill('wrong');
    await runOperation(page);
    await page.locator('.error-help h2').waitFor();
    await check();
    await page.reload();
    await untilGraphiqlReady(page);
  },
};

const shared = shareGraphiql();

describe.each([
  [1366, 768],
  [390, 844],
])('GraphiQL on %i × %i', (width, height) => {
  let visitor: GraphiqlVisitor;
  beforeAll(async () => {
    visitor = await shared.visit(undefined, {
      viewport: { width, height },
      permissions: ['clipboard-read', 'clipboard-write'],
    });
  });
  afterAll(() => visitor[Symbol.asyncDispose]());

  it.each(Object.entries(STATES))(
    'works in every part %s, with targets that can be hit, whole keycaps and visible types',
    async (state, prepare) => {
      const { page, problems } = visitor;
      const checkAs = (part: string) => async () => expect([part, await findDefects(page)]).toEqual([part, []]);
      await prepare(page, checkAs(state));
      for (const [part, use] of Object.entries(PARTS)) {
        await use(page, checkAs(part));
        expect([part, problems]).toEqual([part, []]);
      }
    },
  );

  it('shows the numbers of calls beside the brackets and the cursor', async () => {
    const { page } = visitor;
    await page.goto(`${shared.gateway.url}?query=${encodeURIComponent(QUERY)}`);
    await untilGraphiqlReady(page);
    await runOperation(page);
    await page.locator('.result', { hasText: 'Payment failed' }).waitFor();
    await page.locator('.query .field-count').nth(1).waitFor();
    await page.locator('.query .view-line', { hasText: 'workflow' }).click();
    await page.keyboard.press('End'); // Marks the bracket.
    await page.locator('.query .bracket-match').first().waitFor();
    const covered = await page.locator('.query .field-count').evaluateAll((badges) => {
      const texts = document.createTreeWalker(
        document.querySelector('.query .view-lines') ?? document,
        NodeFilter.SHOW_TEXT,
      );
      const others = [...document.querySelectorAll('.query :is(.cursors-layer .cursor, .bracket-match)')].map(
        (element) => [element.className, element.getBoundingClientRect()] as const,
      );
      for (let node = texts.nextNode(); node !== null; node = texts.nextNode()) {
        const index = /[{}()]/.exec(node.textContent ?? '')?.index;
        if (index !== undefined && !node.parentElement?.closest('.field-count')) {
          const range = document.createRange();
          range.setStart(node, index);
          range.setEnd(node, index + 1);
          others.push(['bracket', range.getBoundingClientRect()]);
        }
      }
      return badges.flatMap((badge) => {
        const at = badge.getBoundingClientRect();
        return others
          .filter(([, o]) => o.left < at.right && at.left < o.right && o.top < at.bottom && at.top < o.bottom)
          .map(([name]) => `${badge.textContent} covers ${name}`);
      });
    });
    expect(covered).toEqual([]);
  });
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

it('GraphiQL says that something was copied, for a while', async () => {
  await using visitor = await shared.visit(undefined, {
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  const { page } = visitor;
  await runOperation(page);
  const notes = [page.locator('.toolbar [role=status]').first(), page.locator('.summary [role=status]')];
  await button(page, 'Copy link').click();
  await button(page, 'Copy response').click();
  for (const note of notes) {
    await expect.poll(() => note.textContent()).toMatch(/^Copied\./);
  }
  for (const note of notes) {
    await expect.poll(() => note.textContent()).toBe('');
  }
});
