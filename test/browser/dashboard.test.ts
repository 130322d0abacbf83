import { describe, expect, it } from 'vitest';
import { openDashboard } from '../support/open-dashboard.ts';

const { browser, dashboard } = await openDashboard();

describe('the statistics of the dashboard', () => {
  it('are shown after signing in as one bar per day, by one upstream call, and set the page title', async () => {
    dashboard.forget();
    await using visitor = await dashboard.visit(browser);
    const { page } = visitor;
    expect(await page.title()).toBe('Sign in · Notigraph dashboard');
    await page.getByRole('button', { name: 'Cleo Marchetti' }).getByText('Sees statistics. Changes nothing.').waitFor();
    await visitor.signIn('Ada Lindqvist');
    await page.getByRole('radio').first().waitFor();

    expect(await page.title()).toBe('Statistics · Notigraph dashboard');
    expect(await page.getByRole('radio').count()).toBe(30);
    // The chart is drawn once its width is known.
    await expect.poll(() => page.locator('.chart-bar').count()).toBe(30);
    expect(dashboard.upstream('GET /v1/notifications/graph/stats').map(({ path }) => path)).toEqual([
      '/v1/notifications/graph/stats?days=30',
    ]);
    expect(visitor.problems).toEqual([]);
  });

  it('show the channels and workflows of a day, and request nothing more when another day is selected', async () => {
    await using visitor = await dashboard.visit(browser);
    const { page } = visitor;
    await visitor.signIn('Ada Lindqvist');
    await page.getByText('workflows behind it').waitFor();
    await page.getByText('Order shipped').waitFor();
    dashboard.forget();

    const days = page.getByRole('radio');
    const day = days.nth(20);
    const name = await day.evaluate((input) => input.parentElement?.textContent ?? '');
    const [, weekday = '', count = ''] = /^(\w+ \d+ \w+): (\d+) notifications, /.exec(name) ?? [];
    await page.locator('.chart-days label').nth(20).click();
    await page.getByRole('heading', { name: weekday }).waitFor();
    const details = page.locator('section', { has: page.getByRole('heading', { name: weekday }) });
    expect(await details.textContent()).toContain(`${count} notifications`);
    expect(await details.getByText('In-app').count()).toBe(1);
    expect(await details.getByRole('listitem').count()).toBeGreaterThan(3);

    await page.keyboard.press('ArrowRight');
    expect(await days.nth(21).isChecked()).toBe(true);
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('ArrowLeft');
    expect(await days.nth(19).isChecked()).toBe(true);
    const next = await days.nth(19).evaluate((input) => input.parentElement?.textContent ?? '');
    await page.getByRole('heading', { name: next.split(':')[0] ?? '', level: 2 }).waitFor();

    await page.getByRole('button', { name: 'Day after' }).click();
    expect(await days.nth(20).isChecked()).toBe(true);
    await page.getByRole('button', { name: 'Day before' }).click();
    expect(await days.nth(19).isChecked()).toBe(true);
    await days.nth(29).focus();
    await page.keyboard.press('Space');
    expect(await page.getByRole('button', { name: 'Day after' }).getAttribute('aria-disabled')).toBe('true');
    expect(dashboard.upstream()).toEqual([]);
  });

  it('are also available as a table', async () => {
    await using visitor = await dashboard.visit(browser);
    const { page } = visitor;
    await visitor.signIn('Ada Lindqvist');
    await page.getByText('Show as a table').click();
    const table = page.getByRole('table', { name: 'Notifications per day' });
    await table.waitFor();
    expect(await table.getByRole('row').count()).toBe(31);
    const bar = await page
      .getByRole('radio')
      .last()
      .evaluate((input) => input.parentElement?.textContent ?? '');
    const [, day = '', count = ''] = /^(.+): (\d+) notification/.exec(bar) ?? [];
    const newest = await table.getByRole('row').nth(1).textContent();
    expect(newest).toContain(day + count);
  });

  it('have a message if nothing was sent', async () => {
    using _ = dashboard.answering('GET /v1/notifications/graph/stats', { body: [] });
    await using visitor = await dashboard.visit(browser);
    await visitor.signIn('Ada Lindqvist');
    await visitor.page.getByText('Nothing was sent in this period.').waitFor();
    await visitor.open('Workflows');
    await visitor.page.getByText('No workflow sent anything in this period.').waitFor();
  });

  it('report what failed and can be reloaded', async () => {
    await using visitor = await dashboard.visit(browser);
    const { page } = visitor;
    {
      using _ = dashboard.answering('GET /v1/notifications/graph/stats', { status: 500, body: {} });
      await visitor.signIn('Ada Lindqvist');
      await page.getByRole('alert').getByText('The notification service failed on this request.').waitFor();
    }
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('radio').first().waitFor();
  });
});

