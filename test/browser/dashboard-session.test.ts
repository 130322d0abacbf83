import type { Browser, Request } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SANDBOX_KEYS } from '../../src/sandbox/sandbox.ts';
import { launchBrowser } from '../support/browser.ts';
import { type Dashboard, startDashboard, VIEWS, type Visitor } from '../support/dashboard.ts';
import { startStaticFiles } from '../support/static-files.ts';

let browser: Browser;

beforeAll(async () => {
  browser = await launchBrowser();
});

afterAll(() => browser.close());

/** Returns the statuses of the responses that the page got from the gateway or the issuer. */
const statusesOf = ({ responses }: Visitor, url: string) =>
  responses
    .filter((response) => response.url() === url && response.request().method() === 'POST')
    .map((response) => response.status());

describe('a session of the dashboard', () => {
  let dashboard: Dashboard;

  beforeAll(async () => {
    dashboard = await startDashboard();
  });

  afterAll(() => dashboard[Symbol.asyncDispose]());

  it('is renewed silently if the gateway reports an expired token', async () => {
    await using visitor = await dashboard.visit(browser);
    const { page } = visitor;
    await visitor.signIn('Ada Lindqvist');
    await page.getByRole('slider').waitFor();
    dashboard.advance(400);
    await visitor.open('Groups');
    await page.getByText('Lifecycle').waitFor();
    expect(statusesOf(visitor, dashboard.gateway.url)).toContain(401);
    expect(statusesOf(visitor, `${dashboard.issuer.url}/token`)).toEqual([200, 200]);
    expect(await page.getByRole('alert').count()).toBe(0);
    expect(visitor.problems).toEqual([]);
  });

  it('is renewed once if several requests meet an expired token, and a write is applied once', async () => {
    await using visitor = await dashboard.visit(browser);
    const { page } = visitor;
    await visitor.signIn('Ada Lindqvist');
    await visitor.open('Groups');
    await page.getByText('In use:').waitFor(); // Follows the last response that the page waits for.
    dashboard.advance(400);
    dashboard.forget();
    await page.getByRole('textbox', { name: 'New group' }).fill('Just in time');
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByText('“Just in time” was created.').waitFor();
    expect(dashboard.upstream('POST ')).toHaveLength(1);
    expect(statusesOf(visitor, `${dashboard.issuer.url}/token`)).toEqual([200, 200]);
  });

  it('is renewed once if a response that refuses the old token arrives after the renewal', async () => {
    await using visitor = await dashboard.visit(browser);
    const { page } = visitor;
    await visitor.signIn('Ada Lindqvist');
    await page.getByRole('slider').waitFor();
    const renewals = () => statusesOf(visitor, `${dashboard.issuer.url}/token`);
    let refusals = 0;
    await page.route(dashboard.gateway.url, async (route) => {
      const response = await route.fetch();
      if (response.status() === 401) {
        refusals += 1;
        if (refusals === 2) {
          await expect.poll(renewals, { timeout: 20_000 }).toEqual([200, 200]);
        }
      }
      await route.fulfill({ response });
    });
    dashboard.advance(400);
    await visitor.open('Groups');
    await page.getByText('In use:').waitFor();
    expect(refusals).toBe(2);
    expect(renewals()).toEqual([200, 200]);
    await page.unroute(dashboard.gateway.url);
  });

  it('is renewed before the token expires, so that no request is rejected', async () => {
    await using visitor = await dashboard.visit(browser, {});
    const { page } = visitor;
    await page.clock.install();
    await visitor.signIn('Ada Lindqvist');
    await page.getByRole('slider').waitFor();
    await page.clock.fastForward('04:55');
    await visitor.open('Groups');
    await page.getByText('Lifecycle').waitFor();
    expect(statusesOf(visitor, dashboard.gateway.url)).not.toContain(401);
    expect(statusesOf(visitor, `${dashboard.issuer.url}/token`)).toEqual([200, 200]);
  });

  it('continues after a sudden key rotation of the issuer, because the gateway fetches new keys every ten seconds', async () => {
    await using other = await startDashboard();
    await using visitor = await other.visit(browser);
    const { page } = visitor;
    await visitor.signIn('Ada Lindqvist');
    await page.getByRole('slider').waitFor();
    await other.issuer.rotate();
    other.advance(400);
    await visitor.open('Groups');
    await page.getByRole('alert').getByText('The gateway does not accept your session.').waitFor();
    await expect
      .poll(
        async () => {
          await page
            .getByRole('button', { name: 'Try again' })
            .click({ timeout: 1_000 })
            .catch(() => {}); // It is gone once the groups are there.
          return page.getByText('Lifecycle').isVisible();
        },
        { timeout: 40_000, interval: 1_000 },
      )
      .toBe(true);
    expect(await page.getByRole('alert').count()).toBe(0);
  });

  it('remains if the issuer is unreachable, and continues after a retry', async () => {
    await using visitor = await dashboard.visit(browser);
    const { page } = visitor;
    await visitor.signIn('Ada Lindqvist');
    await page.getByRole('slider').waitFor();
    dashboard.advance(400);
    await page.route(`${dashboard.issuer.url}/token`, (route) => route.abort());
    await visitor.open('Groups');
    await page.getByRole('alert').getByText('Your session could not be renewed.').waitFor();
    await page.unroute(`${dashboard.issuer.url}/token`);
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('Lifecycle').waitFor();
  });

  it('ends at the sign-in screen if the issuer refuses to renew it, with a message and with what was typed kept', async () => {
    await using other = await startDashboard();
    await using visitor = await other.visit(browser);
    const { page } = visitor;
    await visitor.signIn('Ada Lindqvist');
    await visitor.open('Groups');
    await page.getByText('In use:').waitFor();
    await page.getByRole('textbox', { name: 'New group' }).fill('Half typed');
    other.advance(400);
    other.issuer.refuse('ada');
    other.forget();
    await page.getByRole('button', { name: 'Create' }).click();
    const alert = page.getByRole('alert');
    await alert.getByText('The session of Ada Lindqvist has ended.').waitFor();
    expect(await page.title()).toBe('Sign in · Notigraph dashboard');
    expect(await alert.textContent()).toContain('What was typed in “New group” is not sent. It is kept on this page');
    expect(other.upstream()).toEqual([]);
    await page.getByRole('button', { name: 'Ada Lindqvist' }).click();
    await alert.getByText('The sign-in service refused this person.').waitFor();

    await visitor.signIn('Dev Kapoor');
    await visitor.open('Groups');
    expect(await page.getByRole('textbox', { name: 'New group' }).inputValue()).toBe('');
    await page.getByRole('button', { name: 'Sign out' }).click();
    other.issuer.admit('ada');
    await visitor.signIn('Ada Lindqvist');
    await visitor.open('Groups');
    expect(await page.getByRole('textbox', { name: 'New group' }).inputValue()).toBe('Half typed');
  });

  it('keeps what is typed while other views are open, and asks before signing out without sending it', async () => {
    await using visitor = await dashboard.visit(browser);
    const { page } = visitor;
    await visitor.signIn('Ada Lindqvist');
    await visitor.open('Subscribers');
    await page.getByRole('textbox', { name: 'First name' }).fill('Nils');
    await visitor.open('Statistics');
    await visitor.open('Subscribers');
    expect(await page.getByRole('textbox', { name: 'First name' }).inputValue()).toBe('Nils');
    await page.getByRole('button', { name: 'Sign out' }).click();
    const dialog = page.getByRole('alertdialog', { name: 'Sign out without sending?' });
    expect(await dialog.textContent()).toContain('“Add a subscriber”');
    expect(await page.locator('h2', { hasText: /^Add a subscriber$/ }).count()).toBe(1);
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    expect(await page.getByRole('textbox', { name: 'First name' }).inputValue()).toBe('Nils');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await dialog.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).and(page.locator(':focus')).waitFor();
    expect(new URL(page.url()).hash).toBe('');
    await visitor.signIn('Ada Lindqvist');
    await page.getByRole('heading', { level: 1, name: 'Statistics' }).waitFor();
    await visitor.open('Subscribers');
    expect(await page.getByRole('textbox', { name: 'First name' }).inputValue()).toBe('');
  });

  it('lets the browser ask before the page is left with unsent input', async () => {
    await using visitor = await dashboard.visit(browser);
    const { page } = visitor;
    await visitor.signIn('Ada Lindqvist');
    await visitor.open('Groups');
    await page.getByRole('textbox', { name: 'New group' }).pressSequentially('Unsent');
    const asking = page.waitForEvent('dialog');
    await page.evaluate(() => void setTimeout(() => location.reload()));
    const dialog = await asking;
    expect(dialog.type()).toBe('beforeunload');
    await dialog.dismiss();
    expect(await page.getByRole('textbox', { name: 'New group' }).inputValue()).toBe('Unsent');
  });

  it('keeps its token in memory only', async () => {
    await using visitor = await dashboard.visit(browser);
    const { page } = visitor;
    await visitor.signIn('Ada Lindqvist');
    await page.getByRole('slider').waitFor();
    const kept = await page.evaluate(async () => ({
      local: Object.keys(localStorage),
      session: Object.keys(sessionStorage),
      cookies: document.cookie,
      databases: await indexedDB.databases(),
    }));
    expect(kept).toEqual({ local: [], session: [], cookies: '', databases: [] });
    await page.reload();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  });
});

