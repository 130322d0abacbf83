import { readdirSync } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import type { Browser, BrowserContext, Page, Request } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SANDBOX_KEYS } from '../../src/sandbox/sandbox.ts';
import { launchBrowser } from '../support/browser.ts';
import { type SandboxedGateway, startSandboxedGateway } from '../support/gateway.ts';
import { startScriptedUpstream } from '../support/scripted-upstream.ts';

const AUTHORIZATION = `ApiKey ${SANDBOX_KEYS.development}`;

const VIEWPORT = { width: 1400, height: 900 };

const OPERATIONS = readdirSync(new URL('../../schema/operations', import.meta.url))
  .filter((file) => file.endsWith('.graphql'))
  .map((file) => file.replace('.graphql', ''));

let browser: Browser;

beforeAll(async () => {
  browser = await launchBrowser();
});

afterAll(() => browser.close());

describe('GraphiQL in a browser', () => {
  let gateway: SandboxedGateway;
  /** Shared by tests that leave the page usable for the next one. */
  let visitor: Visitor;

  beforeAll(async () => {
    gateway = await startSandboxedGateway({ options: { graphiql: { authorization: AUTHORIZATION } } });
    visitor = await visit(gateway.url);
  });

  afterAll(async () => {
    await visitor[Symbol.asyncDispose]();
    await gateway[Symbol.asyncDispose]();
  });

  it('opens at the endpoint with every shipped operation in a tab, and runs one with the key filled in', async () => {
    const { page } = visitor;
    expect(await page.title()).toBe('Notigraph');
    const tabs = await tabTitles(page);
    expect(tabs.toSorted()).toEqual(OPERATIONS.toSorted());

    expect(await editorText(page, 'Headers')).toContain(`"Authorization": "${AUTHORIZATION}"`);
    const request = await run(page);
    expect(request.headers().authorization).toBe(AUTHORIZATION);
    expect(request.postDataJSON().operationName).toBe(tabs[0]);
    await page.locator('.graphiql-response', { hasText: '"data"' }).waitFor();

    const ends = await page
      .locator('.graphiql-tab')
      .evaluateAll((all) => all.map((tab) => tab.getBoundingClientRect().right));
    expect(Math.max(...ends)).toBeLessThan(VIEWPORT.width);
    await page.screenshot({ path: 'test/screenshots/graphiql.png' });
    expect(visitor.problems).toEqual([]);
  });

  it('explains the code of an error until a response without errors arrives', async () => {
    const { page } = visitor;
    const help = page.locator('#error-help');
    await page.route('**/graphql', async (route) => {
      const headers = { ...route.request().headers(), authorization: 'ApiKey wrong' };
      await route.continue({ headers });
    });
    await run(page);
    await help.getByText('Send a valid credential.').waitFor();
    expect(await help.textContent()).toContain('UNAUTHENTICATED');
    await page.unroute('**/graphql');
    await run(page);
    await help.waitFor({ state: 'hidden' });
    expect(visitor.problems).toEqual([]);
  });

  it('loads nothing from other origins', async () => {
    await run(visitor.page);
    await visitor.page.getByRole('button', { name: 'Show Documentation Explorer' }).click();
    await visitor.page.getByText('Root Types').waitFor();

    const origins = visitor.requests.map((request) => new URL(request.url()).origin);
    expect(new Set(origins)).toEqual(new Set([new URL(gateway.url).origin])); // A blob: has the origin of its page.
    expect(visitor.problems).toEqual([]);
  });

  it('switches tabs at the first click and runs the operation of the tab with its example variables', async () => {
    const { page } = visitor;
    await openTab(page, 'Workflow');
    expect(await editorText(page, 'Variables')).toContain('welcome-onboarding');
    const request = await run(page);
    expect(request.postDataJSON()).toMatchObject({
      operationName: 'Workflow',
      variables: { idOrIdentifier: 'welcome-onboarding' },
    });
    await page.locator('.graphiql-response', { hasText: 'Welcome and onboarding' }).waitFor();
    expect(visitor.problems).toEqual([]);
  });

  it('cannot load anything from other origins, because the browser blocks it', async () => {
    await using elsewhere = await startScriptedUpstream(() => ({
      headers: { 'content-type': 'text/javascript', 'access-control-allow-origin': '*' },
      body: 'globalThis.intruded = true;',
    }));
    const outcomes = await visitor.page.evaluate(async (url) => {
      const script = Object.assign(document.createElement('script'), { src: `${url}/script` });
      const loading = new Promise((resolve) => {
        script.onload = () => resolve('loaded');
        script.onerror = () => resolve('refused');
      });
      document.head.append(script, Object.assign(new Image(), { src: `${url}/image` }));
      const fetching = fetch(`${url}/fetch`).then(
        () => 'loaded',
        () => 'refused',
      );
      return Promise.all([loading, fetching]);
    }, elsewhere.url);
    expect(outcomes).toEqual(['refused', 'refused']);
    expect(elsewhere.requests).toEqual([]);
  });

  it('shows a returning visitor the same tabs with the key, which the browser has not stored', async () => {
    await using visitor = await visit(gateway.url);
    const { page } = visitor;
    const tabs = await tabTitles(page);
    await page.waitForFunction(() => localStorage.getItem('graphiql:tabState') !== null);
    await page.reload();
    await untilReady(page);
    expect(await tabTitles(page)).toEqual(tabs);
    expect((await run(page)).postDataJSON().operationName).toBe(tabs[0]);

    await openTab(page, 'Workflow');
    const isStored = (index: number) =>
      localStorage.getItem('graphiql:tabState')?.endsWith(`"activeTabIndex":${index}}`);
    await page.waitForFunction(isStored, tabs.indexOf('Workflow'));
    await page.goto(gateway.url);
    await untilReady(page);
    expect(await tabTitles(page)).toEqual(tabs);
    expect(await selectedTab(page)).toBe('Workflow');
    await openTab(page, 'Workflows');
    const request = await run(page);
    expect(request.postDataJSON().operationName).toBe('Workflows');
    expect(request.headers().authorization).toBe(AUTHORIZATION);

    const stored = await page.evaluate(() => JSON.stringify({ ...localStorage }));
    expect(stored).toContain('NotificationGroups');
    expect(stored).not.toContain(SANDBOX_KEYS.development);
    expect(visitor.problems).toEqual([]);
  });

  it('is readable in the dark theme', async () => {
    await using visitor = await visit(gateway.url, { colorScheme: 'dark' });
    const keyword = visitor.page.locator('.graphiql-query-editor .view-line span', { hasText: /^query$/ });
    const [text = '', background = ''] = await keyword.evaluate((element) => [
      getComputedStyle(element).color,
      getComputedStyle(element.closest('.graphiql-editors') ?? element).backgroundColor,
    ]);
    expect(brightness(text)).toBeGreaterThan(brightness(background) + 80);
  });
});