describe('a subscriber in the dashboard', () => {
  it('is added, and the form is empty again', async () => {
    await using visitor = await dashboard.visit(browser);
    const { page } = visitor;
    await visitor.signIn('Ada Lindqvist');
    await visitor.open('Subscribers');
    await page.getByLabel('Subscriber id').fill('user-42');
    await page.getByLabel('Email address').fill('nils@fernhill.example');
    await page.getByLabel('First name').fill('Nils');
    dashboard.forget();
    await page.getByRole('button', { name: 'Save subscriber' }).click();
    await page.getByRole('status').getByText('The subscriber “user-42” was saved.').waitFor();
    const [sent] = dashboard.upstream('POST /v1/subscribers');
    expect(JSON.parse(sent?.body ?? '')).toEqual({
      subscriberId: 'user-42',
      email: 'nils@fernhill.example',
      firstName: 'Nils',
    });
    expect(await page.getByLabel('Subscriber id').inputValue()).toBe('');
    expect(await page.getByLabel('Subscriber id').evaluate((input) => input === document.activeElement)).toBe(true);
  });

  it('is saved again with a new idempotency key once the first request has succeeded', async () => {
    await using visitor = await dashboard.visit(browser);
    const { page } = visitor;
    await visitor.signIn('Ada Lindqvist');
    await visitor.open('Subscribers');
    dashboard.forget();
    for (const count of [1, 2]) {
      await page.getByLabel('Subscriber id').fill('twice');
      await page.getByRole('button', { name: 'Save subscriber' }).click();
      await page.getByRole('textbox', { name: 'Subscriber id' }).and(page.locator('[value=""]')).waitFor();
      expect(dashboard.upstream('POST /v1/subscribers')).toHaveLength(count);
    }
    const keys = dashboard.upstream('POST /v1/subscribers').map(({ headers }) => headers['idempotency-key']);
    expect(new Set(keys).size).toBe(2); // A replayed response would save nothing.
  });

  it('is not sent without its id, and the field says so', async () => {
    await using visitor = await dashboard.visit(browser);
    const { page } = visitor;
    await visitor.signIn('Ada Lindqvist');
    await visitor.open('Subscribers');
    dashboard.forget();
    await page.getByLabel('Email address').fill('nobody');
    await page.getByRole('button', { name: 'Save subscriber' }).click();
    const id = page.getByRole('textbox', { name: 'Subscriber id', description: 'Enter a subscriber id.' });
    await id.waitFor();
    expect(await id.getAttribute('aria-invalid')).toBe('true');
    expect(await id.evaluate((input) => input === document.activeElement)).toBe(true);
    await page.getByText('Enter a valid email address.').waitFor();
    expect(dashboard.upstream()).toEqual([]);
  });

  it('that the service rejects stays in the form, with messages at its fields and the rest above', async () => {
    using _ = dashboard.answering('POST /v1/subscribers', {
      status: 422,
      body: { statusCode: 422, message: ['email must be an email', 'this environment is full'] },
    });
    await using visitor = await dashboard.visit(browser);
    const { page } = visitor;
    await visitor.signIn('Ada Lindqvist');
    await visitor.open('Subscribers');
    await page.getByLabel('Subscriber id').fill('user-43');
    await page.getByLabel('Email address').fill('x@y');
    await page.getByRole('button', { name: 'Save subscriber' }).click();
    await page.getByRole('alert').getByText('The service did not accept this.').waitFor();
    expect(await page.getByLabel('Subscriber id').inputValue()).toBe('user-43');
    expect(await page.getByRole('alert').textContent()).toContain('this environment is full');
    const email = page.getByRole('textbox', { name: 'Email address', description: 'email must be an email' });
    expect(await email.getAttribute('aria-invalid')).toBe('true');
    expect(await email.evaluate((input) => input === document.activeElement)).toBe(true);
  });
});