describe('the gateway limits the dashboard', () => {
  it('to its scopes: a change that the issuer permits but the gateway does not is rejected with the missing scope', async () => {
    await using dashboard = await startDashboard({ scopes: ['stats:read', 'groups:read', 'workflows:read'] });
    await using visitor = await dashboard.visit(browser);
    const { page } = visitor;
    await visitor.signIn('Ada Lindqvist');
    await visitor.open('Groups');
    await page.getByText('In use:').waitFor();
    dashboard.forget();
    await page.getByRole('textbox', { name: 'New group' }).fill('Beyond');
    await page.getByRole('button', { name: 'Create' }).click();
    const alert = page.getByRole('alert');
    await alert.getByText('You do not have access to this.').waitFor();
    await alert.getByText('This requires groups:write, which your account does not have.').waitFor();
    await alert.getByText('Nothing was changed.').waitFor();
    expect(dashboard.upstream()).toEqual([]);
  });

  it('to its rate: the page shows how long to wait', async () => {
    await using dashboard = await startDashboard({ rateLimit: { calls: 1, perSeconds: 60 } });
    await using visitor = await dashboard.visit(browser);
    const { page } = visitor;
    await visitor.signIn('Ada Lindqvist');
    await visitor.open('Groups');
    await visitor.open('Subscribers');
    await page.getByRole('textbox', { name: 'Subscriber id' }).fill('one-too-many');
    await page.getByRole('button', { name: 'Save subscriber' }).click();
    const alert = page.getByRole('alert');
    await alert.getByText('Too many requests.').waitFor();
    expect(await alert.textContent()).toMatch(/Wait \d+ seconds, then try again\.Nothing was changed\./);
    expect(dashboard.upstream('POST ')).toEqual([]);
  });

  it('to its documents: they are sent by id, and any other document is rejected', async () => {
    await using dashboard = await startDashboard();
    await using visitor = await dashboard.visit(browser);
    const { page } = visitor;
    await visitor.signIn('Ada Lindqvist');
    for (const view of VIEWS) {
      await visitor.open(view);
    }
    await visitor.open('Groups');
    await page.getByText('Lifecycle').waitFor();
    await page.getByRole('textbox', { name: 'New group' }).fill('By its id');
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByText('“By its id” was created.').waitFor();
    const sent = visitor.requests.filter((request) => request.url() === dashboard.gateway.url);
    expect(sent.length).toBeGreaterThan(2);
    for (const request of sent) {
      expect(request.method()).toBe('POST');
      const body = request.postDataJSON();
      expect(body.query).toBeUndefined();
      expect(body.extensions.persistedQuery.sha256Hash).toMatch(/^[0-9a-f]{64}$/);
    }
    const [first] = sent;
    const authorization = (await first?.allHeaders())?.authorization ?? '';
    const answer = await page.evaluate(
      async ([url, token]) => {
        const response = await fetch(url, {
          method: 'POST',
          headers: { 'content-type': 'application/json', authorization: token },
          body: JSON.stringify({ query: '{ notificationGroups { id name organizationId } }' }),
        });
        return { status: response.status, body: await response.json() };
      },
      [dashboard.gateway.url, authorization] as const,
    );
    expect(answer.status).toBe(400);
    expect(answer.body.errors[0].extensions.code).toBe('DOCUMENT_NOT_TRUSTED');
  });

  it('to its origin: a page of another origin reads nothing from the gateway or the issuer', async () => {
    await using dashboard = await startDashboard();
    await using stranger = await startStaticFiles(import.meta.dirname);
    await using visitor = await dashboard.visit(browser);
    await visitor.signIn('Ada Lindqvist');
    await visitor.page.getByRole('slider').waitFor();
    const [sent] = visitor.requests.filter((request) => request.url() === dashboard.gateway.url);
    const attempt = {
      gateway: dashboard.gateway.url,
      issuer: dashboard.issuer.url,
      authorization: (await sent?.allHeaders())?.authorization ?? '',
      body: sent?.postData() ?? '',
    };
    const tryFrom = async ({ gateway, issuer, authorization, body }: typeof attempt) => {
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
        await read(`${issuer}/token`, { method: 'POST', headers: json, body: '{"person":"ada"}' }),
        await read(`${issuer}/people`, {}),
      ];
    };
    expect(await visitor.page.evaluate(tryFrom, attempt)).toEqual([200, 200, 200]);

    dashboard.forget();
    await visitor.page.goto(`${stranger.url}/support/`);
    expect(await visitor.page.evaluate(tryFrom, attempt)).toEqual(['refused', 'refused', 'refused']);
    expect(dashboard.upstream()).toEqual([]);
  });
});

describe("the service's API key", () => {
  it('is in no file of the built app, and in nothing that a browser sends or receives in any view', async () => {
    await using dashboard = await startDashboard();
    await using visitor = await dashboard.visit(browser);
    const { page } = visitor;
    // Bodies are read as they arrive, because the browser discards them later.
    const bodies = new Map<Request, Promise<string>>();
    page.context().on('requestfinished', (request) => bodies.set(request, bodyOf(request)));
    for (const person of ['Ada Lindqvist', 'Dev Kapoor']) {
      await visitor.signIn(person);
      await visitor.open('Statistics');
      await page.getByRole('slider').waitFor();
      await visitor.open('Workflows');
      await page.getByRole('article').filter({ hasNotText: 'Critical' }).locator('.switch').first().click();
      await page.locator('.switch:not([data-selected], [data-busy])').first().waitFor();
      await visitor.open('Groups');
      await page.getByRole('textbox', { name: 'New group' }).fill(`Of ${person}`);
      await page.getByRole('button', { name: 'Create' }).click();
      await page.getByText(`“Of ${person}” was created.`).waitFor();
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
