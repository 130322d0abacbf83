import type { Browser, BrowserContextOptions, Page, Request } from 'playwright-core';

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
  context.setDefaultTimeout(25_000);
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
    request.method() === 'POST' && request.postDataJSON().operationName !== 'IntrospectionQuery';
  const [request] = await Promise.all([
    page.waitForRequest(isOperation),
    page.getByRole('button', { name: 'Run' }).click(),
  ]);
  return request;
}