describe('an address of the dashboard', () => {
  it('that names no view is replaced with that of the current view', async () => {
    await using visitor = await dashboard.visit(browser);
    const { page } = visitor;
    await page.goto(`${dashboard.url}#/nonsense`);
    await visitor.signIn('Ada Lindqvist');
    await page.getByRole('heading', { level: 1, name: 'Statistics' }).waitFor();
    await page.waitForURL(/#\/statistics$/);
    await page.evaluate(() => location.assign('#/more-nonsense'));
    await page.waitForURL(/#\/statistics$/);
    await visitor.open('Groups');
    await page.waitForURL(/#\/groups$/);
  });
});

describe('a signed-in person', () => {
  it('sees only the data of their own tenant, even in a browser used for another tenant', async () => {
    await using visitor = await dashboard.visit(browser);
    const { page } = visitor;
    const namesOf = async () => {
      await visitor.open('Groups');
      await page.locator('.row-name').first().waitFor();
      return page.locator('.row-name').allTextContents();
    };
    await visitor.signIn('Ada Lindqvist');
    const junipers = await namesOf();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await visitor.signIn('Dev Kapoor');
    const fernhills = await namesOf();
    expect(junipers).toContain('Lifecycle');
    expect(fernhills).toContain('Live operations');
    expect(junipers.filter((name) => fernhills.includes(name))).toEqual([]);
    const keys = dashboard.upstream('GET /v1/notification-groups').map(({ headers }) => headers.authorization);
    expect(new Set(keys).size).toBe(2);
  });

  it('with read-only access has disabled controls that explain why and send nothing', async () => {
    await using visitor = await dashboard.visit(browser);
    const { page } = visitor;
    await visitor.signIn('Ben Osei');
    dashboard.forget();
    await visitor.open('Groups');
    await page.getByText('Changes require groups:write. Ask Ada Lindqvist (Administrator).').first().waitFor();
    const rename = page.getByRole('button', { name: 'Rename Community', disabled: true });
    expect(await rename.getAttribute('title')).toContain('groups:write');
    await rename.click({ force: true });
    expect(await page.getByRole('textbox', { name: 'New name' }).count()).toBe(0);
    await page.getByRole('button', { name: 'Create' }).click({ force: true });
    await visitor.open('Workflows');
    const toggle = page.getByRole('switch', { name: 'Order shipped', description: 'Changes require workflows:write' });
    await visitor.switchOf('Order shipped').click();
    expect(await toggle.isChecked()).toBe(true);
    await visitor.open('Subscribers');
    await page.getByText('Ben Osei cannot add subscribers.').waitFor();
    await page.getByText('This requires subscribers:write. Ask Ada Lindqvist (Administrator).').waitFor();
    expect(dashboard.upstream().filter(({ method }) => method !== 'GET')).toEqual([]);
  });

  it('sees which permission a view needs, and the gateway gets no request', async () => {
    await using visitor = await dashboard.visit(browser);
    await visitor.signIn('Cleo Marchetti');
    await visitor.page.getByRole('radio').first().waitFor();
    expect(await visitor.page.locator('.figures').textContent()).toMatch(/Busiest day\d+ \w+ \d+ notifications/);
    await visitor.page.getByText('Their names require workflows:read').waitFor();
    dashboard.forget();
    await visitor.open('Groups');
    await visitor.page.getByText('Cleo Marchetti cannot see groups.').waitFor();
    await visitor.open('Workflows');
    await visitor.page.getByText('This requires workflows:read.').waitFor();
    expect(dashboard.upstream()).toEqual([]);
  });
});
