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

/** Opens a part of the page, and returns the function that closes it. */
const PARTS: Readonly<Record<string, (page: Page) => Promise<() => Promise<void>>>> = {
  'the page': async () => async () => {},
  async Docs(page) {
    await openTools(page);
    await button(page, 'Docs').click();
    const docs = page.getByRole('complementary', { name: 'Documentation Explorer' });
    const back = docs.locator('.graphiql-doc-explorer-back'); // The panel remembers its page.
    await docs.getByText('Root Types').or(back).waitFor();
    if ((await back.count()) > 0) {
      await back.click();
    }
    await docs.getByText('Root Types').waitFor();
    const icons = await docs.locator('svg title').allTextContents(); // Named after functions, which the build could shorten.
    expect(icons).toEqual(['magnifying glass icon', 'root type icon', 'type icon']);
    expect(await docs.locator('.graphiql-doc-explorer-search input').getAttribute('placeholder')).toBe('Search');
    for (const type of ['Query', 'Mutation', 'Boolean']) {
      // Neither outside of the window or the panel, nor below something else.
      const isShown = await docs.getByRole('link', { name: type, exact: true }).evaluate((link) => {
        const { left, right, top, bottom } = link.getBoundingClientRect();
        return bottom < innerHeight && document.elementFromPoint((left + right) / 2, (top + bottom) / 2) === link;
      });
      expect([type, isShown]).toEqual([type, true]);
    }
    return () => button(page, 'Close Documentation Explorer').click();
  },
  async 'a type of the docs, and its search'(page) {
    await openTools(page);
    await button(page, 'Docs').click();
    const docs = page.getByRole('complementary', { name: 'Documentation Explorer' });
    await docs.getByRole('link', { name: 'Query', exact: true }).click();
    await docs.getByText('Reads records.').waitFor();
    expect(await findDefects(page)).toEqual([]);
    await docs.locator('.graphiql-doc-explorer-search-input').click();
    expect(await docs.locator('.graphiql-doc-explorer-search input').getAttribute('placeholder')).toBe('Search');
    await page.keyboard.insertText('workflow');
    await docs.getByRole('option').first().waitFor();
    return async () => {
      await page.keyboard.press('Escape');
      await button(page, 'Close Documentation Explorer').click();
    };
  },
  async History(page) {
    await openTools(page);
    await button(page, 'History').click();
    await page.locator('.graphiql-history-header').waitFor();
    return () => button(page, 'Close History').click();
  },
  async operations(page) {
    await button(page, 'Operations').click();
    await page.getByRole('dialog', { name: 'Operations' }).waitFor();
    return () => page.keyboard.press('Escape');
  },
  async 'keyboard shortcuts'(page) {
    await openTools(page);
    await button(page, 'Keyboard shortcuts').click();
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
    return () => page.keyboard.press('Escape');
  },
  async 'the menu of copies'(page) {
    await button(page, 'Copy').click();
    await page.getByRole('menuitem').first().waitFor();
    return () => page.keyboard.press('Escape');
  },
  async headers(page) {
    await button(page, 'Headers').click();
    await page.locator('#tool-headers .view-lines').waitFor();
    return () => button(page, 'Headers').click();
  },
  async plan(page) {
    await button(page, 'Explain').click();
    const plan = page.getByRole('region', { name: 'Plan' });
    await plan.getByText('curl', { exact: true }).first().click();
    await plan.getByRole('button', { name: 'Copy the curl command' }).first().waitFor();
    return async () => {};
  },
};

const shared = shareGraphiql();

async function expectNoDefects(page: Page, state: string): Promise<void> {
  for (const [part, open] of Object.entries(PARTS)) {
    const close = await open(page);
    expect([state, part, await findDefects(page)]).toEqual([state, part, []]);
    await close();
  }
}

async function run(page: Page): Promise<void> {
  await runOperation(page);
  await page.locator('.result', { hasText: 'Payment failed' }).waitFor();
  await page.locator('.query .field-count').nth(1).waitFor();
}

describe.each([
  [1366, 768],
  [390, 844],
])('GraphiQL on %i × %i', (width, height) => {
  let visitor: GraphiqlVisitor;
  beforeAll(async () => {
    visitor = await shared.visit(`${shared.gateway.url}?query=${encodeURIComponent(QUERY)}`, {
      viewport: { width, height },
      permissions: ['clipboard-read', 'clipboard-write'],
    });
  });
  afterAll(() => visitor[Symbol.asyncDispose]());

  it('has targets that can be hit, whole keycaps and visible types in every part, before and after a run and a reload', async () => {
    const { page } = visitor;
    await expectNoDefects(page, 'before a run');
    await run(page);
    await page.locator('.cost-bar summary').click();
    await expectNoDefects(page, 'after a run');
    await page.reload();
    await untilGraphiqlReady(page);
    await expectNoDefects(page, 'after a reload');
    expect(visitor.problems).toEqual([]);
  });

  it('shows the numbers of calls beside the brackets and the cursor', async () => {
    const { page } = visitor;
    await run(page);
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
