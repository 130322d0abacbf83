// Uses the bell of the example dashboard as people do, two of them at the same time.

import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { SANDBOX_KEYS } from '../../packages/sandbox/src/sandbox.ts';
import { launchBrowser } from '../support/browser.ts';
import { type Dashboard, startDashboard } from '../support/dashboard.ts';
import { ofFile } from '../support/lifetime.ts';

const NOTIFICATIONS = '/v1/subscribers/customer-1001/notifications';
const MARK = '/v1/subscribers/customer-1001/messages';

const dashboard = ofFile(await startDashboard());
const browser = ofFile(await launchBrowser());

const bell = (page: Page, label: string) => page.getByRole('button', { name: label, exact: true });
const focused = (page: Page) =>
  page.evaluate(() => document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.textContent);

/** Signs in to an app that doesn't look for new messages by itself, which would hide that it forgets to do so after a change. */
async function signInWithoutTimer(
  { page, signIn }: Awaited<ReturnType<Dashboard['visit']>>,
  name: string,
): Promise<void> {
  await page.evaluate('globalThis.setInterval = () => 0');
  await signIn(name);
}

/** Hides the page or shows it again, which the browser itself does only with windows. */
const setHidden = (page: Page, isHidden: boolean) =>
  page.evaluate((value) => {
    Object.defineProperty(document, 'hidden', { value, configurable: true });
    document.dispatchEvent(new Event('visibilitychange'));
  }, isHidden);

/** Sends notifications to a person, as a server of the tenant does. */
async function notify(subscriberId: string, ...authors: string[]): Promise<void> {
  const mentions = authors.map((authorName) => ({
    name: 'comment-mention',
    to: [subscriberId],
    payload: { authorName, discussionTitle: 'Wool' },
  }));
  await trigger('/bulk', { events: mentions });
}

async function trigger(path: string, event: object): Promise<void> {
  const response = await fetch(`${dashboard.service}/v1/events/trigger${path}`, {
    method: 'POST',
    headers: { authorization: `ApiKey ${SANDBOX_KEYS.development}`, 'content-type': 'application/json' },
    body: JSON.stringify(event),
  });
  expect(response.status).toBe(201);
}

/** Collects what the gateway answers to a page. The texts are read at once, because the browser drops them later. */
function textsOf({ page }: Awaited<ReturnType<Dashboard['visit']>>): Promise<string>[] {
  const texts: Promise<string>[] = [];
  page.on('response', (response) => {
    if (response.url() !== dashboard.gateway.url || response.request().method() !== 'POST') {
      return;
    }
    // A page that leaves a view gives up its request.
    texts.push(response.text().catch(() => ''));
  });
  return texts;
}

