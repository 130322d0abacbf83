// Does what docs/inbox.md says, step by step, from an empty folder to a bell in a browser.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { expect, it, onTestFinished } from 'vitest';
import { SANDBOX_KEYS, startSandbox } from '../../packages/sandbox/src/sandbox.ts';
import { launchBrowser } from '../support/browser.ts';
import { CHILD_ENV } from '../support/child-env.ts';
import { startServing } from '../support/command.ts';
import { visit } from '../support/dashboard.ts';
import { addTo, blocks, load, read } from '../support/docs.ts';
import { findFreePort } from '../support/listen.ts';
import { createTestFolder } from '../support/sandbox-files.ts';

const PAGE = read('docs/inbox.md');
const KEY = SANDBOX_KEYS.development;

it('its steps lead from an empty folder to a bell, with the documented responses', async () => {
  const folder = await createTestFolder();
  const app = `http://127.0.0.1:${await findFreePort()}`;
  const [config = ''] = blocks(PAGE, 'yaml');
  const [start = '', tokenCommand = '', queryCommand = ''] = blocks(PAGE, 'sh');
  expect(start).toContain(`ACME_KEY=${KEY} `);
  await writeFile(folder.path('notigraph.config.yaml'), config.replace('http://127.0.0.1:3000', app));
  await using notigraph = await startServing({
    cwd: folder.path(),
    args: /npx notigraph (.*)/.exec(start)?.[1]?.replace(':memory:', 'sandbox.db').split(' ') ?? [],
    env: { ACME_KEY: KEY, CLIENT_TOKEN_SECRET: 'x'.repeat(32) },
  });
  const { origin } = new URL(notigraph.url);
  const send = (command: string, token = '') => {
    const headers = [...command.matchAll(/-H ["']([^:]+): ([^"']+)["']/g)].map(([, name = '', value = '']) => [
      name,
      value.replace('$TOKEN', token),
    ]);
    const [, path = '', body = ''] = /http:\/\/127\.0\.0\.1:4000(\/\S+)[\s\S]* -d '(.*)'/.exec(command) ?? [];
    return fetch(`${origin}${path}`, { method: 'POST', headers: Object.fromEntries(headers), body }).then((response) =>
      response.json(),
    );
  };

  const [issued = '', counted = '', ...documented] = blocks(PAGE, 'json');
  const { token, ...described } = await send(tokenCommand);
  expect({ ...described, token: 'eyJhbGciOi…', expiresAt: '' }).toEqual({ ...JSON.parse(issued), expiresAt: '' });
  expect(await send(queryCommand, token)).toEqual(JSON.parse(counted));
  const ask = async (query: string) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    return (await fetch(notigraph.url, { method: 'POST', headers, body: JSON.stringify({ query }) })).text();
  };
  const queries = blocks(PAGE, 'graphql');
  expect(queries).toHaveLength(documented.length);
  const [other = ''] = /inbox\(subscriberId: "[^"]+"\)/.exec(PAGE) ?? [];
  expect(await ask(`{ ${other} { unseen { count } } }`)).toContain('"code":"FORBIDDEN"');
  for (const [i, query] of queries.entries()) {
    const withoutId = (text: string) => JSON.parse(text.replace(/"requestId": ?"[^"]+"/, '"requestId":""'));
    expect(withoutId(await ask(query))).toEqual(withoutId(documented[i] ?? ''));
  }

  const programs = [...blocks(PAGE, 'js'), ...blocks(PAGE, 'html')];
  expect(programs).toHaveLength(2);
  for (const program of programs) {
    const [, name = ''] = /^(?:\/\/|<!--) (\S+)/.exec(program) ?? [];
    const local = program.replace('http://127.0.0.1:4000', origin).replace('3000', new URL(app).port);
    await writeFile(folder.path(name), local);
  }
  const server = spawn(process.execPath, ['server.mjs'], {
    cwd: folder.path(),
    env: { ...CHILD_ENV, ACME_KEY: KEY },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  onTestFinished(async () => {
    server.kill();
    await once(server, 'close');
  });
  const browser = await launchBrowser();
  onTestFinished(() => browser.close());
  await expect
    .poll(() =>
      fetch(app).then(
        ({ status }) => status,
        () => 0,
      ),
    )
    .toBe(200);
  await using visitor = await visit(browser, app);
  const { page } = visitor;
  const bell = page.locator('#bell');
  const buttonOf = (name: string) => page.getByRole('listitem').filter({ hasText: name }).getByRole('button');
  await page.getByText('Notifications (1 new)').waitFor(); // One was marked as read above.
  await bell.click();
  expect(await buttonOf('Noor Haddad mentioned you in "Natural dyes"').isDisabled()).toBe(true);
  const first = buttonOf('Lukas Brandt mentioned you in "Natural dyes"');
  await first.click();
  await expect.poll(() => bell.textContent()).toBe('Notifications');
  expect(await first.isDisabled()).toBe(true);
  const polls = () =>
    visitor.requests.filter((request) => request.url() === notigraph.url && request.method() === 'POST').length;
  expect(polls()).toBe(3); // The badge, the list, and the mark, whose result has the badge.
  const tokens = () => visitor.requests.filter((request) => request.url() === `${app}/notification-token`).length;
  expect(tokens()).toBe(1);
  expect((await fetch(app)).headers.get('content-security-policy')).toBe("frame-ancestors 'none'");

  await page.clock.install({ time: Date.now() - 3_600_000 }); // The device's clock is behind.
  await page.reload();
  await expect.poll(polls).toBe(4);
  await ask(
    'mutation { markMessages(input: { messageIds: ["eb1921eb084c1050b0b5bbf8"], as: UNSEEN }) { __typename } }',
  );
  await page.clock.runFor(30_000);
  await page.getByText('Notifications (1 new)').waitFor();
  const setHidden = (isHidden: boolean) =>
    page.evaluate((value) => {
      Object.defineProperty(document, 'hidden', { value, configurable: true });
      document.dispatchEvent(new Event('visibilitychange'));
    }, isHidden);
  await setHidden(true);
  await page.clock.runFor(300_000);
  await page.evaluate('fetch("/").then(() => {})'); // What the page has sent before is known now.
  expect(polls()).toBe(5);
  await setHidden(false);
  await expect.poll(polls).toBe(6);
  expect(tokens()).toBe(2);
  await page.clock.runFor(570_000); // The look for new messages after 900 seconds needs a new one.
  await expect.poll(tokens).toBe(3);

  await using sandbox = await startSandbox({ file: folder.path('sandbox.db') }); // Where servers of the tenant send events.
  const notify = async (name: string, ...payloads: object[]) => {
    const response = await fetch(`${sandbox.url}/v1/events/trigger/bulk`, {
      method: 'POST',
      headers: { authorization: `ApiKey ${KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({ events: payloads.map((payload) => ({ name, to: ['customer-1001'], payload })) }),
    });
    expect(response.status).toBe(201);
  };
  const mentionBy = (authorName: string) => ({ authorName, discussionTitle: 'Wool & "silk"' });
  await notify('comment-mention', ...Array.from({ length: 21 }, (_, i) => mentionBy(`Weaver ${i + 1}`)));
  await notify('payment-failed', { billingUrl: 'https://pay.example.com/?bill=7&step=2' });
  await page.reload();
  await bell.click();
  const items = page.getByRole('listitem');
  await expect.poll(() => items.count()).toBe(10);
  const more = page.getByRole('button', { name: 'Show more' });
  await notify('comment-mention', mentionBy('Late')); // It moves the others.
  while (await more.isVisible()) {
    const count = await items.count();
    await more.click();
    await expect.poll(() => items.count()).toBeGreaterThan(count);
  }
  const texts = await items.allTextContents();
  expect(texts.slice(1, 22).map((text) => text.replace(' Mark as read', ''))).toEqual(
    Array.from({ length: 21 }, (_, i) => `Weaver ${21 - i} mentioned you in "Wool & "silk""`),
  );
  expect(new Set(texts).size).toBe(texts.length);
  expect(await page.getByRole('link').first().getAttribute('href')).toBe('https://pay.example.com/?bill=7&step=2');

  await page.route('**/notification-token', (route) => route.fulfill({ status: 503, body: '{}' }));
  const before = polls();
  await page.reload();
  await bell.click();
  await page.getByRole('alert').getByText('The token request failed (503).').waitFor();
  expect(polls()).toBe(before);
  expect(visitor.problems).toEqual([]);
});

it('its settings for an identity provider name the claim with the subscriber', () => {
  const [, block = ''] = blocks(PAGE, 'yaml');
  expect(load(addTo(block)).clients.browser?.issuers).toMatchObject([{ subjectClaim: 'customer_id' }]);
});
