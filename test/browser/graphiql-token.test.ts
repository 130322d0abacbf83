import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Issuer, startIssuer, TOKEN_AUDIENCE } from '../../examples/dashboard/dev/issuer.ts';
import { SANDBOX_KEYS } from '../../src/sandbox/sandbox.ts';
import { launchBrowser } from '../support/browser.ts';
import { type SandboxedGateway, startSandboxedGateway } from '../support/gateway.ts';

let browser: Browser;
let issuer: Issuer;
let gateway: SandboxedGateway;

beforeAll(async () => {
  [browser, issuer] = await Promise.all([launchBrowser(), startIssuer({ origins: [] })]);
  gateway = await startSandboxedGateway({
    options: {
      graphiql: true,
      clients: {
        server: false,
        browser: {
          issuers: [
            {
              issuer: issuer.url,
              audience: TOKEN_AUDIENCE,
              jwks: `${issuer.url}/.well-known/jwks.json`,
              algorithms: ['ES256'],
            },
          ],
          scopes: ['groups:read', 'stats:read', 'workflows:read'],
          tenants: { juniper: SANDBOX_KEYS.development, fernhill: SANDBOX_KEYS.production },
        },
      },
    },
  });
});

afterAll(async () => {
  await browser.close();
  await gateway[Symbol.asyncDispose]();
  await issuer.close();
});

describe('GraphiQL with a token', () => {
  it("shows the data of the token's tenant, and its page contains no key", async () => {
    const page = await openGraphiql();
    const [code, answer] = await runGroups(page, `Bearer ${await tokenOf('dev')}`);
    expect(code).toBe(200);
    expect(answer).toContain('Live operations');
    expect(answer).not.toContain('Lifecycle');
    await page.locator('.graphiql-response', { hasText: 'Live operations' }).waitFor();
    const authorizations = gateway.upstream('GET /v1/notification-groups').map(({ headers }) => headers.authorization);
    expect(authorizations.at(-1)).toBe(`ApiKey ${SANDBOX_KEYS.production}`);
    for (const key of Object.values(SANDBOX_KEYS)) {
      expect(await page.content()).not.toContain(key);
    }
  });

  it('gets an error for what the token does not permit, and for everything if the token is invalid', async () => {
    gateway.forget();
    const page = await openGraphiql();
    const [forbidden, withoutScope] = await runGroups(page, `Bearer ${await tokenOf('cleo')}`);
    expect(forbidden).toBe(403);
    expect(JSON.parse(withoutScope).errors[0].extensions).toMatchObject({ code: 'FORBIDDEN', scope: 'groups:read' });
    await page.locator('.graphiql-response', { hasText: 'groups:read' }).waitFor();

    const [refused, invalid] = await runGroups(page, `Bearer ${(await tokenOf('dev')).slice(0, -6)}AAAAAA`);
    expect(refused).toBe(401);
    expect(JSON.parse(invalid).errors[0].extensions).toMatchObject({ reason: 'TOKEN_INVALID' });
    expect(gateway.upstream()).toEqual([]);
  });
});

async function tokenOf(person: string): Promise<string> {
  const response = await fetch(`${issuer.url}/token`, { method: 'POST', body: JSON.stringify({ person }) });
  return (await response.json()).token;
}

async function openGraphiql(): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1400, height: 900 } });
  context.setDefaultTimeout(10_000);
  const page = await context.newPage();
  await page.goto(gateway.url);
  await page.locator('.graphiql-query-editor .view-line', { hasText: 'query' }).first().waitFor();
  await page.locator('.graphiql-tab-button[title="NotificationGroups"]').click();
  await page.waitForURL((url) => url.searchParams.get('query')?.includes('query NotificationGroups') === true);
  await page.getByRole('button', { name: 'Headers', exact: true }).click();
  return page;
}

/** Types the header into the editor and runs the operation in the tab. */
async function runGroups(page: Page, authorization: string): Promise<[status: number, body: string]> {
  await page.locator('.graphiql-editor:visible .view-lines:visible').last().click();
  await page.keyboard.press('ControlOrMeta+A');
  await page.keyboard.insertText(`{"Authorization": "${authorization}`); // The editor adds the closing brackets.
  const [response] = await Promise.all([
    page.waitForResponse((answer) => answer.request().postData()?.includes('NotificationGroups') === true),
    page.getByRole('button', { name: 'Execute query' }).click(),
  ]);
  expect(response.request().headers().authorization).toBe(authorization);
  return [response.status(), await response.text()];
}