it('two people in two browsers see only their own inbox, and what one marks changes nothing for the other', async () => {
  await using ada = await dashboard.visit(browser);
  await using ben = await dashboard.visit(browser);
  const texts = { ada: textsOf(ada), ben: textsOf(ben) };
  dashboard.forget();
  await signInWithoutTimer(ada, 'Ada Lindqvist');
  await bell(ada.page, 'Notifications, 2 new').click();
  await signInWithoutTimer(ben, 'Ben Osei');
  await bell(ben.page, 'Notifications, 1 new').click();
  const rowsOf = async ({ page }: typeof ada, name: string) => {
    await page.getByRole('row', { name }).waitFor();
    return page.getByRole('row').allTextContents();
  };
  const [adas, bens] = [await rowsOf(ada, 'Noor Haddad'), await rowsOf(ben, 'Priya Raman')];
  expect([adas.length, bens.length]).toEqual([6, 1]);

  await ada.page.getByRole('row', { name: 'Noor Haddad' }).getByRole('button', { name: 'Mark as read' }).click();
  await ada.page.getByRole('row', { name: 'Noor Haddad' }).getByRole('button', { name: 'Mark as unread' }).waitFor();
  await ada.page.keyboard.press('Escape');
  await bell(ada.page, 'Notifications, 1 new').waitFor();
  await setHidden(ben.page, false); // Looks for new messages at once.
  await expect.poll(() => dashboard.upstream('GET /v1/subscribers/customer-1002/notifications/unseen').length).toBe(2);
  await ben.page.keyboard.press('Escape');
  await bell(ben.page, 'Notifications, 1 new').waitFor();

  await notify('customer-1002', 'Grace Whitfield');
  await Promise.all([setHidden(ada.page, false), setHidden(ben.page, false)]);
  await bell(ben.page, 'Notifications, 2 new').click();
  await ben.page.getByRole('row', { name: 'Grace Whitfield' }).waitFor();
  await bell(ada.page, 'Notifications, 1 new').click();
  await ada.page.getByRole('row', { name: 'Lukas Brandt' }).waitFor();

  for (const [{ page }, received, own, other] of [
    [ada, texts.ada, 'Noor Haddad', 'Priya Raman'],
    [ben, texts.ben, 'Priya Raman', 'Noor Haddad'],
  ] as const) {
    expect(received.length).toBeGreaterThan(3);
    const seen = [await page.content(), ...(await Promise.all(received))].join();
    expect([seen.includes(own), seen.includes(other)]).toEqual([true, false]);
    expect(seen).not.toContain(`customer-100${own === 'Noor Haddad' ? 2 : 1}`);
  }
  const changes = dashboard.upstream('POST /v1/subscribers').map(({ path }) => path);
  expect(changes).toEqual([`${MARK}/mark-as`]);
  expect([ada.problems, ben.problems]).toEqual([[], []]);
});

it('the bell opens, moves, marks and closes with keys, and says what changed', async () => {
  await using visitor = await dashboard.visit(browser);
  const { page } = visitor;
  await notify('customer-1001', 'Mary Jackson');
  await notify('customer-1001', 'Joan Clarke');
  await signInWithoutTimer(visitor, 'Ada Lindqvist');
  const status = page.locator('.user [role=status]');
  await expect.poll(() => status.textContent()).toMatch(/^\d new notifications$/);
  const before = Number.parseInt((await status.textContent()) ?? '', 10);
  const label = (count: number) => (count === 0 ? 'Notifications' : `Notifications, ${count} new`);
  await bell(page, label(before)).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('row', { name: 'Joan Clarke' }).waitFor();
  await page.keyboard.press('Tab');
  expect(await focused(page)).toBe('Mark all as read');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Tab');
  expect(await focused(page)).toMatch(/^Unread: Joan Clarke/);
  await page.keyboard.press('Enter');
  await page.getByRole('row', { name: 'Joan Clarke' }).getByRole('button', { name: 'Mark as unread' }).waitFor();
  expect(await focused(page)).toMatch(/^Joan Clarke/);
  await page.keyboard.press('ArrowDown');
  expect(await focused(page)).toMatch(/^Unread: Mary Jackson/);
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('Enter');
  await expect.poll(() => focused(page)).toBe('Mark as unread'); // The same button.
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await bell(page, label(before - 2)).waitFor();
  expect(await focused(page)).toBe(label(before - 2));

  await page.keyboard.press('Enter');
  dashboard.forget();
  await page.getByRole('button', { name: 'Mark all as read' }).click();
  await page.getByRole('button', { name: 'Mark as read' }).first().waitFor({ state: 'detached' });
  expect(dashboard.upstream('POST ').map(({ path, body }) => [path, body])).toEqual([
    [`${MARK}/mark-all`, '{"markAs":"read"}'],
  ]);
  expect(await focused(page)).toBe('Mark all as read');
  await expect.poll(() => status.textContent()).toBe('');
  await page.keyboard.press('Escape');
  await bell(page, 'Notifications').waitFor();
  expect(visitor.problems).toEqual([]);
});

