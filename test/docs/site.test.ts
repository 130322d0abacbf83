import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { launchBrowser } from '../support/browser.ts';
import { CHILD_ENV } from '../support/child-env.ts';
import { ROOT } from '../support/docs.ts';
import { createTemporaryFolder } from '../support/sandbox-files.ts';
import { startStaticFiles } from '../support/static-files.ts';

/** What people ask, and the page that answers it. */
const QUESTIONS: readonly [question: string, page: string][] = [
  ['paginate', 'modules'],
  ['how do I upgrade', 'upgrading'],
  ['custom header', 'network'],
  ['/api/graphql', 'network'],
  ['error codes', 'errors'],
  ['deploy to kubernetes', 'production'],
  ['login with auth0', 'identity-providers'],
  ['csv import', 'import'],
  ['retry a failed write', 'errors'],
  ['rotate secrets', 'configuration'],
];

const stack = new AsyncDisposableStack();
let browser: Browser;
let site: string;

beforeAll(async () => {
  const folder = stack.use(await createTemporaryFolder());
  const vitepress = join(ROOT, 'node_modules/vitepress/bin/vitepress.js');
  const args = [vitepress, 'build', 'docs', '--outDir', folder.path('notigraph')];
  await promisify(execFile)(process.execPath, args, { cwd: ROOT, env: { ...CHILD_ENV, NODE_ENV: 'production' } });
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
