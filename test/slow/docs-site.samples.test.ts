import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { promisify } from 'node:util';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { findViolations } from '../support/axe.ts';
import { launchBrowser } from '../support/browser.ts';
import { ROOT } from '../support/docs.ts';
import { sampleOf } from '../support/samples.ts';
import { createTemporaryFolder } from '../support/sandbox-files.ts';
import { type StaticFiles, startStaticFiles } from '../support/static-files.ts';

const SCREENS = [
  { viewport: { width: 1366, height: 768 }, colorScheme: 'light' },
  { viewport: { width: 390, height: 844 }, colorScheme: 'dark' },
] as const;

const SOURCES = 'https://github.com/notigraph/notigraph/blob/main/';

let folder: Awaited<ReturnType<typeof createTemporaryFolder>>;
let site: StaticFiles;
let browser: Browser;

/** The built pages by their paths, such as `/contributing/index.html`. */
const pages = new Map<string, string>();

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

beforeAll(async () => {
  folder = await createTemporaryFolder();
  const vitepress = join(ROOT, 'node_modules/vitepress/bin/vitepress.js');
  await promisify(execFile)(process.execPath, [vitepress, 'build', 'docs', '--base', '/', '--outDir', folder.path()], {
    cwd: ROOT,
  });
  const files = await readdir(folder.path(), { recursive: true });
  for (const file of files.filter((name) => name.endsWith('.html') && name !== '404.html')) {
    pages.set(`/${file.replaceAll(sep, '/')}`, await readFile(folder.path(file), 'utf8'));
  }
  [site, browser] = await Promise.all([startStaticFiles(folder.path()), launchBrowser()]);
});

afterAll(async () => {
  await browser.close();
  await site[Symbol.asyncDispose]();
  await folder[Symbol.asyncDispose]();
});

it('every link and anchor of the site leads somewhere', () => {
  const broken = [...pages].flatMap(([page, html]) =>
    [...html.matchAll(/<a [^>]*href="([^"]+)"/g)].flatMap(([, link = '']) => {
      const problem = findProblem(page, link.replaceAll('&amp;', '&'));
      return problem === undefined ? [] : [{ page, link, problem }];
    }),
  );
  expect(broken).toEqual([]);
  expect(pages.size).toBeGreaterThan(30);
});

it('the sidebar leads to every page', () => {
  const [, sidebar = ''] =
    /<aside class="VPSidebar"[\s\S]*?>([\s\S]*?)<\/aside>/.exec(pages.get('/index.html') ?? '') ?? [];
  const linked = [...sidebar.matchAll(/href="([^"]+)"/g)].map(([, link = '']) => link.replace(/\/$/, '/index.html'));
  expect([...pages.keys()].filter((page) => page !== '/index.html' && !linked.includes(page))).toEqual([]);
});

it.each(SCREENS)(
  'every page is accessible on $viewport.width px in the $colorScheme theme, and requests nothing from elsewhere',
  async (screen) => {
    const page = await browser.newPage(screen);
    const problems: string[] = [];
    page.on('console', (message) => ['error', 'warning'].includes(message.type()) && problems.push(message.text()));
    page.on('pageerror', ({ message }) => problems.push(message));
    page.on('request', (request) => request.url().startsWith(site.url) || problems.push(`requests ${request.url()}`));
    const found: Record<string, string[]> = {};
    for (const path of sampleOf([...pages.keys()].toSorted(), 8)) {
      await page.goto(site.url + path);
      await page.locator('main h1').waitFor();
      problems.push(...(await findViolations(page)));
      if (problems.length > 0) {
        found[path] = problems.splice(0);
      }
    }
    expect(found).toEqual({});
    await page.close();
  },
);