it('the bell shows that the inbox is empty, is loading, has failed, and has more than the service counts', async () => {
  await using cleo = await dashboard.visit(browser);
  await signInWithoutTimer(cleo, 'Cleo Marchetti');
  await bell(cleo.page, 'Notifications').click();
  await cleo.page.getByText('You have no notifications.').waitFor();

  await using visitor = await dashboard.visit(browser);
  const { page } = visitor;
  using counting = dashboard.answering(`GET ${NOTIFICATIONS}/unseen`, { body: { data: { count: 100 } } });
  await signInWithoutTimer(visitor, 'Ada Lindqvist');
  await bell(page, 'Notifications, 99+ new').waitFor();
  await page.getByText('99+ new notifications').waitFor({ state: 'attached' });
  counting[Symbol.dispose]();
  const failed = { status: 503, body: { statusCode: 503 } };
  const answer = Promise.withResolvers<typeof failed>();
  using listing = dashboard.answering(`GET ${NOTIFICATIONS}/feed`, () => answer.promise);
  await bell(page, 'Notifications, 99+ new').click();
  await page.getByText('Loading notifications…').waitFor({ state: 'attached' });
  answer.resolve(failed);
  await page.getByText('The notification service is not available at the moment.').waitFor();
  listing[Symbol.dispose]();
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByRole('row').first().waitFor();

  using marking = dashboard.answering(`POST ${MARK}/mark-as`, failed);
  await page.getByRole('row').first().getByRole('button').click();
  await page.getByRole('alert').getByText('The notification service is not available at the moment.').waitFor();
  marking[Symbol.dispose]();
  await page.getByRole('row').first().getByRole('button').click();
  await page.getByRole('alert').waitFor({ state: 'detached' });
  expect(visitor.problems).toEqual([]);
});

it('the bell looks for new messages every 30 seconds, pauses while the page is hidden, and keeps its number if that fails', async () => {
  await notify('customer-1001', 'Edith Clarke');
  await using visitor = await dashboard.visit(browser);
  const { page } = visitor;
  await page.clock.install();
  await visitor.signIn('Ada Lindqvist');
  await page.locator('.bell[aria-label*=new]').waitFor();
  const label = page.locator('.bell');
  const before = await label.getAttribute('aria-label');
  const polls = async () => {
    await page.evaluate('fetch("/").then(() => {})'); // What the page has sent before is known now.
    return visitor.requests.filter((request) => request.postData()?.includes('"UnseenMessages"')).length;
  };
  await page.clock.runFor(20_000);
  expect(await polls()).toBe(1);
  {
    using _ = dashboard.answering(`GET ${NOTIFICATIONS}/unseen`, { status: 503, body: { statusCode: 503 } });
    const response = page.waitForResponse((each) => each.request().postData()?.includes('"UnseenMessages"') ?? false);
    await page.clock.runFor(10_000);
    expect((await (await response).json()).errors).toHaveLength(1);
  }
  expect(await label.getAttribute('aria-label')).toBe(before);
  await setHidden(page, true);
  await page.clock.runFor(300_000);
  expect(await polls()).toBe(2);
  await setHidden(page, false);
  await expect.poll(polls).toBe(3);
});

it('the inbox fits into a window of 360 pixels, where its list scrolls', async () => {
  await using visitor = await dashboard.visit(browser, { viewport: { width: 360, height: 480 } });
  const { page } = visitor;
  await visitor.signIn('Ada Lindqvist');
  await page.getByRole('button', { name: /^Notifications/ }).click();
  await page.getByRole('row').first().waitFor();
  const box = await page.locator('.inbox-popover').boundingBox();
  expect(box?.x).toBeGreaterThanOrEqual(0);
  expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThanOrEqual(360);
  expect((box?.y ?? 0) + (box?.height ?? 0)).toBeLessThanOrEqual(480);
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360);
  const last = page.getByRole('row').last();
  await last.getByRole('button').click(); // Scrolls to it.
  await expect.poll(() => page.locator('.inbox-body').evaluate(({ scrollTop }) => scrollTop)).toBeGreaterThan(0);
  await page.getByRole('button', { name: 'Close' }).click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
});

