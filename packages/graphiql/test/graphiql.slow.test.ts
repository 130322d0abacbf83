import type { Route } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { loadOperations } from '../../../src/documents/shipped-operations.ts';
import { startGateway } from '../../../test/support/gateway.ts';
import {
  AUTHORIZATION,
  LIFE,
  openOperation,
  runOperation,
  selectedTab,
  shareGraphiql,
  tabTitles,
  untilGraphiqlReady,
} from '../../../test/support/graphiql.ts';
import { startNotigraph } from '../../../test/support/process.ts';
import { startService } from '../../../test/support/service.ts';
import { SANDBOX_KEYS } from '../../sandbox/src/sandbox.ts';

const TABS = ['Notification groups', 'Notification stats', 'Workflow', 'Create notification group'];

const shared = shareGraphiql();

describe('GraphiQL on the sandbox', () => {
  it('welcomes visitors until the first response, which the sandbox’s key gets', async () => {
    const { page } = shared;
    expect(await page.title()).toBe('Notigraph');
    expect(await page.locator('.badge').textContent()).toBe('Sandbox');
    expect(await page.getByLabel('API key').inputValue()).toBe(SANDBOX_KEYS.development);
    await page.getByText('The sandbox’s key').waitFor();
    const welcome = page.locator('.welcome');
    for (const text of ['on the sandbox', 'Press Run or Ctrl-Enter', 'Operations, at the top', 'Docs describes']) {
      expect(await welcome.textContent()).toContain(text);
    }

    const request = await runOperation(page);
    expect(request.headers().authorization).toBe(AUTHORIZATION);
    await page.locator('.result', { hasText: 'Lifecycle' }).waitFor();
    expect(await welcome.count()).toBe(0);
    expect(shared.problems).toEqual([]);
  });

  it('has its tabs in one row, and all operations in a list for the keyboard', async () => {
    const { page } = shared;
    expect(await tabTitles(page)).toEqual(TABS);
    const boxes = await page
      .locator('.tabs li')
      .evaluateAll((tabs) => tabs.map((tab) => tab.getBoundingClientRect()).map(({ top, right }) => ({ top, right })));
    expect(new Set(boxes.map(({ top }) => top)).size).toBe(1);
    expect(Math.max(...boxes.map(({ right }) => right))).toBeLessThan(1366);

    await page.getByRole('button', { name: 'Operations' }).focus();
    await page.keyboard.press('Enter');
    const list = page.getByRole('dialog', { name: 'Operations' });
    const items = await list.getByRole('button').allTextContents();
    expect(items).toHaveLength(loadOperations().length);
    expect(items[0]).toBe('Notification groupsAll notification groups.');
    await list.locator('input:focus').press('Escape');
    expect(shared.problems).toEqual([]);
  });

  it('changes tabs at the first click and runs the operation at once, with the variables of its example', async () => {
    const { page } = shared;
    await page.getByRole('button', { name: 'Notification stats', exact: true }).click();
    const request = await runOperation(page);
    expect(request.postDataJSON()).toMatchObject({
      operationName: 'NotificationStats',
      variables: { days: 30, fillGaps: true },
    });
    await page.locator('.result', { hasText: 'notificationStats' }).waitFor();
    expect(shared.problems).toEqual([]);
  });

  it('shows the variables of operations that have some, unless the visitor has chosen otherwise', async () => {
    const { page } = shared;
    const variables = page.locator('#tool-variables');
    const isOpen = () => page.getByRole('button', { name: 'Variables' }).getAttribute('aria-expanded');
    await page.getByRole('button', { name: 'Workflow', exact: true }).click();
    await variables.getByText('welcome-onboarding').waitFor();

    await openOperation(page, 'Notification groups');
    await variables.waitFor({ state: 'hidden' });
    await page.getByRole('button', { name: 'Variables' }).click();
    expect(await isOpen()).toBe('true');
    await page.getByRole('button', { name: 'Variables' }).click();
    expect(await isOpen()).toBe('false');
    await page.getByRole('button', { name: 'Workflow', exact: true }).click();
    expect(await isOpen()).toBe('false');
    await page.getByRole('button', { name: 'Variables' }).click();
    await variables.waitFor();
  });

  it('explains the code of an error below the response until a response without errors arrives', async () => {
    const { page } = shared;
    await page.getByRole('button', { name: 'Workflow', exact: true }).click();
    await page.getByLabel('API key').fill('wrong');
    await runOperation(page);
    const help = page.locator('.error-help h2');
    await help.getByText('UNAUTHENTICATED').waitFor();
    expect(await page.locator('.error-help').textContent()).toContain('Send a valid credential.');
    const [response, explanation] = await Promise.all([
      page.locator('.result').boundingBox(),
      page.locator('.error-help').boundingBox(),
    ]);
    expect(explanation?.y).toBeGreaterThanOrEqual((response?.y ?? 0) + (response?.height ?? Number.NaN));

    await page.getByLabel('API key').fill(SANDBOX_KEYS.development);
    await runOperation(page);
    await help.waitFor({ state: 'hidden' });
    expect(shared.problems).toEqual([]);
  });

  it('says in a sentence that there is no response, or one of another server, without the stack of its own code', async () => {
    const { page } = shared;
    let answer: (route: Route) => Promise<void> = (route) => route.abort();
    await page.route('**/graphql', (route) => answer(route));

    const failure = page.locator('.response').getByRole('alert');
    await runOperation(page);
    await failure.getByText('The gateway doesn’t respond. Check that it is running').waitFor();
    expect(await failure.textContent()).not.toContain('mutation');
    expect(await page.locator('.response').textContent()).not.toMatch(/stack|\{/);

    await page.getByRole('button', { name: 'Create notification group', exact: true }).click();
    await failure.waitFor({ state: 'detached' });
    await runOperation(page);
    await failure.getByText('Before you repeat a mutation, check whether it was executed.').waitFor();
    await page.getByRole('button', { name: 'Workflow', exact: true }).click();
    await failure.getByText('The gateway doesn’t respond.').waitFor();

    answer = (route) => route.fulfill({ status: 502, contentType: 'text/html', body: '<h1>Bad gateway</h1>' });
    await runOperation(page);
    await failure.getByText('The server responded with status 502 and without JSON.').waitFor();
    expect(await page.locator('.response').textContent()).not.toContain('stack');
    await page.unrouteAll();
    shared.problems.splice(0);
  });

  it('shows the calls of each field below the response and in the editor, per tab', async () => {
    const { page } = shared;
    await page.getByRole('button', { name: 'Workflow', exact: true }).click();
    const request = await runOperation(page);
    expect(request.postDataJSON().extensions).toEqual({ upstream: true });
    const summary = page.locator('.cost-bar summary');
    await summary.getByText(/^Upstream: 2 calls · \d+ ms/).waitFor();
    expect(await page.locator('.result').textContent()).not.toContain('extensions');
    for (const field of ['workflow(', 'notificationGroup']) {
      await page
        .locator('.query .view-line', { hasText: field })
        .locator('.field-count', { hasText: /^1.call$/ })
        .waitFor();
    }

    await summary.click();
    const fields = await page.locator('.cost-bar li').allTextContents();
    expect(fields).toEqual(['Query.workflow: 1 call', 'Workflow.notificationGroup: 1 call']);
    await page.getByRole('button', { name: 'Create notification group', exact: true }).click();
    await summary.waitFor({ state: 'hidden' });
    await page.getByRole('button', { name: 'Workflow', exact: true }).click();
    await summary.waitFor();
    expect(shared.problems).toEqual([]);
  });

  it('explains an operation instead of sending it, with a button and from the keyboard', async () => {
    const { page } = shared;
    const explain = page.getByRole('button', { name: 'Explain' });
    const plan = page.getByRole('region', { name: 'Plan' });
    await page.getByRole('button', { name: 'Create notification group', exact: true }).click();
    shared.gateway.forget();
    await explain.press('Enter');
    await plan.getByText('1 call of at most 50. A token needs the scopes groups:write, groups:read.').waitFor();
    await plan.getByText('POST /v1/notification-groups', { exact: true }).waitFor();
    await plan.getByText('Never shared').waitFor();
    expect(await explain.evaluate((button) => button === button.ownerDocument.activeElement)).toBe(true);
    await plan.getByText('curl', { exact: true }).click();
    expect(await plan.locator('pre').textContent()).toMatch(/^curl .+ApiKey sandbox-development-key'/);
    await page.context().grantPermissions(['clipboard-write']);
    await plan.getByRole('button', { name: 'Copy the curl command of POST /v1/notification-groups' }).click();
    await plan.getByText('Copied.').waitFor();
    expect(await page.locator('.result').isVisible()).toBe(false);
    expect(shared.gateway.upstream()).toEqual([]);

    await page.getByRole('button', { name: 'Notification stats', exact: true }).click();
    expect(await plan.count()).toBe(0);
    await page.locator('.query .view-lines').click();
    await page.keyboard.press('Control+Shift+Enter');
    await plan.getByText('One per distinct workflow of the statistics.').waitFor();
    expect(shared.gateway.upstream()).toEqual([]);
    await runOperation(page);
    await page.locator('.cost-bar').waitFor();
    expect(await plan.count()).toBe(0);

    await page.getByRole('button', { name: 'New tab' }).click();
    await page.waitForFunction(
      () => document.querySelector<HTMLButtonElement>('.toolbar button[title*="List"]')?.disabled,
    );
    await page.getByRole('button', { name: 'Close New tab' }).click();
    expect(shared.problems).toEqual([]);
  });

  it('loads nothing from elsewhere, because the browser blocks it', async () => {
    const { page } = shared;
    await page.getByRole('button', { name: 'Docs' }).click();
    await page.getByText('Root Types').waitFor();
    await page.getByRole('button', { name: 'Docs' }).click();
    const origins = shared.requests
      .map((request) => new URL(request.url()))
      .filter(({ protocol }) => protocol !== 'data:');
    expect(new Set(origins.map(({ origin }) => origin))).toEqual(new Set([new URL(shared.gateway.url).origin]));

    await using elsewhere = await startService(() => ({
      headers: { 'content-type': 'text/javascript', 'access-control-allow-origin': '*' },
      body: 'globalThis.intruded = true;',
    }));
    const outcomes = await page.evaluate(async (url) => {
      const load = (script: Partial<HTMLScriptElement>) =>
        new Promise((resolve) => {
          const element = Object.assign(document.createElement('script'), script);
          element.onload = () => resolve('loaded');
          element.onerror = () => resolve('refused');
          document.head.append(element, Object.assign(new Image(), { src: `${url}/image` }));
        });
      document.head.append(Object.assign(document.createElement('script'), { textContent: 'intruded = true' }));
      const fetching = fetch(`${url}/fetch`).then(
        () => 'loaded',
        () => 'refused',
      );
      return [await load({ src: `${url}/script` }), await fetching, 'intruded' in globalThis];
    }, elsewhere.url);
    expect(outcomes).toEqual(['refused', 'refused', false]);
    expect(elsewhere.requests).toEqual([]);
    shared.problems.splice(0);
  });

  it('shows a returning visitor the same tabs, and the operation of a link in its own', async () => {
    await using visitor = await shared.visit();
    const { page } = visitor;
    await page.getByRole('button', { name: 'Close Create notification group' }).click();
    await page.getByRole('button', { name: 'Workflow', exact: true }).click();
    await page.getByLabel('Theme').selectOption('dark');
    await page.waitForFunction(() => localStorage.getItem('notigraph:tabState')?.endsWith('"activeTabIndex":2}'));
    await page.goto(shared.gateway.url);
    await untilGraphiqlReady(page);
    expect(await tabTitles(page)).toEqual(TABS.slice(0, 3));
    expect(await selectedTab(page)).toBe('Workflow');
    expect(await page.locator('body').getAttribute('class')).toContain('graphiql-dark');
    expect((await runOperation(page)).postDataJSON().operationName).toBe('Workflow');

    const query = 'query One($id: ID!) { notificationGroup(id: $id) { name } }';
    const link = `${shared.gateway.url}?${new URLSearchParams({ query, variables: '{"id": "g1"}' })}`;
    for (const visit of ['first', 'second']) {
      await page.goto(link);
      await untilGraphiqlReady(page);
      expect([visit, await tabTitles(page)]).toEqual([visit, [...TABS.slice(0, 3), 'One']]);
      await page.waitForFunction(() => localStorage.getItem('notigraph:tabState')?.includes('query One'));
    }
    expect(await selectedTab(page)).toBe('One');
    expect((await runOperation(page)).postDataJSON()).toMatchObject({ operationName: 'One', variables: { id: 'g1' } });
    expect(visitor.problems).toEqual([]);
  });

  it('fits on a phone, with controls of the size of a finger', async () => {
    await using visitor = await shared.visit(undefined, { viewport: { width: 390, height: 844 } });
    const { page } = visitor;
    const more = page.getByRole('button', { name: 'Key and tools' });
    await page.getByLabel('API key').waitFor({ state: 'hidden' }); // It has a key.
    await more.click();
    await page.getByLabel('API key').waitFor();
    await runOperation(page);
    await page.locator('.result', { hasText: '"data"' }).waitFor();
    await page.getByLabel('API key').waitFor({ state: 'hidden' });
    const pane = await page.locator('.response').boundingBox();
    expect(pane?.width).toBe(390);
    expect((pane?.y ?? Number.NaN) + (pane?.height ?? Number.NaN)).toBeLessThanOrEqual(845); // Scrolled into view.
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);

    await more.click();
    await page.getByRole('button', { name: 'Docs' }).click();
    await page.getByText('Root Types').waitFor();
    const controls = await page
      .locator(':is(.header, .tabs, .toolbar, .tool-buttons, .plugin > .close) :is(button, select, input):visible')
      .evaluateAll((all) => all.map((control) => [control.outerHTML, control.getBoundingClientRect().toJSON()]));
    expect(controls.length).toBeGreaterThan(20);
    expect(controls.filter(([, { width, height }]) => width < 44 || height < 44)).toEqual([]);

    // The field stays open until a new key is complete.
    await page.getByLabel('API key').fill('');
    await more.waitFor({ state: 'detached' });
    await page.getByLabel('API key').pressSequentially(SANDBOX_KEYS.development);
    await page.getByLabel('API key').press('Enter');
    await page.getByLabel('API key').waitFor({ state: 'hidden' });

    // Why an operation was not sent is scrolled into view, every time.
    await page.getByRole('button', { name: 'Close Documentation Explorer' }).click();
    await page.getByRole('button', { name: 'Workflow', exact: true }).click();
    await page.locator('#tool-variables .view-lines').click();
    await page.keyboard.insertText('x');
    for (const _ of ['first', 'second']) {
      await page.evaluate(() => scrollTo(0, 0));
      await page.getByRole('button', { name: 'Run' }).click();
      await page.locator('.result', { hasText: 'Request not sent' }).waitFor();
      await page.waitForFunction(
        () => (document.querySelector('.response')?.getBoundingClientRect().bottom ?? Number.NaN) <= innerHeight + 1,
      );
    }
    expect(visitor.problems).toEqual([]);
  });
});

describe('GraphiQL on a real service', () => {
  it('asks for the key in a field, without which it misses no schema, and stores neither the key nor other headers', async () => {
    await using real = await startGateway({ service: 'sandbox', graphiql: true, introspection: false });
    await using visitor = await shared.visit(real.url);
    const { page } = visitor;
    await page.getByRole('button', { name: 'Docs' }).click();
    await page.getByText('No GraphQL schema available').waitFor();
    expect(await page.locator('.notice').count()).toBe(0);
    await page.getByRole('button', { name: 'Close Documentation Explorer' }).click();
    expect(await page.locator('.welcome').textContent()).toContain('the real service');
    await page.getByRole('button', { name: 'Run' }).click();
    await page.getByText('Enter your API key to run operations.').waitFor();
    const field = page.getByLabel('API key');
    expect(await field.evaluate((input) => input === document.activeElement)).toBe(true);
    expect(await field.getAttribute('type')).toBe('password');
    expect(await field.getAttribute('autocomplete')).toBe('off');
    expect(await page.locator('.welcome').count()).toBe(1);
    expect(real.upstream()).toEqual([]);

    await page.keyboard.insertText(SANDBOX_KEYS.production);
    await page.keyboard.press('Enter');
    await page.locator('.notice', { hasText: 'The schema is unavailable' }).waitFor();
    expect((await runOperation(page)).headers().authorization).toBe(`ApiKey ${SANDBOX_KEYS.production}`);
    await page.locator('.result', { hasText: '"data"' }).waitFor();

    const openTab = (name: string) => page.getByRole('button', { name, exact: true }).click();
    await openTab('Notification stats'); // Not run yet: the history ignores the same operation with other headers.
    await page.getByRole('button', { name: 'Headers' }).click();
    await page.locator('#tool-headers .view-lines').click();
    await page.keyboard.insertText(`{"Authorization": "${AUTHORIZATION}`); // The editor adds the closing brackets.
    await openTab('Workflow'); // Saves the header in its tab.
    await openTab('Notification stats');
    expect((await runOperation(page)).headers().authorization).toBe(AUTHORIZATION);
    await page.waitForFunction(() => localStorage.getItem('notigraph:queries')?.includes('query NotificationStats'));
    await page.waitForFunction(() => localStorage.getItem('notigraph:tabState')?.endsWith('"activeTabIndex":1}'));
    const stored = await page.evaluate(() =>
      JSON.stringify([{ ...localStorage }, { ...sessionStorage }, location.href]),
    );
    for (const key of Object.values(SANDBOX_KEYS)) {
      expect(stored).not.toContain(key);
    }
    await page.reload();
    await untilGraphiqlReady(page);
    expect(await page.getByLabel('API key').inputValue()).toBe('');
    expect(visitor.problems.filter((problem) => !/status of 400/.test(problem))).toEqual([]); // Of the schema.
  });

  it('stops an operation, also at the service', async () => {
    await using upstream = await startService(() => {});
    await using slow = await startGateway({ upstream: upstream.url, graphiql: { authorization: AUTHORIZATION } });
    await using visitor = await shared.visit(slow.url);
    const { page } = visitor;
    await runOperation(page);
    await upstream.arrived(1);
    await page.getByRole('button', { name: 'Stop' }).click();
    await upstream.allClosed();
    await page.getByRole('button', { name: 'Run' }).waitFor();
    await page.locator('.notice', { hasText: /^Stopped\.$/ }).waitFor();
    expect(await page.locator('.welcome').count()).toBe(0);
    await page.getByRole('button', { name: 'Create notification group', exact: true }).click();
    await runOperation(page);
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.locator('.notice', { hasText: 'Stopped. The mutation may have been executed.' }).waitFor();
    expect(visitor.problems).toEqual([]);
  });
});

it('GraphiQL of the command has the life of a notification in its first tabs, before and after a reload', async () => {
  await using notigraph = await startNotigraph({ args: ['--sandbox', ':memory:'] });
  await using visitor = await shared.visit(notigraph.url);
  const { page } = visitor;
  expect(await page.locator('.welcome').textContent()).toContain('Run the tabs from left to right');
  const titles = LIFE.map(([title]) => title);
  const today: number[] = [];
  for (const _ of ['first', 'after a reload']) {
    const counts: Record<string, number[]> = {};
    expect(await tabTitles(page)).toEqual(titles);
    for (const [title, text] of LIFE) {
      await page.getByRole('button', { name: title, exact: true }).click();
      await runOperation(page);
      await page.locator('.result', { hasText: text }).waitFor();
      const result = (await page.locator('.result').textContent()) ?? '';
      expect(result).not.toContain('"code"');
      counts[title] = [...result.matchAll(/"count":\s(\d+)/g)].map(([, count]) => Number(count));
    }
    // The sample inbox has two unseen messages.
    expect(counts).toMatchObject({ Inbox: [3], 'Mark messages': [2] });
    today.push(...(counts['Notification stats'] ?? []));
    await page.getByRole('button', { name: 'Trigger event', exact: true }).click();
    await page.waitForFunction(() => localStorage.getItem('notigraph:tabState')?.endsWith('"activeTabIndex":0}'));
    await page.reload();
    await untilGraphiqlReady(page);
    expect(await selectedTab(page)).toBe('Trigger event');
  }
  // A value that is marked at last shows that the others were checked: those of scalars such as JSONObject are right.
  for (const title of ['Inbox', 'Mark messages', 'Trigger event']) {
    await page.getByRole('button', { name: title, exact: true }).click();
    await page.locator('#tool-variables textarea').focus();
    await page.keyboard.press('Control+End');
    await page.keyboard.type('x');
    await expect.poll(() => page.locator('#tool-variables .squiggly-error').count()).toBe(1); // The marks are drawn anew at each check.
  }
  const [before = 0, after = 0, ...others] = today;
  expect([after > before, others]).toEqual([true, []]);
  const right = await page
    .locator('.tabs li')
    .last()
    .evaluate((tab) => tab.getBoundingClientRect().right);
  expect(right).toBeLessThan(1366);
  expect(visitor.problems).toEqual([]);
});
