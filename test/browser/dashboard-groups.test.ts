import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { startDashboard, type Visitor } from '../support/dashboard.ts';
import { openDashboard } from '../support/open-dashboard.ts';
import type { ServiceResponse } from '../support/service.ts';

const { browser, dashboard } = await openDashboard();

describe('groups in the dashboard', () => {
  it('are created, and the list is reloaded', async () => {
    await using visitor = await openGroups();
    const { page } = visitor;
    dashboard.forget();
    await create(page, 'Returns');
    await page.getByRole('status').getByText('“Returns” was created.').waitFor();
    await page.locator('.row-name', { hasText: 'Returns' }).waitFor();
    const input = page.getByRole('textbox', { name: 'New group' });
    expect(await input.inputValue()).toBe('');
    expect(await input.evaluate((element) => element === document.activeElement)).toBe(true);
    expect(dashboard.upstream().map(({ method, path }) => `${method} ${path}`)).toEqual([
      'POST /v1/notification-groups',
      'GET /v1/notification-groups',
    ]);
  });

  it('need a name', async () => {
    await using visitor = await openGroups();
    const { page } = visitor;
    dashboard.forget();
    await create(page, '   ');
    await page.getByRole('textbox', { name: 'New group', description: 'Enter a name.' }).waitFor();
    expect(dashboard.upstream()).toEqual([]);
  });

  it('of an existing name, whatever its case and spaces, are rejected with a free name to use instead', async () => {
    await using visitor = await openGroups();
    const { page } = visitor;
    dashboard.forget();
    await create(page, '  lifeCYCLE ');
    const input = page.getByRole('textbox', { name: 'New group', description: '“Lifecycle” already exists.' });
    await input.waitFor();
    await page.getByRole('button', { name: 'Rename Community' }).click();
    await page.getByLabel('New name of Community').fill('billing');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Use “Billing 2”' }).waitFor();
    await page.keyboard.press('Escape');
    expect(dashboard.upstream()).toEqual([]);

    await page.getByRole('button', { name: 'Use “Lifecycle 2”' }).click();
    {
      using _ = dashboard.answering(ACTIONS.creating, problem(409, 'A group with this name exists.'));
      await page.getByRole('button', { name: 'Create', exact: true }).click();
      await page.getByRole('textbox', { name: 'New group', description: 'This name already exists.' }).waitFor();
    }
    await page.getByRole('button', { name: 'Use “Lifecycle 3”' }).click();
    await page.getByRole('textbox', { name: 'New group' }).fill('  Late   summer ');
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    await page.getByRole('status').getByText('“Late summer” was created.').waitFor();
    expect(dashboard.upstream('POST ').at(-1)?.body).toBe('{"name":"Late summer"}');
  });

  it('show how many workflows they have among those that are in use, and say which these are', async () => {
    await using visitor = await openGroups();
    const { page } = visitor;
    const lifecycle = page.locator('.row', { hasText: 'Lifecycle' }).first();
    expect(await lifecycle.locator('.row-note').textContent()).toBe('2 workflows in use');
    await page
      .getByText('In use: the 7 workflows that sent notifications in the last 30 days. The service cannot list others.')
      .waitFor();
    dashboard.forget();
    await create(page, 'Without any');
    await page.locator('.row', { hasText: 'Without any' }).getByText('No workflow in use').waitFor();
    expect(dashboard.upstream('GET /v1/workflows/')).toEqual([]);
    await lifecycle.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('alertdialog', { name: 'Delete “Lifecycle”?' }).getByText('at least 2, stay').waitFor();
  });

  it('are renamed in their row, and the focus returns to the button', async () => {
    await using visitor = await openGroups();
    const { page } = visitor;
    await create(page, 'Winter');
    await page.getByRole('button', { name: 'Rename Winter' }).click();
    const input = page.getByLabel('New name of Winter');
    expect(await input.evaluate((element) => element === document.activeElement)).toBe(true);
    await page.keyboard.type('Winter sale');
    dashboard.forget();
    await page.keyboard.press('Enter');
    await page.getByRole('status').getByText('“Winter” is now “Winter sale”.').waitFor();
    await page.locator('.row-name', { hasText: 'Winter sale' }).waitFor();
    expect(dashboard.upstream('PATCH ')[0]?.body).toBe('{"name":"Winter sale"}');

    await page.getByRole('button', { name: 'Rename Winter sale' }).click();
    await page.keyboard.press('Escape');
    const button = page.getByRole('button', { name: 'Rename Winter sale' });
    expect(await button.evaluate((element) => element === document.activeElement)).toBe(true);
  });

  it('are deleted after confirmation, and the focus returns to the button if it is declined', async () => {
    await using visitor = await openGroups();
    const { page } = visitor;
    await create(page, 'Obsolete');
    const button = page.getByRole('button', { name: 'Delete Obsolete' });
    await button.waitFor();
    dashboard.forget();
    await button.click();
    const dialog = page.getByRole('alertdialog', { name: 'Delete “Obsolete”?' });
    await dialog.waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    expect(await button.evaluate((element) => element === document.activeElement)).toBe(true);
    expect(dashboard.upstream()).toEqual([]);

    await button.click();
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('status').getByText('“Obsolete” was deleted.').waitFor();
    await page.locator('.row-name', { hasText: 'Obsolete' }).waitFor({ state: 'detached' });
    const heading = page.getByRole('heading', { name: 'All groups' });
    expect(await heading.evaluate((element) => element === document.activeElement)).toBe(true);
    expect(dashboard.upstream().map(({ method }) => method)).toEqual(['DELETE', 'GET']);
  });

  it('have a message if there are none', async () => {
    using _ = dashboard.answering('GET /v1/notification-groups', { body: { data: [] } });
    await using visitor = await dashboard.visit(browser);
    await visitor.signIn('Ada Lindqvist');
    await visitor.open('Groups');
    await visitor.page.getByText('There are no groups.').waitFor();
  });
});