it('the bell loads on to the oldest of 256 messages, none missing and none twice, while others arrive and are marked', async () => {
  const authors = Array.from({ length: 256 }, (_, i) => `Weaver ${i + 1}.`);
  for (let start = 0; start < authors.length; start += 64) {
    await notify('customer-1003', ...authors.slice(start, start + 64));
  }
  await using visitor = await dashboard.visit(browser);
  const { page } = visitor;
  await signInWithoutTimer(visitor, 'Cleo Marchetti');
  dashboard.forget();
  await bell(page, 'Notifications, 99+ new').click();
  const rows = page.getByRole('row');
  const more = page.getByRole('button', { name: 'Show more' });
  const lists = () => dashboard.upstream('GET /v1/subscribers').filter(({ path }) => path.includes('/feed')).length;
  await expect.poll(() => rows.count()).toBe(20);
  await more.click();
  await expect.poll(() => rows.count()).toBe(40);
  expect(lists()).toBe(2);

  await notify('customer-1003', 'Late 1.', 'Late 2.', 'Late 3.');
  await setHidden(page, false); // Looks for new messages at once.
  await expect.poll(() => rows.count()).toBe(43);
  const old = page.getByRole('row', { name: 'Weaver 220.' });
  await old.getByRole('button', { name: 'Mark as read' }).click();
  await old.getByRole('button', { name: 'Mark as unread' }).waitFor();
  await expect.poll(lists).toBe(4); // One each for the new ones and after the mark: only the newest are loaded again.

  let count = await rows.count();
  while ((await more.count()) > 0) {
    await more.click();
    await expect.poll(() => rows.count()).toBeGreaterThan(count);
    count = await rows.count();
  }
  const expected = ['Late 3.', 'Late 2.', 'Late 1.', ...authors.toReversed()];
  const shown = await page.locator('.inbox-text').allTextContents();
  expect(shown.map((text) => /(?:Weaver|Late) \d+\./.exec(text)?.[0])).toEqual(expected);
  expect(shown.filter((text) => !text.startsWith('Unread: '))).toHaveLength(1);

  using failing = dashboard.answering(`POST /v1/subscribers/customer-1003/messages/mark-all`, {
    status: 503,
    body: {},
  });
  await page.getByRole('button', { name: 'Mark all as read' }).click();
  await page.getByRole('alert').waitFor();
  failing[Symbol.dispose]();
  await page.getByRole('button', { name: 'Mark all as read' }).click();
  await expect.poll(() => page.getByText('Unread: ').count()).toBe(0);
  expect(await rows.count()).toBe(expected.length);
  expect(visitor.problems).toEqual([]);
});

it('the bell opens the address of a message and marks it, and offers none that would run code', async () => {
  const bill = (billingUrl: string) => ({ name: 'payment-failed', to: ['customer-1002'], payload: { billingUrl } });
  await trigger('', bill('https://pay.example.com/?bill=7&step=2'));
  await trigger('', bill('javascript:alert(document.domain)'));
  await using visitor = await dashboard.visit(browser);
  const { page } = visitor;
  await page.route('https://pay.example.com/**', (route) => route.fulfill({ body: 'Pay here' }));
  await visitor.signIn('Ben Osei');
  await page.getByRole('button', { name: /^Notifications, / }).click();
  const row = page.getByRole('row', { name: 'Your payment of' });
  await expect.poll(() => row.count()).toBe(2);
  const links = page.getByRole('link', { name: /^Open: / });
  expect(await links.evaluateAll((all) => all.map((link) => link.getAttribute('href')))).toEqual([
    'https://pay.example.com/?bill=7&step=2',
  ]);
  dashboard.forget();
  await links.click();
  await page.getByText('Pay here').waitFor();
  await expect
    .poll(() => dashboard.upstream('POST ').map(({ path }) => path))
    .toEqual(['/v1/subscribers/customer-1002/messages/mark-as']);
  expect(visitor.problems).toEqual([]);
});
