import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { runOperation, shareGraphiql, untilGraphiqlReady } from '../../../test/support/graphiql.ts';
import { SANDBOX_KEYS } from '../../sandbox/src/sandbox.ts';

const shared = shareGraphiql();

describe('a failure of GraphiQL’s page', () => {
  const store = (page: Page, key: string, value: string) =>
    page.evaluate(([name = '', text = '']) => localStorage.setItem(name, text), [key, value]);

  it('is shown instead of a white page, or in its panel, with a button that resets what is stored', async () => {
    await using visitor = await shared.visit();
    const { page, problems } = visitor;
    await page.getByRole('button', { name: 'Close Create notification group' }).click();
    await page.waitForFunction(() => !localStorage.getItem('notigraph:tabState')?.includes('CreateNotificationGroup'));
    await store(page, 'notigraph:queries', '{"queries":');
    await page.reload();
    const failure = page.getByRole('alert');
    await failure.getByText('GraphiQL failed').waitFor();
    expect(await failure.textContent()).toContain('SyntaxError: Unexpected end of JSON input');
    expect(problems.splice(0)).toHaveLength(1);

    await failure.getByRole('button', { name: 'Reset the page' }).click();
    await untilGraphiqlReady(page);
    await page.getByRole('button', { name: 'Close Create notification group' }).waitFor();
    expect(new URL(page.url()).pathname).toBe('/graphql');
    expect(problems).toEqual([]);

    // In a panel, it leaves the rest of the page usable.
    await store(page, 'notigraph:queries', '{"queries":[{"query":{}}]}');
    await store(page, 'notigraph:visiblePlugin', 'History');
    await page.reload();
    const panel = page.getByRole('complementary', { name: 'History' });
    await panel.getByText('History failed').waitFor();
    expect(problems.splice(0)).toHaveLength(1);
    await runOperation(page);
    await page.locator('.result', { hasText: 'Lifecycle' }).waitFor();
    await page.getByRole('button', { name: 'Docs' }).click();
    await page.getByText('Root Types').waitFor();
    await page.getByRole('button', { name: 'Close Documentation Explorer' }).click();

    await page.getByRole('button', { name: 'History' }).click();
    await panel.getByRole('button', { name: 'Reset the page' }).click();
    await panel.waitFor({ state: 'detached' });
    await untilGraphiqlReady(page);
    await page.getByRole('button', { name: 'History' }).click();
    await panel.getByText('History', { exact: true }).waitFor();
  });

  it('to load the schema with a former credential changes nothing when that of the current one is loaded', async () => {
    const former = Promise.withResolvers<void>();
    const settled = Promise.withResolvers<void>();
    const refusal = { errors: [{ message: 'The former key is invalid.', extensions: { retryable: false } }] };
    await using visitor = await shared.visit(undefined, {}, async (page) => {
      await page.route(shared.gateway.url, async (route) => {
        if (route.request().headers().authorization !== 'ApiKey former') {
          return route.continue();
        }
        await former.promise;
        await route.fulfill({ json: refusal }).catch(() => {}); // The page may have aborted it.
        settled.resolve();
      });
    });
    const { page } = visitor;
    const refreshWith = async (key: string) => {
      await page.getByLabel('API key').fill(key);
      await page.getByRole('button', { name: 'Refresh schema' }).click();
    };
    const refused = page.waitForRequest((request) => request.headers().authorization === 'ApiKey former');
    await refreshWith('former');
    await refused;
    await refreshWith(SANDBOX_KEYS.development);
    await page.getByRole('button', { name: 'Docs' }).click();
    await page.getByText('Root Types').waitFor();
    former.resolve();
    await settled.promise;
    await runOperation(page);
    await page.locator('.result', { hasText: 'Lifecycle' }).waitFor();
    expect(await page.getByText('Root Types').count()).toBe(1);
    expect(await page.getByText('The schema is unavailable').count()).toBe(0);
  });

  it('to load its script leaves a sentence that says what to do', async () => {
    await using page = await shared.browser.newPage();
    await page.route('**/*.js', (route) => route.abort());
    await page.goto(shared.gateway.url);
    expect(await page.locator('#root').textContent()).toContain('reload this page');
  });
});

describe('GraphiQL works', () => {
  it('without https, where pages have no clipboard and no UUIDs, and in a browser that stores nothing', async () => {
    const elsewhere = 'http://gateway.example/graphql';
    await using visitor = await shared.visit(elsewhere, {}, async (page) => {
      await page.route(`${elsewhere}**`, async (route) => {
        const url = route.request().url().replace(elsewhere, shared.gateway.url);
        await route.fulfill({ response: await route.fetch({ url }) });
      });
      await page.addInitScript(() => {
        Object.defineProperty(window, 'localStorage', {
          get() {
            throw new DOMException('Access is denied for this document.', 'SecurityError');
          },
        });
      });
    });
    const { page, problems } = visitor;
    expect(await page.evaluate(() => window.isSecureContext)).toBe(false);
    await runOperation(page);
    await page.locator('.result', { hasText: 'Lifecycle' }).waitFor();
    await page.getByRole('button', { name: 'History' }).click();
    await page.locator('.graphiql-history-item').waitFor();
    expect(await page.getByRole('button', { name: 'Copy' }).count()).toBe(0);
    expect(problems).toEqual([]);
  });

  it('if the browser refuses to copy, and after a reload with an operation that is too long for an address', async () => {
    await using visitor = await shared.visit();
    const { page, problems } = visitor;
    await page.getByRole('button', { name: 'Explain' }).click();
    await page.locator('.plan summary').first().click();
    await page.getByRole('button', { name: 'Copy the curl command' }).first().click();
    await page.getByText('Your browser does not permit copying.').waitFor();

    await page.getByRole('button', { name: 'New tab' }).click();
    await page.keyboard.insertText(`query Long { __typename #${' long'.repeat(1_500)}`);
    await page.waitForFunction(() => localStorage.getItem('notigraph:tabState')?.includes('query Long'));
    await page.reload();
    await untilGraphiqlReady(page);
    expect(await page.locator('.tabs .tab[aria-current=true]').textContent()).toBe('Long');
    expect(problems).toEqual([]);
  });
});
