import { createServer } from 'node:http';
import type { Page, Request } from 'playwright-core';
import { expect, it, onTestFinished } from 'vitest';
import { startIssuer } from '../../examples/dashboard/dev/issuer.ts';
import { createSessions, type SessionHandler } from '../../examples/dashboard/dev/sessions.ts';
import { SANDBOX_KEYS } from '../../packages/sandbox/src/sandbox.ts';
import { COLORS, findViolations } from '../support/axe.ts';
import { launchBrowser } from '../support/browser.ts';
import { startDashboard, VIEWS } from '../support/dashboard.ts';
import { ofFile } from '../support/lifetime.ts';
import { listen } from '../support/listen.ts';
import { startStaticFiles } from '../support/static-files.ts';

const dashboard = ofFile(await startDashboard());
const browser = ofFile(await launchBrowser());

it('every view of the dashboard works with one call for each record and change, sends only ids of trusted documents, and stores no token', async () => {
  await using visitor = await dashboard.visit(browser);
  const { page } = visitor;
  dashboard.forget();
  await visitor.signIn('Ada Lindqvist');
  await page.getByText('Order shipped').waitFor(); // Leaving the view earlier would cancel the request and repeat it.
  await expect.poll(() => page.locator('.chart-bar').count()).toBe(30); // The chart is drawn once its width is known.
  await visitor.openLoaded('Workflows');
  await visitor.openLoaded('Statistics');
  const reads = dashboard.upstream('GET ').map(({ path }) => path);
  expect(reads).toContain('/v1/notifications/graph/stats?days=30');
  expect(reads.length).toBeGreaterThan(3);
  expect(reads).toEqual([...new Set(reads)]);

  await visitor.openLoaded('Workflows');
  dashboard.forget();
  await visitor.switchOf('Weekly digest').click();
  await page.getByRole('switch', { name: 'Weekly digest', checked: false }).waitFor();
  await visitor.switchOf('Weekly digest').and(page.locator(':not([data-busy])')).waitFor();
  expect(dashboard.upstream().map(({ method, body }) => [method, body])).toEqual([['PUT', '{"active":false}']]);

  await visitor.open('Groups');
  await page.getByText('Counted: all').waitFor(); // Follows the last response that the page waits for.
  dashboard.forget();
  await visitor.create('group', 'Returns');
  await page.locator('.row-name', { hasText: 'Returns' }).waitFor();
  await page.getByRole('button', { name: 'Delete Returns' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
  await page.getByText('“Returns” was deleted.').waitFor();
  expect(dashboard.upstream().map(({ method }) => method)).toEqual(['POST', 'GET', 'DELETE', 'GET']);

  await visitor.open('Feeds');
  await page.locator('.row-name', { hasText: 'Activity' }).waitFor();
  dashboard.forget();
  await visitor.create('feed', 'Offers');
  await page.getByRole('button', { name: 'Delete Offers' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
  await page.getByText('“Offers” was deleted.').waitFor();
  await page.locator('.row-name', { hasText: 'Offers' }).waitFor({ state: 'detached' });
  expect(dashboard.upstream().map(({ method }) => method)).toEqual(['POST', 'GET', 'DELETE', 'GET']);
  await visitor.open('Subscribers');
  await page.getByLabel('Subscriber id').fill('user-42');
  await page.getByRole('button', { name: 'Save subscriber' }).click();
  await page.getByText('The subscriber “user-42” was saved.').waitFor();

  const sent = visitor.requests.filter((request) => request.url() === dashboard.gateway.url);
  for (const request of sent) {
    const { query, extensions } = request.postDataJSON();
    expect([query, extensions.persistedQuery.sha256Hash]).toEqual([undefined, expect.stringMatching(/^[0-9a-f]{64}$/)]);
  }
  const answer = await page.evaluate(
    async ([url, authorization]) => {
      const response = await fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization },
        body: JSON.stringify({ query: '{ notificationGroups { id name organizationId } }' }),
      });
      return { status: response.status, body: await response.json() };
    },
    [dashboard.gateway.url, (await sent[0]?.allHeaders())?.authorization ?? ''] as const,
  );
  expect(answer).toMatchObject({ status: 400, body: { errors: [{ extensions: { code: 'DOCUMENT_NOT_TRUSTED' } }] } });
  const stored = await page.evaluate(async () => ({
    local: JSON.stringify(localStorage),
    session: Object.keys(sessionStorage),
    cookies: document.cookie,
    databases: await indexedDB.databases(),
  }));
  expect(stored).toEqual({ local: expect.not.stringContaining('eyJ'), session: [], cookies: '', databases: [] });
  expect(visitor.problems).toEqual([]);
});

it('the dashboard lists all workflows by pages, and finds them by a part of their names, with one call for a page that a link can name', async () => {
  await using visitor = await dashboard.visit(browser);
  const { page } = visitor;
  await visitor.signIn('Ada Lindqvist');
  await page.getByText('Order shipped').waitFor();
  dashboard.forget();
  await visitor.openLoaded('Workflows');
  const names = page.locator('.workflow-name');
  const shown = await names.allTextContents();
  await page.getByText(`1–${shown.length} of 8`).waitFor();
  await page.getByRole('link', { name: 'Next' }).click();
  await page.getByText(`${shown.length + 1}–8 of 8`).waitFor();
  expect(new Set([...shown, ...(await names.allTextContents())]).size).toBe(8);
  expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('All workflows');
  expect(await page.getByRole('link', { name: 'Next' }).count()).toBe(0);
  const paged = [0, 1].map((index) => `/v1/workflows?page=${index}&limit=5`);
  expect(dashboard.upstream().map(({ path }) => path)).toEqual(paged);
  await page.reload();
  await page.getByText(`${shown.length + 1}–8 of 8`).waitFor();
  await page.getByRole('link', { name: 'Previous' }).click();
  await page.getByText(`1–${shown.length} of 8`).waitFor();

  const search = page.getByRole('searchbox', { name: 'Search workflows' });
  dashboard.forget();
  await search.fill(' LERT ');
  await search.press('Enter');
  await page.getByText('1 of 1').waitFor();
  expect(await names.allTextContents()).toEqual(['Incident alert']);
  expect(dashboard.upstream('GET /v1/workflows').map(({ path }) => path)).toEqual([
    '/v1/workflows?page=0&limit=5&query=LERT',
  ]);
  await search.fill('nothing & so');
  await search.press('Enter');
  await page.getByText('No name or identifier has this text.').waitFor();
  await page.goBack();
  await page.getByText('1 of 1').waitFor();
  expect(await search.inputValue()).toBe('LERT');
  {
    using _ = dashboard.answering('GET /v1/workflows', { status: 503, body: { statusCode: 503 } });
    await page.getByRole('button', { name: 'Refresh' }).click();
    await page.getByRole('alert').waitFor();
    expect(await names.allTextContents()).toEqual(['Incident alert']); // What was loaded stays.
  }

  await visitor.open('Statistics');
  await page.getByRole('link', { name: 'Order shipped' }).click();
  await page.getByRole('heading', { name: 'Linked workflow' }).waitFor();
  await page.getByText('On the phone').waitFor();
  expect(await names.allTextContents()).toEqual(['Order shipped']);
  await page.getByRole('link', { name: 'Show all workflows' }).click();
  await page.getByText(`1–${shown.length} of 8`).waitFor();
  expect(visitor.problems).toEqual([]);
});

it('messages are found by transaction, recipient and channel, with one call for a page that a link can name, and deleted', async () => {
  await using visitor = await dashboard.visit(browser);
  const { page } = visitor;
  const rows = page.locator('li .message-title');
  const confirm = () => page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
  await visitor.signIn('Ada Lindqvist');
  await visitor.openLoaded('Messages');
  dashboard.forget();
  await page.getByRole('textbox', { name: 'Subscriber id' }).fill(' customer-1001 ');
  await page.getByRole('combobox', { name: 'Channel' }).selectOption('Only In-app');
  await page.getByRole('textbox', { name: 'Subscriber id' }).press('Enter');
  await page.getByRole('heading', { name: 'Found messages' }).waitFor();
  await rows.first().waitFor();
  const found = await rows.count();
  expect(new URL(page.url()).hash).toBe('#/messages?subscriber=customer-1001&channel=IN_APP');
  const listed = '/v1/messages?page=0&limit=10&channel=in_app&subscriberId=customer-1001';
  expect(dashboard.upstream().map(({ path }) => path)).toEqual([listed]);
  await page.reload(); // The address names them.
  await rows.first().waitFor();
  expect(await page.getByRole('textbox', { name: 'Subscriber id' }).inputValue()).toBe('customer-1001');

  dashboard.forget();
  await page
    .getByRole('button', { name: /^Delete In-app message/ })
    .first()
    .click();
  await confirm();
  await page.getByText('The message was deleted.').waitFor();
  await expect.poll(() => rows.count()).toBe(found - 1);
  expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Found messages');
  const calls = dashboard.upstream().map(({ method, path }) => `${method} ${path}`);
  expect(calls).toEqual([expect.stringMatching(/^DELETE \/v1\/messages\/[0-9a-f]{24}$/), `GET ${listed}`]);

  await page.getByRole('link', { name: 'sample-transaction-0001' }).first().click();
  await page.waitForURL(/transaction=sample-transaction-0001$/);
  await page.getByRole('button', { name: 'Delete all messages of this transaction…' }).click();
  await confirm();
  await page.getByText('All messages of “sample-transaction-0001” were deleted.').waitFor();
  await page.getByText('There are no such messages.').waitFor();

  await page.goto(`${dashboard.url}/#/messages?subscriber=nobody`);
  await page.getByText('There is no such subscriber.').waitFor();
  using failing = dashboard.answering('GET /v1/messages', { status: 503, body: {} });
  await page.getByRole('link', { name: 'Show all messages' }).click();
  await page.getByText('The notification service is not available at the moment.').waitFor();
  failing[Symbol.dispose]();
  await page.getByRole('button', { name: 'Try again' }).click();
  await rows.first().waitFor();
  expect(visitor.problems).toEqual([]);
});

it('groups count their workflows among the first hundred, and say how many there are', async () => {
  await using visitor = await dashboard.visit(browser);
  const { page } = visitor;
  await visitor.signIn('Ada Lindqvist');
  await visitor.open('Groups');
  await page.getByText('Counted: all 8 workflows.').waitFor();
  expect(await page.locator('.row', { hasText: 'Orders' }).locator('.row-note').textContent()).toBe('3 workflows');
  using _ = dashboard.answering('GET /v1/workflows?page=0&limit=100', {
    body: { page: 0, totalCount: 240, data: [] },
  });
  await page.reload();
  await page.getByText('Counted: the first 0 of 240 workflows.').waitFor();
});

it('a signed-in person sees only the data of their own tenant, and without a permission sends nothing', async () => {
  await using visitor = await dashboard.visit(browser);
  const { page } = visitor;
  dashboard.forget();
  const namesOf = async (person: string) => {
    await visitor.signIn(person);
    await visitor.open('Groups');
    await page.locator('.row-name', { hasText: /\w/ }).first().waitFor(); // Not the placeholders of rows that are being loaded.
    const names = await page.locator('.row-name').allTextContents();
    await page.getByRole('button', { name: 'Sign out' }).click();
    return names;
  };
  const junipers = await namesOf('Ada Lindqvist');
  const fernhills = await namesOf('Dev Kapoor');
  expect(junipers).toContain('Lifecycle');
  expect(fernhills).toContain('Live operations');
  expect(junipers.filter((name) => fernhills.includes(name))).toEqual([]);
  const keys = dashboard.upstream('GET /v1/notification-groups').map(({ headers }) => headers.authorization);
  expect(new Set(keys).size).toBe(2);

  await visitor.signIn('Ben Osei');
  await visitor.openLoaded('Workflows');
  dashboard.forget();
  await visitor.switchOf('Order shipped').click();
  await visitor.open('Subscribers');
  await page.getByText('This requires subscribers:write. Ask Ada Lindqvist (Administrator).').waitFor();
  expect(await page.getByRole('switch', { name: 'Order shipped' }).count()).toBe(0);
  expect(dashboard.upstream().filter(({ method }) => method !== 'GET')).toEqual([]);
});

it('a session is renewed once if several requests meet an expired token, and a write is applied once', async () => {
  await using visitor = await dashboard.visit(browser);
  const { page } = visitor;
  await visitor.signIn('Ada Lindqvist');
  await visitor.open('Groups');
  await page.getByText('Counted: all').waitFor();
  dashboard.advance(400);
  dashboard.forget();
  await visitor.create('group', 'Just in time');
  expect(dashboard.upstream('POST ')).toHaveLength(1);
  const statusesOf = (url: string) =>
    visitor.responses
      .filter((response) => response.url() === url && response.request().method() === 'POST')
      .map((response) => response.status());
  expect(statusesOf(dashboard.gateway.url)).toContain(401);
  expect(statusesOf(`${dashboard.url}/session`)).toEqual([200]);
  expect(statusesOf(`${dashboard.url}/session/token`)).toEqual([401, 200]); // The first one is before the sign-in.
  expect(visitor.problems).toEqual([]);
});

it('a write with an unknown outcome is repeated with its idempotency key, and another write gets a new key', async () => {
  await using visitor = await dashboard.visit(browser);
  const { page } = visitor;
  await visitor.signIn('Ada Lindqvist');
  await visitor.open('Groups');
  dashboard.forget();
  {
    using _ = dashboard.answering('POST /v1/notification-groups', { status: 504, body: { statusCode: 504 } });
    await page.getByRole('textbox', { name: 'New group' }).fill('Spring');
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    await page.getByRole('alert').getByText('The change may have been applied.').waitFor();
  }
  await visitor.create('group', 'Spring');
  await visitor.create('group', 'Summer');
  const keys = dashboard.upstream('POST ').map(({ headers }) => headers['idempotency-key']);
  expect(keys).toHaveLength(3);
  expect(keys[1]).toBe(keys[0]);
  expect(new Set(keys).size).toBe(2);
});

it('a page of another origin reads nothing from the gateway or the sessions, and no page anything from the issuer', async () => {
  await using stranger = await startStaticFiles(import.meta.dirname);
  await using visitor = await dashboard.visit(browser);
  await visitor.signIn('Ada Lindqvist');
  await visitor.page.getByRole('slider').waitFor();
  const [sent] = visitor.requests.filter((request) => request.url() === dashboard.gateway.url);
  const attempt = {
    gateway: dashboard.gateway.url,
    app: dashboard.url,
    issuer: dashboard.issuer.url,
    authorization: (await sent?.allHeaders())?.authorization ?? '',
    body: sent?.postData() ?? '',
  };
  const tryFrom = async ({ gateway, app, issuer, authorization, body }: typeof attempt) => {
    const read = async (url: string, init: RequestInit) => {
      try {
        return (await fetch(url, init)).status;
      } catch {
        return 'refused';
      }
    };
    const json = { 'content-type': 'application/json' };
    return [
      await read(gateway, { method: 'POST', headers: { ...json, authorization }, body }),
      await read(`${app}/session`, { method: 'POST', headers: json, body: '{"person":"ada"}' }),
      await read(`${app}/session/people`, {}),
      await read(`${issuer}/token`, { method: 'POST', headers: json, body: '{"person":"ada"}' }),
      await read(`${issuer}/people`, {}),
    ];
  };
  expect(await visitor.page.evaluate(tryFrom, attempt)).toEqual([200, 200, 200, 'refused', 'refused']);

  dashboard.forget();
  await visitor.page.goto(`${stranger.url}/support/`);
  expect(await visitor.page.evaluate(tryFrom, attempt)).toEqual(Array(5).fill('refused'));
  expect(dashboard.upstream()).toEqual([]);
});

it("the service's API key is in no file of the built app, and in nothing that a browser sends or receives in any view", async () => {
  await using visitor = await dashboard.visit(browser);
  const { page } = visitor;
  dashboard.forget();
  // Bodies are read as they arrive, because the browser discards them later.
  const bodies = new Map<Request, Promise<string>>();
  page.context().on('requestfinished', (request) => bodies.set(request, bodyOf(request)));
  for (const [i, person] of ['Ada Lindqvist', 'Dev Kapoor'].entries()) {
    await visitor.signIn(person);
    await visitor.open('Statistics');
    await page.getByRole('slider').waitFor();
    await visitor.open('Workflows');
    await page.getByRole('article').filter({ hasNotText: 'Critical' }).locator('.switch').first().click();
    await expect.poll(() => dashboard.upstream('PUT ').length).toBe(i + 1);
    await page.locator('.switch[data-busy]').waitFor({ state: 'detached' });
    await visitor.open('Groups');
    await visitor.create('group', `Of ${person}`);
    using _ = dashboard.answering('POST /v1/subscribers', ({ headers }) => ({
      status: 422,
      // The service quotes the key that it was called with.
      body: { statusCode: 422, message: [`email must be an email, you are ${headers.authorization}`] },
    }));
    await visitor.open('Subscribers');
    await page.getByRole('textbox', { name: 'Subscriber id' }).fill('x');
    await page.getByRole('button', { name: 'Save subscriber' }).click();
    await page.getByRole('alert').waitFor();
    await page.getByRole('textbox', { name: 'Subscriber id' }).fill('');
    await page.getByRole('button', { name: 'Sign out' }).click();
  }

  const seen: [where: string, text: string][] = [...(await dashboard.builtFiles())];
  for (const request of visitor.requests) {
    const response = await request.response();
    const name = `${request.method()} ${request.url()}`;
    seen.push([
      `request ${name}`,
      [request.url(), JSON.stringify(await request.allHeaders()), request.postData()].join('\n'),
    ]);
    if (response !== null) {
      const body = await (bodies.get(request) ?? bodyOf(request));
      seen.push([
        `answer to ${name}`,
        [response.status(), JSON.stringify(await response.allHeaders()), body].join('\n'),
      ]);
    }
  }
  seen.push(['the page', await page.content()]);

  // Checks the search itself with text that must be found.
  expect(placesOf('Lifecycle', seen).length).toBeGreaterThan(0);
  expect(placesOf('juniper', seen).length).toBeGreaterThan(0);
  expect(seen.some(([where]) => where.endsWith('.js'))).toBe(true);
  const keys = new Set(dashboard.upstream().map(({ headers }) => headers.authorization));
  expect(keys).toEqual(new Set(Object.values(SANDBOX_KEYS).map((key) => `ApiKey ${key}`)));
  for (const key of Object.values(SANDBOX_KEYS)) {
    expect(placesOf(key, seen)).toEqual([]);
  }
});

it('the dashboard has no violations of axe on any screen: light, dark, and with forced colors', async () => {
  await using visitor = await dashboard.visit(browser);
  const { page } = visitor;
  const found: [screen: string, violations: string[]][] = [];
  const check = async (screen: string) => {
    await page.emulateMedia({ colorScheme: 'light', forcedColors: 'none' });
    found.push([screen, await findViolations(page, { rules: { 'target-size': { enabled: true } } })]);
    await page.emulateMedia({ colorScheme: 'dark' });
    found.push([`${screen}, dark`, await findViolations(page, COLORS)]);
    await page.emulateMedia({ forcedColors: 'active' });
    found.push([`${screen}, forced colors`, await findViolations(page, COLORS)]);
  };
  await page.getByText('Ada Lindqvist').waitFor();
  await check('sign-in');
  await visitor.signIn('Ada Lindqvist');
  for (const view of VIEWS) {
    await visitor.openLoaded(view);
    await check(view);
  }
  await page.getByRole('button', { name: 'Save subscriber' }).click();
  await page.getByText('Enter a subscriber id.').waitFor();
  await check('invalid input');
  await page.getByRole('button', { name: /^Notifications/ }).click();
  await page.getByRole('row').first().waitFor();
  await check('inbox');
  await page.keyboard.press('Escape');
  await visitor.openLoaded('Feeds');
  await page.getByRole('button', { name: 'Delete Activity' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('alertdialog').getByRole('alert').waitFor();
  await check('failure in a dialog');
  expect(found.filter(([, violations]) => violations.length > 0)).toEqual([]);
  expect(visitor.problems).toEqual([]);
});

const heading = (page: Page) => page.getByRole('heading', { name: 'Sign in' });

it('a reload stays signed in at the same place, with an HttpOnly cookie that only the sessions get', async () => {
  await using visitor = await dashboard.visit(browser);
  const { page } = visitor;
  await visitor.signIn('Ada Lindqvist');
  await visitor.open('Groups');
  await page.reload();
  await page.getByRole('heading', { level: 1, name: 'Groups' }).waitFor();
  await page.locator('.row-name', { hasText: 'Lifecycle' }).waitFor();
  expect(await page.locator('.user-name').textContent()).toBe('Ada Lindqvist');

  const [cookie, ...others] = await page.context().cookies();
  expect(others).toEqual([]);
  expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Strict', path: '/session', secure: false });
  expect(await page.evaluate(() => document.cookie)).toBe('');
  const paths: string[] = [];
  for (const request of visitor.requests) {
    if ((await request.allHeaders()).cookie !== undefined) {
      paths.push(new URL(request.url()).pathname);
    }
  }
  expect(new Set(paths)).toEqual(new Set(['/session/token', '/session/people']));
  expect(visitor.problems).toEqual([]);
});

it('after sign-out, a reload shows the sign-in screen, and the old cookie gets no token', async () => {
  await using visitor = await dashboard.visit(browser);
  const { page } = visitor;
  await visitor.signIn('Ada Lindqvist');
  const [{ name, value } = { name: '', value: '' }] = await page.context().cookies();
  const ended = page.waitForResponse((response) => response.request().method() === 'DELETE');
  await page.getByRole('button', { name: 'Sign out' }).click();
  expect((await ended).status()).toBe(204);
  await page.reload();
  await heading(page).waitFor();
  expect(await page.context().cookies()).toEqual([]);
  const headers = { origin: dashboard.url, cookie: `${name}=${value}` };
  expect((await fetch(`${dashboard.url}/session/token`, { method: 'POST', headers })).status).toBe(401);
});

it('a sign-out that does not reach the server says so, and can be repeated', async () => {
  await using visitor = await dashboard.visit(browser);
  const { page } = visitor;
  await visitor.signIn('Ada Lindqvist');
  await page.route('**/session', (route) => route.abort());
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByText('You are not signed out yet.').waitFor();
  await page.unroute('**/session');
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByText('You are not signed out yet.').waitFor({ state: 'detached' });
  await page.reload();
  await heading(page).waitFor();
});

it('a page of another port of this computer gets no token, although the browser sends the cookie', async () => {
  await using issuer = await startIssuer();
  const seen: { cookie: string | undefined; status: number }[] = [];
  let sessions: SessionHandler = () => false;
  const app = await listen(
    createServer((request, response) => {
      response.once('finish', () => seen.push({ cookie: request.headers.cookie, status: response.statusCode }));
      if (!sessions(request, response)) {
        response.end('<!doctype html><link rel="icon" href="data:,">');
      }
    }),
  );
  onTestFinished(app.close);
  sessions = createSessions({ issuer: issuer.url, origins: [app.url] });
  const stranger = await listen(createServer((_request, response) => response.end('<!doctype html>')));
  onTestFinished(stranger.close);
  const context = await browser.newContext();
  onTestFinished(() => context.close());
  const page = await context.newPage();
  await page.goto(app.url);
  await page.evaluate(() => fetch('/session', { method: 'POST', body: '{"person":"ada"}' }).then(({ ok }) => ok));
  await page.goto(stranger.url);
  const askForToken = (url: string) => fetch(url, { method: 'POST', mode: 'no-cors', credentials: 'include' });
  await page.evaluate(askForToken, `${app.url}/session/token`);
  const cookie = expect.stringMatching(/^notigraph-dashboard-session=[\w-]{43}$/);
  expect(seen.slice(1)).toEqual([
    { cookie: undefined, status: 200 },
    { cookie, status: 403 },
  ]);
  await page.goto(app.url);
  await page.evaluate(() => fetch('/session/token', { method: 'POST' }).then(({ ok }) => ok));
  expect(seen.at(-1)).toEqual({ cookie, status: 200 });
});

it('a page does not continue as somebody else who signs in with the same browser', async () => {
  await using visitor = await dashboard.visit(browser);
  const { page } = visitor;
  await visitor.signIn('Ada Lindqvist');
  await page.getByRole('slider').waitFor();
  const credentials = new Set<string | undefined>();
  page.on('request', (request) => {
    if (request.url() === dashboard.gateway.url && request.method() === 'POST') {
      credentials.add(request.headers().authorization);
    }
  });
  const other = await page.context().newPage();
  await other.goto(dashboard.url);
  await other.getByRole('button', { name: 'Sign out' }).click();
  await other.getByRole('button', { name: 'Dev Kapoor' }).click();
  await other.getByRole('navigation').waitFor();
  dashboard.advance(400);
  await page.getByRole('link', { name: 'Groups' }).click();
  await page.getByText('The session of Ada Lindqvist has ended.').waitFor();
  expect(credentials.size).toBe(1); // Ada's expired token, never Dev's.
});

it('the sessions end after eight hours or when the issuer refuses, and the cookie is Secure where the app has https', async () => {
  let passed = 0;
  const now = () => new Date(Date.now() + passed * 1000);
  const people = [
    { id: 'ada', subscriberId: 'customer-1001', name: 'Ada', role: 'Administrator', tenant: 'juniper', scopes: [] },
  ];
  await using issuer = await startIssuer({ people, now });
  const origins = ['http://localhost:5173', 'https://app.example.com'];
  const sessions = createSessions({ issuer: issuer.url, origins, now });
  const { url, close } = await listen(createServer((request, response) => void sessions(request, response)));
  onTestFinished(close);
  const ask = (path: string, origin: string | undefined, cookie = '') =>
    fetch(url + path, {
      method: 'POST',
      headers: { ...(origin !== undefined && { origin }), cookie },
      ...(path === '/session' && { body: '{"person":"ada"}' }),
    });

  const attributes: string[] = [];
  let cookie = '';
  for (const origin of origins) {
    const [set = ''] = (await ask('/session', origin)).headers.getSetCookie();
    const [pair = '', ...rest] = set.split('; ');
    cookie = pair;
    attributes.push(rest.join('; '));
  }
  const common = 'Path=/session; Max-Age=28800; HttpOnly; SameSite=Strict';
  expect(attributes).toEqual([common, `${common}; Secure`]);
  expect(cookie).toMatch(/^notigraph-dashboard-session=[\w-]{43}$/);

  const [origin] = origins;
  const answer = await ask('/session/token', origin, `theme=dark; ${cookie}`);
  expect([answer.status, answer.headers.get('cache-control'), answer.headers.getSetCookie()]).toEqual([
    200,
    'no-store',
    [],
  ]);
  expect(await answer.json()).toMatchObject({ person: 'ada', expiresInSeconds: 300 });
  for (const other of [undefined, 'null', 'http://localhost:5174', 'http://localhost:5173.example.com']) {
    for (const path of ['/session', '/session/token']) {
      const refusal = await ask(path, other, cookie);
      expect([refusal.status, refusal.headers.getSetCookie()]).toEqual([403, []]);
    }
  }
  passed = 8 * 60 * 60;
  expect((await ask('/session/token', origin, cookie)).status).toBe(401);

  const [again = ''] = (await ask('/session', origin)).headers.getSetCookie();
  const [fresh = ''] = again.split('; ');
  const [ada] = people.splice(0);
  expect((await ask('/session/token', origin, fresh)).status).toBe(403);
  people.push(...(ada === undefined ? [] : [ada]));
  expect((await ask('/session/token', origin, fresh)).status).toBe(401);
});

/** Returns the body of the response, or an empty one if the app cancelled the request. */
async function bodyOf(request: Request): Promise<string> {
  if (request.method() === 'OPTIONS' || request.failure() !== null) {
    return '';
  }
  const response = await request.response();
  return response === null ? '' : response.text();
}

/** Returns the places that contain a text, plainly or encoded. */
function placesOf(text: string, seen: readonly (readonly [where: string, text: string])[]): string[] {
  const bytes = Buffer.from(text);
  const forms = [
    text,
    encodeURIComponent(text).replaceAll('-', '%2D'),
    encodeURIComponent(text),
    bytes.toString('hex'),
    [...text].reverse().join(''),
    // For each offset within a group of three bytes: the Base64 characters that do not depend on neighboring bytes.
    ...[0, 1, 2].map((shift) =>
      Buffer.concat([Buffer.alloc(shift), bytes])
        .toString('base64')
        .slice(Math.ceil((shift * 8) / 6), -4),
    ),
  ].flatMap((form) => [form, form.replaceAll('+', '-').replaceAll('/', '_')]);
  return seen.filter(([, content]) => forms.some((form) => content.includes(form))).map(([where]) => where);
}