describe('the page of GraphiQL', () => {
  it('has security headers', async () => {
    await using gateway = await startSandboxedGateway({ options: { graphiql: true } });
    const { headers } = await fetch(gateway.url, { headers: { accept: 'text/html' } });
    expect(headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('referrer-policy')).toBe('no-referrer');
  });

  it('shows how to set a key, and fills in none, if the gateway has none', async () => {
    await using gateway = await startSandboxedGateway({ options: { graphiql: true } });
    await using visitor = await visit(gateway.url);
    expect(await editorText(visitor.page, 'Headers')).toContain('// "Authorization": "ApiKey <your key>"');
    const request = await run(visitor.page);
    expect(request.headers().authorization).toBeUndefined();
    await visitor.page.locator('.graphiql-response', { hasText: 'UNAUTHENTICATED' }).waitFor();
    expect(await visitor.page.content()).not.toContain(SANDBOX_KEYS.development);
  });

  it('does not exist if GraphiQL is turned off', async () => {
    await using gateway = await startSandboxedGateway({ options: { graphiql: false } });
    const answer = await getPage(gateway.url);
    expect(answer.status).not.toBe(200);
    expect(answer.headers['content-type']).not.toContain('html');
    expect(answer.body.length).toBeLessThan(1000);
  });

  it('is compressed for clients that accept it, and not sent again to clients that have it', async () => {
    await using gateway = await startSandboxedGateway({ options: { graphiql: true } });
    const plain = await getPage(gateway.url);
    expect(plain.status).toBe(200);
    expect(plain.headers).toMatchObject({ 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-cache' });
    expect(plain.headers['content-encoding']).toBeUndefined();

    const zipped = await getPage(gateway.url, { 'accept-encoding': 'gzip, deflate, br' });
    expect(zipped.headers['content-encoding']).toBe('gzip');
    expect(zipped.headers.vary).toContain('Accept-Encoding');
    expect(zipped.body.length).toBeLessThan(plain.body.length / 2);
    expect(gunzipSync(zipped.body).equals(plain.body)).toBe(true);

    const { etag = '' } = plain.headers;
    const again = await getPage(gateway.url, { 'if-none-match': etag });
    expect(again).toMatchObject({ status: 304, headers: { etag } });
    expect(again.body).toHaveLength(0);
    expect((await getPage(gateway.url, { 'if-none-match': '"another"' })).status).toBe(200);
  });

  it('does not affect other paths or other clients', async () => {
    await using gateway = await startSandboxedGateway({ options: { graphiql: true } });
    expect((await getPage(`${gateway.url}/more`)).headers['content-type'] ?? '').not.toContain('html');
    const query = await getPage(`${gateway.url}?query={__typename}`, {
      accept: 'application/json',
      'graphql-require-preflight': 'true',
    });
    expect(JSON.parse(String(query.body))).toEqual({ data: { __typename: 'Query' } });
  });
});

interface Visitor extends AsyncDisposable {
  page: Page;
  /** All requests of the page, including blocked ones. */
  requests: Request[];
  /** Errors thrown in the page or written to the console. */
  problems: string[];
}

/** Opens the page in its own browser context and waits until the first operation can be run. */
async function visit(url: string, options: Parameters<Browser['newContext']>[0] = {}): Promise<Visitor> {
  const context: BrowserContext = await browser.newContext({ viewport: VIEWPORT, ...options });
  context.setDefaultTimeout(10_000);
  const page = await context.newPage();
  const requests: Request[] = [];
  const problems: string[] = [];
  page.on('request', (request) => requests.push(request));
  page.on('pageerror', (error) => problems.push(String(error)));
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') {
      problems.push(message.text());
    }
  });
  await page.goto(url);
  await untilReady(page);
  return { page, requests, problems, [Symbol.asyncDispose]: () => context.close() };
}