const problem = (status: number, message: unknown, headers: Record<string, string> = {}): ServiceResponse => ({
  status,
  headers,
  body: { statusCode: status, message },
});

const ACTIONS = {
  creating: 'POST /v1/notification-groups',
  renaming: 'PATCH /v1/notification-groups/',
  deleting: 'DELETE /v1/notification-groups/',
} as const;

type Action = keyof typeof ACTIONS;

const ALL: Action[] = ['creating', 'renaming', 'deleting'];
const MAYBE = 'The change may have been applied. Check before you repeat it.';

/** Failures of a write: the upstream's response, and the message that the page shows for it. */
const FAILURES: { name: string; answer: ServiceResponse; words: string[]; actions: Action[] }[] = [
  {
    name: 'ConflictError ALREADY_EXISTS',
    answer: problem(409, 'A group with this name exists.'),
    words: ['This name already exists.', 'Choose another name.'],
    actions: ['creating'],
  },
  {
    name: 'ConflictError OTHER',
    answer: problem(409, 'The group is part of a release.'),
    words: ['This conflicts with existing data.', 'The group is part of a release.'],
    actions: ['renaming', 'deleting'],
  },
  {
    name: 'ConflictError IDEMPOTENCY_IN_PROGRESS',
    answer: problem(409, 'Request is in progress', { 'retry-after': '1' }),
    words: ['The same request is still in progress.', 'Wait a second, then check whether it is done.'],
    actions: ['creating', 'renaming'],
  },
  {
    name: 'ConflictError IDEMPOTENCY_KEY_REUSED',
    answer: problem(422, 'This idempotency key was used with another body'),
    words: [
      'This request was taken for an earlier one with different content.',
      'Nothing was changed.',
      'Send it again.',
    ],
    actions: ['creating', 'renaming'],
  },
  {
    name: 'NotFoundError',
    answer: problem(404, 'No such group.'),
    words: ['This group no longer exists.', 'Somebody deleted it in the meantime.'],
    actions: ['renaming', 'deleting'],
  },
  {
    name: 'InvalidInputError with an issue of the name',
    answer: problem(422, ['name must be shorter']),
    words: ['The service did not accept this.', 'See the field that is marked.'],
    actions: ['creating', 'renaming'],
  },
  {
    name: 'InvalidInputError without a field',
    answer: problem(400, 'This group is built in.'),
    words: ['The service did not accept this.', 'This group is built in.'],
    actions: ALL,
  },
  {
    name: 'UPSTREAM_ERROR',
    answer: problem(500, 'Internal server error'),
    words: ['The notification service failed on this request.', MAYBE],
    actions: ALL,
  },
  {
    name: 'UPSTREAM_TIMEOUT with outcome UNKNOWN',
    answer: problem(504, 'Gateway timeout'),
    words: ['The notification service did not respond in time.', MAYBE],
    actions: ALL,
  },
  {
    name: 'UPSTREAM_UNAVAILABLE',
    answer: problem(503, 'Service unavailable'),
    words: ['The notification service is not available at the moment.', MAYBE],
    actions: ALL,
  },
  {
    name: 'UPSTREAM_BAD_RESPONSE',
    answer: { body: '<html>', headers: { 'content-type': 'text/html' } },
    words: ['The notification service sent an invalid response.', MAYBE],
    actions: ALL,
  },
  {
    name: 'RATE_LIMITED',
    answer: problem(429, 'Too many requests', { 'retry-after': '3' }),
    words: ['Too many requests.', 'Wait 3 seconds, then try again.', 'Nothing was changed.'],
    actions: ALL,
  },
  {
    name: 'FORBIDDEN by the service',
    answer: problem(403, 'This plan has no more groups.'),
    words: ['This is not allowed.', 'This plan has no more groups.', 'Nothing was changed.'],
    actions: ALL,
  },
  {
    name: 'FORBIDDEN by the service for the tenant’s key',
    answer: problem(401, 'This action is only allowed in Development environment.'),
    words: ['This is not allowed.', 'This action is only allowed in Development environment.', 'Nothing was changed.'],
    actions: ALL,
  },
];

