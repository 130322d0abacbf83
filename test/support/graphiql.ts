// Opens GraphiQL in a browser, and uses it as a visitor does.

import type { Browser, BrowserContextOptions, Page, Request } from 'playwright-core';
import { afterAll, beforeAll } from 'vitest';
import { SANDBOX_KEYS } from '../../packages/sandbox/src/sandbox.ts';
import type { GatewayOptions } from '../../src/gateway.ts';
import { launchBrowser } from './browser.ts';
import { type GatewayWithService, startGateway } from './gateway.ts';

/** Page of GraphiQL in a browser context of its own. */
export type GraphiqlVisitor = Awaited<ReturnType<typeof visitGraphiql>>;

/**
 * Opens GraphiQL and waits until it can be used.
 *
 * @param prepare called before the page is opened
 */
export async function visitGraphiql(
  browser: Browser,
  url: string,
  options: BrowserContextOptions = {},
  prepare: (page: Page) => Promise<unknown> = async () => {},
) {
  const context = await browser.newContext({ viewport: { width: 1366, height: 768 }, ...options });
  context.setDefaultTimeout(100_000); // As generous as that of the tests: on a busy machine, opening a page takes long.
  const page = await context.newPage();
  /** All requests of the page, including blocked ones. */
  const requests: Request[] = [];
  /** Errors thrown in the page or written to the console. */
  const problems: string[] = [];
  page.on('request', (request) => requests.push(request));
  page.on('pageerror', (error) => problems.push(String(error)));
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') {
      problems.push(message.text());
    }
  });
  await prepare(page);
  await page.goto(url);
  await untilGraphiqlReady(page);
  return { page, requests, problems, [Symbol.asyncDispose]: () => context.close() };
}

/** Authorization that the page of the sandbox has. */
export const AUTHORIZATION = `ApiKey ${SANDBOX_KEYS.development}`;

/** Browser, gateway and page that the tests of a file share. Each test leaves the page usable for the next one. */
export interface SharedGraphiql extends Omit<GraphiqlVisitor, keyof AsyncDisposable> {
  browser: Browser;
  gateway: GatewayWithService;
  /** Opens another page, by default of the same gateway, and in a context of its own. */
  visit(
    url?: string,
    options?: BrowserContextOptions,
    prepare?: (page: Page) => Promise<unknown>,
  ): Promise<GraphiqlVisitor>;
}

/**
 * Starts a browser, and a gateway on the sandbox whose page it opens, for all tests of the file.
 *
 * @returns an object whose members are there when the first test starts
 */
export function shareGraphiql(
  options?: BrowserContextOptions,
  graphiql: GatewayOptions['graphiql'] = { authorization: AUTHORIZATION, sandbox: true },
): SharedGraphiql {
  const shared = {} as SharedGraphiql;
  const stack = new AsyncDisposableStack();
  beforeAll(async () => {
    const browser = await launchBrowser();
    stack.defer(() => browser.close());
    const gateway = stack.use(await startGateway({ service: 'sandbox', graphiql }));
    const visit: SharedGraphiql['visit'] = (url = gateway.url, ...rest) => visitGraphiql(browser, url, ...rest);
    Object.assign(shared, await visit(gateway.url, options), { browser, gateway, visit });
  });
  afterAll(() => stack.disposeAsync());
  return shared;
}

/** Waits until the operation is shown. */
export const untilGraphiqlReady = (page: Page): Promise<void> =>
  page
    .locator('.query .view-line', { hasText: /query|mutation/ })
    .first()
    .waitFor();

/** Opens an operation of the list. */
export async function openOperation(page: Page, title: string): Promise<void> {
  await page.getByRole('button', { name: 'Operations' }).click();
  await page
    .getByRole('dialog', { name: 'Operations' })
    .getByRole('button')
    .filter({ has: page.getByText(title, { exact: true }) })
    .click();
}

/** Presses the run button and returns the request that this sends. */
export async function runOperation(page: Page): Promise<Request> {
  const isOperation = (request: Request) =>
    request.method() === 'POST' && !['IntrospectionQuery', 'CountToday'].includes(request.postDataJSON().operationName);
  const [request] = await Promise.all([
    page.waitForRequest(isOperation),
    page.getByRole('button', { name: 'Run' }).click(),
  ]);
  return request;
}

export const tabTitles = (page: Page) => page.locator('.tabs .tab').allTextContents();

export const selectedTab = (page: Page) => page.locator('.tabs .tab[aria-current=true]').textContent();

/** Titles of the first tabs on the sandbox, and a text of the result of each. */
export const LIFE = [
  ['Trigger event', '"status": "PROCESSED"'],
  ['Inbox', 'Your payment of 12.00 EUR failed.'],
  ['Mark messages', '"4defe397bb2b2accbaa9b6d4"'],
  ['Delete messages by transaction', '"transactionId": "my-first-notification"'],
  ['Notification stats', `"date": "${new Date().toISOString().slice(0, 10)}"`],
] as const;