const untilReady = (page: Page) =>
  page.locator('.graphiql-query-editor .view-line', { hasText: 'query' }).first().waitFor();

const tabTitles = (page: Page) => page.locator('.graphiql-tab-button').allTextContents();

const selectedTab = (page: Page) => page.locator('[role=tab][aria-selected=true] .graphiql-tab-button').textContent();

async function openTab(page: Page, name: string): Promise<void> {
  await page.locator(`.graphiql-tab-button[title="${name}"]`).click();
  // GraphiQL updates the operation name and the address shortly after the text.
  await page.waitForURL((url) => url.searchParams.get('query')?.includes(`query ${name}`) === true);
  expect(await selectedTab(page)).toBe(name);
}

/** Shows one of the two editors below the query and returns its text. */
async function editorText(page: Page, name: 'Headers' | 'Variables'): Promise<string> {
  await page.getByRole('button', { name, exact: true }).click();
  const lines = page.locator('.graphiql-editor:visible .view-line:visible', { hasText: '"' });
  await lines.first().waitFor();
  return (await lines.allInnerTexts()).join('\n').replaceAll('\u00a0', ' ');
}

/** Presses the run button and returns the request that this sends. */
async function run(page: Page): Promise<Request> {
  const isOperation = (request: Request) =>
    request.method() === 'POST' && request.postDataJSON().operationName !== 'IntrospectionQuery';
  const [request] = await Promise.all([
    page.waitForRequest(isOperation),
    page.getByRole('button', { name: 'Execute query' }).click(),
  ]);
  return request;
}

/** Returns the mean of the color channels in `rgb(1, 2, 3)`. */
function brightness(color: string): number {
  const channels =
    color
      .match(/\d+(\.\d+)?/g)
      ?.slice(0, 3)
      .map(Number) ?? [];
  return channels.reduce((sum, channel) => sum + channel, 0) / 3;
}

/** Sends a request as a browser does, and returns the response as it went over the wire. */
async function getPage(url: string, headers: Record<string, string> = {}) {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    get(url, { headers: { accept: 'text/html,*/*;q=0.8', ...headers }, agent: false }, resolve).on('error', reject);
  });
  return { status: response.statusCode, headers: response.headers, body: await buffer(response) };
}