describe.each(ALL)('%s a group in the dashboard', (action) => {
  let visitor: Visitor;

  beforeAll(async () => {
    visitor = await openUncountedGroups();
  });

  afterEach(async () => {
    if (action !== 'creating') {
      await visitor.page.getByRole('button', { name: 'Cancel' }).click();
    }
  });

  afterAll(() => visitor[Symbol.asyncDispose]());

  it.each(FAILURES.filter(({ actions }) => actions.includes(action)))(
    'explains $name and keeps what was typed',
    async ({ name, answer, words }) => {
      const { page } = visitor;
      using _ = dashboard.answering(ACTIONS[action], answer);
      await applyAction(page, action);
      const paragraphs = page.getByRole('alert').locator('p');
      const readAlert = async () => (await paragraphs.allTextContents()).filter((text) => !text.startsWith('Request '));
      await expect.poll(readAlert).toEqual(words);
      if (action !== 'deleting') {
        const description = name.endsWith('of the name') ? { description: 'name must be shorter' } : {};
        const input = page.getByRole('textbox', { name: /^New (?:group|name)/, ...description });
        expect(await input.and(page.locator(':focus')).inputValue()).toBe('A new name');
      }
      expect(await page.locator('.row-name', { hasText: 'A new name' }).count()).toBe(0);
      expect(visitor.problems).toEqual([]);
    },
  );

  it('reports that the gateway is unreachable and that the change may have been applied', async () => {
    const { page } = visitor;
    await page.route(dashboard.gateway.url, (route) => route.abort());
    await applyAction(page, action);
    const alert = page.getByRole('alert').filter({ hasText: MAYBE });
    await alert.getByText('The gateway cannot be reached.').waitFor();
    expect(await page.locator('.row-name').count()).toBeGreaterThan(2);
    await page.unroute(dashboard.gateway.url);
  });
});

