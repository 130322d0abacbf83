// Builds the site of the docs, and reads it in a browser.

import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { promisify } from 'node:util';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findViolations } from '../support/axe.ts';
import { launchBrowser } from '../support/browser.ts';
import { CHILD_ENV } from '../support/child-env.ts';
import { ROOT, read } from '../support/docs.ts';
import { createTemporaryFolder } from '../support/sandbox-files.ts';
import { type StaticFiles, startStaticFiles } from '../support/static-files.ts';

const BASE = '/notigraph/';

/** Sources to which pages link. */
const SOURCES = 'https://github.com/notigraph/notigraph/blob/main/';

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
  ['novu', 'from-novu'],
  ['mark as read', 'inbox'],
  ['notification center', 'inbox'],
  ['webhook', 'from-novu'],
  ['python', 'from-novu'],
];

const stack = new AsyncDisposableStack();
let folder: Awaited<ReturnType<typeof createTemporaryFolder>>;
let site: StaticFiles;
let browser: Browser;

/** The built pages by their paths, such as `/notigraph/contributing/index.html`. */
const pages = new Map<string, string>();

beforeAll(async () => {
  folder = stack.use(await createTemporaryFolder());
  const vitepress = join(ROOT, 'node_modules/vitepress/bin/vitepress.js');
  const args = [vitepress, 'build', 'docs', '--outDir', folder.path(BASE)];
  await promisify(execFile)(process.execPath, args, { cwd: ROOT, env: { ...CHILD_ENV, NODE_ENV: 'production' } });
  const built = await readdir(folder.path(BASE), { recursive: true });
  for (const file of built.filter((name) => name.endsWith('.html') && name !== '404.html')) {
    pages.set(BASE + file.replaceAll(sep, '/'), await readFile(folder.path(BASE, file), 'utf8'));
  }
  site = stack.use(await startStaticFiles(folder.path()));
  browser = await launchBrowser();
  stack.defer(() => browser.close());
});

afterAll(() => stack.disposeAsync());

async function open(name: string, width: number, height: number): Promise<Page> {
  const page = await browser.newPage({ viewport: { width, height } });
  await page.goto(`${site.url}${BASE}${name}.html`);
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
    for (const path of pages.keys()) {
      await page.setViewportSize({ width: 1366, height: 768 });
      await page.goto(site.url + path);
      expect([path, await findCutOff(page, 'html, .vp-doc pre, .vp-doc table')]).toEqual([path, []]);
      await page.setViewportSize({ width: 390, height: 844 });
      expect([path, await findCutOff(page, 'html, .vp-doc table')]).toEqual([path, []]);
      expect([path, await findOddCells(page)]).toEqual([path, []]);
    }
    expect(pages.size).toBeGreaterThan(40);
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

const idsOf = (html: string): string[] => [...html.matchAll(/ id="([^"]+)"/g)].map(([, id = '']) => id);

/** Returns what is wrong with a link of a page, or undefined. */
function findProblem(page: string, link: string): string | undefined {
  if (link.startsWith(SOURCES)) {
    return existsSync(join(ROOT, link.slice(SOURCES.length).replace(/#.*/, ''))) ? undefined : 'no such file';
  }
  const { origin, pathname, hash } = new URL(link, `http://site.invalid${page}`);
  if (origin !== 'http://site.invalid') {
    return undefined;
  }
  const target = pages.get(pathname.endsWith('/') ? `${pathname}index.html` : pathname);
  if (target === undefined) {
    return existsSync(folder.path(pathname.slice(1))) ? undefined : 'no such page';
  }
  return hash === '' || idsOf(target).includes(decodeURIComponent(hash.slice(1))) ? undefined : 'no such heading';
}

it('every link and anchor of the site leads somewhere', () => {
  const broken = [...pages].flatMap(([page, html]) =>
    [...html.matchAll(/<a [^>]*href="([^"]+)"/g)].flatMap(([, link = '']) => {
      const problem = findProblem(page, link.replaceAll('&amp;', '&'));
      return problem === undefined ? [] : [{ page, link, problem }];
    }),
  );
  expect(broken).toEqual([]);
});

it('the sidebar leads to every page', () => {
  const [, sidebar = ''] =
    /<aside class="VPSidebar"[\s\S]*?>([\s\S]*?)<\/aside>/.exec(pages.get(`${BASE}index.html`) ?? '') ?? [];
  const linked = [...sidebar.matchAll(/href="([^"]+)"/g)].map(([, link = '']) => link.replace(/\/$/, '/index.html'));
  expect([...pages.keys()].filter((page) => page !== `${BASE}index.html` && !linked.includes(page))).toEqual([]);
});

// Each page in one of the two: the parts of a page are checked on many others.
it.each([
  { viewport: { width: 1366, height: 768 }, colorScheme: 'light', first: 0 },
  { viewport: { width: 390, height: 844 }, colorScheme: 'dark', first: 1 },
] as const)(
  'every second page is accessible on $viewport.width px in the $colorScheme theme, and requests nothing from elsewhere',
  async ({ first, ...screen }) => {
    await using page = await browser.newPage(screen);
    const problems: string[] = [];
    page.on('console', (message) => ['error', 'warning'].includes(message.type()) && problems.push(message.text()));
    page.on('pageerror', ({ message }) => problems.push(message));
    page.on('request', (request) => request.url().startsWith(site.url) || problems.push(`requests ${request.url()}`));
    const found: Record<string, string[]> = {};
    for (const path of [...pages.keys()].toSorted().filter((_, i) => i % 2 === first)) {
      await page.goto(site.url + path);
      await page.locator('main h1').waitFor();
      problems.push(...(await findViolations(page)));
      if (problems.length > 0) {
        found[path] = problems.splice(0);
      }
    }
    expect(found).toEqual({});
  },
);
