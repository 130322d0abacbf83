import { createServer } from 'node:http';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { startIssuer } from '../../examples/dashboard/dev/issuer.ts';
import { createSessions, type SessionHandler } from '../../examples/dashboard/dev/sessions.ts';
import { launchBrowser } from '../support/browser.ts';
import { type Dashboard, startDashboard } from '../support/dashboard.ts';
import { listen } from '../support/listen.ts';

let browser: Browser;
let dashboard: Dashboard;

beforeAll(async () => {
  [browser, dashboard] = await Promise.all([launchBrowser(), startDashboard()]);
});

afterAll(async () => {
  await browser.close();
  await dashboard[Symbol.asyncDispose]();
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
  const people = [{ id: 'ada', name: 'Ada', role: 'Administrator', tenant: 'juniper', scopes: [] }];
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