describe('after a failure in the dashboard', () => {
  it('a request with an unknown outcome is repeated with its idempotency key, and another request gets a new key', async () => {
    await using visitor = await openGroups();
    const { page } = visitor;
    dashboard.forget();
    {
      using _ = dashboard.answering('POST /v1/notification-groups', problem(504, 'Gateway timeout'));
      await create(page, 'Spring');
      await page.getByRole('alert').waitFor();
    }
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    await page.getByText('“Spring” was created.').waitFor();
    await create(page, 'Summer');
    await page.getByText('“Summer” was created.').waitFor();
    const keys = dashboard.upstream('POST ').map(({ headers }) => headers['idempotency-key']);
    expect(keys).toHaveLength(3);
    expect(keys[1]).toBe(keys[0]);
    expect(new Set(keys).size).toBe(2);
  });

  it('the list is reloaded if the group may have changed', async () => {
    await using visitor = await openGroups();
    const { page } = visitor;
    using _ = dashboard.answering(ACTIONS.deleting, problem(404, 'No such group.'));
    await applyAction(page, 'deleting');
    await page.getByRole('alert').waitFor();
    dashboard.forget();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await expect.poll(() => dashboard.upstream().map(({ method }) => method)).toEqual(['GET']);
  });

  it('the list is reloaded and the message disappears when the browser is back online', async () => {
    await using visitor = await openGroups();
    const { page } = visitor;
    await page.context().setOffline(true);
    await page.getByRole('button', { name: 'Refresh' }).click();
    const note = page.getByRole('alert').getByText('The gateway cannot be reached.');
    await note.waitFor();
    expect(await page.locator('.row-name').count()).toBeGreaterThan(0);
    dashboard.forget();
    await page.context().setOffline(false);
    await note.waitFor({ state: 'detached' });
    // The message disappears when the request starts.
    await expect.poll(() => dashboard.upstream().map(({ method }) => method)).toEqual(['GET']);
  });

  it('a long wait is shown in minutes', async () => {
    await using other = await startDashboard(); // A dashboard of its own, because the gateway sends nothing upstream during that time.
    await using visitor = await other.visit(browser);
    const { page } = visitor;
    using _ = other.answering('POST /v1/notification-groups', problem(429, 'Too many', { 'retry-after': '200' }));
    await visitor.signIn('Ada Lindqvist');
    await visitor.open('Groups');
    await create(page, 'Too soon');
    await page.getByRole('alert').getByText('Wait 4 minutes, then try again.').waitFor();
  });

  it('reading can be retried as soon as the wait has ended', async () => {
    await using visitor = await dashboard.visit(browser, {});
    const { page } = visitor;
    await page.clock.install();
    {
      using _ = dashboard.answering('GET /v1/notification-groups', problem(429, 'Too many', { 'retry-after': '3' }));
      await visitor.signIn('Ada Lindqvist');
      await visitor.open('Groups');
      await page.getByRole('alert').getByText('Wait 3 seconds, then try again.').waitFor();
    }
    const again = page.getByRole('button', { name: 'Try again' });
    expect(await again.getAttribute('aria-disabled')).toBe('true');
    for (let second = 0; second < 3; second += 1) {
      await page.clock.runFor(1000);
    }
    expect(await again.getAttribute('aria-disabled')).toBeNull();
    await again.click();
    await page.locator('.row-name').first().waitFor();
  });
});

/** Opens the groups and waits until their workflows are counted, so that no more requests follow. */
async function openGroups(): Promise<Visitor> {
  const visitor = await openUncountedGroups();
  await visitor.page.getByText('In use:').waitFor();
  return visitor;
}

async function openUncountedGroups(): Promise<Visitor> {
  const visitor = await dashboard.visit(browser);
  await visitor.signIn('Ada Lindqvist');
  await visitor.open('Groups');
  await visitor.page.locator('.row-name').first().waitFor();
  return visitor;
}

async function create(page: Page, name: string): Promise<void> {
  await page.getByRole('textbox', { name: 'New group' }).fill(name);
  await page.getByRole('button', { name: 'Create', exact: true }).click();
}

/** Applies the action to the group "Community", or creates a group. */
async function applyAction(page: Page, action: Action): Promise<void> {
  switch (action) {
    case 'creating':
      return create(page, 'A new name');
    case 'renaming':
      await page.getByRole('button', { name: 'Rename Community' }).click();
      await page.getByLabel('New name of Community').fill('A new name');
      return page.getByRole('button', { name: 'Save' }).click();
    case 'deleting':
      await page.getByRole('button', { name: 'Delete Community' }).click();
      return page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
  }
}
