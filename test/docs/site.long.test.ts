import { execFile } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { launchBrowser } from '../support/browser.ts';
import { CHILD_ENV } from '../support/child-env.ts';
import { ROOT, read } from '../support/docs.ts';
import { createTemporaryFolder } from '../support/sandbox-files.ts';
import { startStaticFiles } from '../support/static-files.ts';

/** Questions of people, and the pages that answer them. */
const QUESTIONS: readonly [question: string, page: string][] = [
  ['trigger a notification', 'trigger'],
  ['paginate', 'trigger'],
  ['list workflows', 'trigger'],
  ['how do I upgrade', 'upgrading'],
  ['custom header', 'network'],
  ['/api/graphql', 'network'],
  ['error codes', 'errors'],
  ['deploy to kubernetes', 'production'],
  ['login with auth0', 'identity-providers'],
  ['csv import', 'import'],
  ['retry a failed write', 'errors'],
  ['server actions', 'react'],
];

const stack = new AsyncDisposableStack();
let browser: Browser;
let site: string;
let paths: string[];

beforeAll(async () => {
  const folder = stack.use(await createTemporaryFolder());
  const vitepress = join(ROOT, 'node_modules/vitepress/bin/vitepress.js');
  const args = [vitepress, 'build', 'docs', '--outDir', folder.path('notigraph')];
  await promisify(execFile)(process.execPath, args, { cwd: ROOT, env: { ...CHILD_ENV, NODE_ENV: 'production' } });
  const built = await readdir(folder.path('notigraph'), { recursive: true });
  paths = built
    .filter((file) => file.endsWith('.html') && file !== '404.html')
    .map((file) => file.slice(0, -'.html'.length));
  const files = stack.use(await startStaticFiles(folder.path()));
  site = `${files.url}/notigraph`;
  browser = await launchBrowser();
  stack.defer(() => browser.close());
});

afterAll(() => stack.disposeAsync());

async function open(path: string, width: number, height: number): Promise<Page> {
  const page = await browser.newPage({ viewport: { width, height } });
  await page.goto(`${site}/${path}.html`);
  return page;
}

describe('the search of the site', () => {
  let page: Page;
  beforeAll(async () => {
    page = await open('index', 1366, 768);
    await page.locator('.VPNavBarSearchButton').click();
  });

  it.each(QUESTIONS)('answers "%s" with the page %s', async (question, expected) => {
    const results = page.locator('.result');
    await page.locator('#localsearch-input').fill('');
    await expect.poll(() => results.count()).toBe(0);
    await page.locator('#localsearch-input').fill(question);
    await expect
      .poll(() => results.first().getAttribute('href'))
      .toMatch(new RegExp(`^/notigraph/${expected}\\.html#`));
  });
});

/** Returns the elements of the page that are wider than their place, by the beginning of their text. */
const findCutOff = (page: Page, selector: string): Promise<string[]> =>
  page
    .locator(selector)
    .evaluateAll((elements) =>
      elements
        .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth + 1)
        .map(({ textContent }) => textContent.slice(0, 60)),
    );

/** Returns the cells of tables that are not listed from the same edge, below names as in the head of the table. */
const findOddCells = (page: Page): Promise<object[]> =>
  page.locator('.vp-doc td:not(:empty)').evaluateAll((all) =>
    all
      .map((cell) => ({
        head: cell.closest('table')?.querySelectorAll('th')[[...(cell.parentElement?.children ?? [])].indexOf(cell)],
        label: cell.getAttribute('data-label'),
        align: getComputedStyle(cell).textAlign,
        text: cell.textContent,
      }))
      .flatMap(({ head, label, align, text }) =>
        label === head?.textContent.trim() && align === 'start'
          ? []
          : [{ label, head: head?.textContent, align, text }],
      ),
  );

describe('the pages of the site', () => {
  it('fit into a window and a phone, which lists the cells of each row below their heads', async () => {
    await using page = await open('index', 1366, 768);
    for (const path of paths) {
      await page.setViewportSize({ width: 1366, height: 768 });
      await page.goto(`${site}/${path}.html`);
      expect([path, await findCutOff(page, 'html, .vp-doc pre, .vp-doc table')]).toEqual([path, []]);
      await page.setViewportSize({ width: 390, height: 844 });
      expect([path, await findCutOff(page, 'html, .vp-doc table')]).toEqual([path, []]);
      expect([path, await findOddCells(page)]).toEqual([path, []]);
    }
    expect(paths.length).toBeGreaterThan(40);
  });

  it('show on a phone what to do about each error', async () => {
    await using page = await open('errors', 390, 844);
    const remedy = page.locator('td[data-label="what to do"]').first();
    await remedy.scrollIntoViewIfNeeded();
    const box = await remedy.boundingBox();
    expect(box?.x).toBeGreaterThanOrEqual(0);
    expect((box?.x ?? 0) + (box?.width ?? 390)).toBeLessThanOrEqual(390);
    const label = await remedy.evaluate((cell) => getComputedStyle(cell, '::before').content);
    expect(label).toContain('what to do');
  });
});

it.each(['light', 'dark'])(
  'the texts of the %s picture of the architecture fit into its boxes, in wide fonts too',
  async (theme) => {
    await using page = await browser.newPage();
    await page.setContent(read(`docs/images/architecture-${theme}.svg`));
    const tight = await page.evaluate(() => {
      const boxes = [...document.querySelectorAll('.box, .frame')].map((box) => box.getBoundingClientRect());
      return [...document.querySelectorAll('text:not(.label)')]
        .map((text) => ({ text: text.textContent, at: text.getBoundingClientRect() }))
        .filter(({ at }) => {
          const middle = (at.left + at.right) / 2;
          const widths = boxes
            .filter((box) => box.left < middle && middle < box.right && box.top < at.top && at.bottom < box.bottom)
            .map(({ width }) => width);
          return !(Math.min(...widths) > at.width * 1.2 && widths.length > 0);
        })
        .map(({ text }) => text);
    });
    expect(tight).toEqual([]);
  },
);
