// What docs/data-protection.md says of GraphiQL, seen in the browser.

import { expect, it, onTestFinished } from 'vitest';
import { launchBrowser } from '../support/browser.ts';
import { startGateway } from '../support/gateway.ts';
import { runOperation, untilGraphiqlReady, visitGraphiql } from '../support/graphiql.ts';
import { found, PERSON } from '../support/person.ts';
import { workflow } from '../support/records.ts';

it('GraphiQL leaves operations and variables in the browser, which its site data and history have', async () => {
  const browser = await launchBrowser();
  onTestFinished(() => browser.close());
  const { id, email, phone, firstName, payload } = PERSON;
  const service = () => ({ body: { data: workflow({ name: firstName }) } });
  await using gateway = await startGateway({ service, graphiql: true });
  await using visitor = await visitGraphiql(browser, gateway.url);
  const { page } = visitor;
  const context = page.context();
  /** Returns everything that the browser stores for the page. */
  const stored = async () => {
    const { cookies, origins } = await context.storageState();
    const others = await page.evaluate(async () => ({
      session: { ...sessionStorage },
      databases: await indexedDB.databases(),
      caches: await caches.keys(),
      workers: (await navigator.serviceWorker.getRegistrations()).length,
    }));
    const items = origins.flatMap(({ localStorage }) => localStorage);
    return { ...others, cookies, local: new Map(items.map(({ name, value }) => [name, value])) };
  };
  const nowhereElse = { session: {}, databases: [], caches: [], workers: 0, cookies: [] };

  await page.getByLabel('API key').fill(phone);
  await page.getByRole('button', { name: 'New tab' }).click();
  await page.keyboard.insertText(`query Look($id: ID!) { workflow(idOrIdentifier: $id) { name } } # ${email}`);
  await page.locator('#tool-variables .view-lines').click(); // Shown once the operation has a variable.
  await page.keyboard.insertText(`{"id": "${id}"`); // The editor adds the closing brackets.
  await page.getByRole('button', { name: 'Headers' }).click();
  await page.locator('#tool-headers .view-lines').click();
  await page.keyboard.insertText(`{"X-Order": "${payload}"`);
  const sent = (await runOperation(page)).headers();
  expect([sent.authorization, sent['x-order']]).toEqual([`ApiKey ${phone}`, payload]);
  await page.locator('.result', { hasText: firstName }).waitFor();
  await page.waitForFunction((text) => localStorage.getItem('notigraph:tabState')?.includes(text), id); // Half a second late.
  await page.waitForFunction(() => localStorage.getItem('notigraph:queries')?.includes('query Look'));
  await page.reload();
  await untilGraphiqlReady(page);

  const { local, ...others } = await stored();
  expect(others).toEqual(nowhereElse);
  const places = [...local].flatMap(([name, value]) => (found(value).length > 0 ? [[name, found(value)]] : []));
  expect(Object.fromEntries(places)).toEqual({
    'notigraph:tabState': ['id', 'email'],
    'notigraph:queries': ['id', 'email'],
  });
  const operation = new URLSearchParams(new URL(page.url()).hash.slice(1));
  expect([...operation.keys()]).toEqual(['query', 'variables']);
  expect(found(String([...operation.values()]))).toEqual(['id', 'email']);
  const urls = visitor.requests.map((request) => request.url());
  expect(found(decodeURIComponent(String(urls.map((url) => url.replace(/#.*/, '')))))).toEqual([]);
  expect(await page.getByLabel('API key').inputValue()).toBe('');

  await page.goto('about:blank');
  const browserOfVisitor = await context.newCDPSession(page);
  const { origin } = new URL(gateway.url);
  await browserOfVisitor.send('Storage.clearDataForOrigin', { origin, storageTypes: 'all' });
  await page.goto(gateway.url);
  await untilGraphiqlReady(page);
  const { local: left, ...leftElsewhere } = await stored();
  expect([leftElsewhere, found(JSON.stringify([...left]) + decodeURIComponent(page.url()))]).toEqual([nowhereElse, []]);
  await page.goBack();
  await page.goBack(); // The address is in the history, which isn't site data.
  expect(found(String([...new URLSearchParams(new URL(page.url()).hash.slice(1)).values()]))).toEqual(['id', 'email']);
});
