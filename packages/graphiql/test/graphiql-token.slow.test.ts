import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Issuer, startIssuer } from '../../../examples/dashboard/dev/issuer.ts';
import { launchBrowser } from '../../../test/support/browser.ts';
import { clientsOf } from '../../../test/support/dashboard.ts';
import { type GatewayWithService, startGateway } from '../../../test/support/gateway.ts';
import { type GraphiqlVisitor, openOperation, visitGraphiql } from '../../../test/support/graphiql.ts';
import { SANDBOX_KEYS } from '../../sandbox/src/sandbox.ts';

let browser: Browser;
let issuer: Issuer;
let gateway: GatewayWithService;
let visitor: GraphiqlVisitor;

beforeAll(async () => {
  [browser, issuer] = await Promise.all([launchBrowser(), startIssuer()]);
  gateway = await startGateway({
    service: 'sandbox',
    graphiql: true,
    clients: clientsOf(issuer, { scopes: ['groups:read', 'stats:read', 'workflows:read'] }),
  });
  visitor = await visitGraphiql(browser, gateway.url);
  await openOperation(visitor.page, 'Notification groups');
});

afterAll(async () => {
  await browser.close();
  await gateway[Symbol.asyncDispose]();
  await issuer.close();
});

describe('GraphiQL with a token', () => {
  it("shows the data of the token's tenant, and its page contains no key", async () => {
    const { page } = visitor;
    await page.getByRole('button', { name: 'Run' }).click();
    await page.getByText('Enter your token to run operations.').waitFor();
    const [code, answer] = await runGroups(await tokenOf('dev'));
    expect(code).toBe(200);
    expect(answer).toContain('Live operations');
    expect(answer).not.toContain('Lifecycle');
    await page.locator('.result', { hasText: 'Live operations' }).waitFor();
    const authorizations = gateway.upstream('GET /v1/notification-groups').map(({ headers }) => headers.authorization);
    expect(authorizations.at(-1)).toBe(`ApiKey ${SANDBOX_KEYS.production}`);
    for (const key of Object.values(SANDBOX_KEYS)) {
      expect(await page.content()).not.toContain(key);
    }
  });

  it('gets an error for what the token does not permit, and for everything if the token is invalid', async () => {
    gateway.forget();
    const { page } = visitor;
    const [forbidden, withoutScope] = await runGroups(await tokenOf('cleo'));
    expect(forbidden).toBe(403);
    expect(JSON.parse(withoutScope).errors[0].extensions).toMatchObject({ code: 'FORBIDDEN', scope: 'groups:read' });
    await page.locator('.result', { hasText: 'groups:read' }).waitFor();

    await page.getByRole('button', { name: 'Explain' }).click();
    await page.waitForFunction(() => {
      const text = document.querySelector('.result')?.textContent ?? ''; // Lines may be wrapped.
      return text.replaceAll(/\s/g, '').includes('clients.browser.explainisoff');
    });
    await page.locator('.error-help', { hasText: 'ask the operator to permit it' }).waitFor();

    const [refused, invalid] = await runGroups(`${(await tokenOf('dev')).slice(0, -6)}AAAAAA`);
    expect(refused).toBe(401);
    expect(JSON.parse(invalid).errors[0].extensions).toMatchObject({ reason: 'TOKEN_INVALID' });
    expect(gateway.upstream()).toEqual([]);
  });
});

async function tokenOf(person: string): Promise<string> {
  const response = await fetch(`${issuer.url}/token`, { method: 'POST', body: JSON.stringify({ person }) });
  return (await response.json()).token;
}

/** Fills in the token and runs the operation of the tab. */
async function runGroups(token: string): Promise<[status: number, body: string]> {
  const { page } = visitor;
  await page.getByLabel('Token').fill(token);
  const [response] = await Promise.all([
    page.waitForResponse((answer) => answer.request().postData()?.includes('NotificationGroups') === true),
    page.getByRole('button', { name: 'Run' }).click(),
  ]);
  expect(response.request().headers().authorization).toBe(`Bearer ${token}`);
  expect(response.request().postDataJSON()).not.toHaveProperty('extensions'); // Tokens may not ask for REST calls here.
  return [response.status(), await response.text()];
}
