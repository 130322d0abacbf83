import { describe, expect, it } from 'vitest';
import { openDashboard } from '../support/open-dashboard.ts';

const { browser, dashboard } = await openDashboard();

/** Returns a UTC day as the service names it. */
const dayBefore = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10);

describe('the statistics of the dashboard', () => {
  it('are shown after signing in as one bar per day, by one upstream call, and set the page title', async () => {
    dashboard.forget();
    await using visitor = await dashboard.visit(browser);
    const { page } = visitor;
    expect(await page.title()).toBe('Sign in · Notigraph dashboard');
    await page.getByRole('button', { name: 'Cleo Marchetti' }).getByText('Sees statistics. Changes nothing.').waitFor();
    await visitor.signIn('Ada Lindqvist');
    await page.getByRole('slider').waitFor();

    expect(await page.title()).toBe('Statistics · Notigraph dashboard');
    // The chart is drawn once its width is known.
    await expect.poll(() => page.locator('.chart-bar').count()).toBe(30);
    expect(dashboard.upstream('GET /v1/notifications/graph/stats').map(({ path }) => path)).toEqual([
      '/v1/notifications/graph/stats?days=30',
    ]);
    expect(visitor.problems).toEqual([]);
  });

  it('show the value of the day under the pointer, and the details of the day chosen by click, keys or buttons', async () => {
    await using visitor = await dashboard.visit(browser);
    const { page } = visitor;
    await visitor.signIn('Ada Lindqvist');
    await page.getByRole('link', { name: 'Order shipped' }).waitFor();
    dashboard.forget();

    const slider = page.getByRole('slider', { name: 'Day' });
    const details = page.locator('.day-details');
    const newest = await slider.getAttribute('aria-valuetext');
    const bar = page.locator('.chart-bar').nth(20);
    await bar.hover();
    const [day = '', count = ''] = await page.locator('.chart-tip > *').allTextContents();
    expect(count).toMatch(/^\d+ notifications$/);
    expect(await slider.getAttribute('aria-valuetext')).toBe(newest);
    await page.keyboard.press('Escape');
    await page.locator('.chart-tip').waitFor({ state: 'detached' });
    await bar.click();
    expect(await slider.getAttribute('aria-valuetext')).toBe(`${day}: ${count}`);
    await details.getByRole('heading', { name: day }).waitFor();
    expect(await details.textContent()).toContain(count);
    expect(await page.locator('.chart-value').textContent()).toBe(count.split(' ')[0]);
    expect(await details.getByText('In-app').count()).toBe(1);
    expect(await details.getByRole('link').count()).toBeGreaterThan(3);

    const valueAfter = async (key: string) => {
      await page.keyboard.press(key);
      return slider.inputValue();
    };
    expect(await valueAfter('ArrowRight')).toBe('21');
    expect(await valueAfter('Home')).toBe('0');
    expect(await valueAfter('End')).toBe('29');
    await page.getByRole('button', { name: 'Day before' }).click();
    expect(await slider.inputValue()).toBe('28');
    await page.getByRole('button', { name: 'Day after' }).click();
    expect(await slider.getAttribute('aria-valuetext')).toBe(newest);
    expect(await page.getByRole('button', { name: 'Day after' }).getAttribute('aria-disabled')).toBe('true');
    expect(dashboard.upstream()).toEqual([]);

    await details.getByRole('link', { name: 'Order shipped' }).click();
    await page.getByRole('heading', { level: 1, name: 'Workflows' }).waitFor();
    const linked = page.getByRole('region', { name: 'Linked workflow' });
    await linked.getByRole('article').filter({ hasText: 'Order shipped' }).waitFor();
  });

  it('cover the period in the address, which can be linked and survives reloading', async () => {
    await using visitor = await dashboard.visit(browser);
    const { page } = visitor;
    const daysShown = async () => Number(await page.getByRole('slider').getAttribute('max')) + 1;
    await page.goto(`${dashboard.url}#/statistics?days=5`);
    await visitor.signIn('Ada Lindqvist');
    await expect.poll(daysShown).toBe(30);
    await page.getByRole('link', { name: '90 days' }).click();
    await expect.poll(daysShown).toBe(90);
    await page.getByText('in the last 90 days').waitFor();
    await page.getByRole('link', { name: '7 days' }).click();
    await expect.poll(daysShown).toBe(7);
    await page.goBack();
    await expect.poll(daysShown).toBe(90);
    await page.reload();
    await visitor.signIn('Ada Lindqvist');
    await expect.poll(daysShown).toBe(90);
    expect(await page.locator('[aria-current=true]').textContent()).toBe('90 days');
    expect(visitor.problems).toEqual([]);
  });

  it('mark the day that has not ended, use short labels, and say which days and channels are missing', async () => {
    using _ = dashboard.answering('GET /v1/notifications/graph/stats', {
      body: [
        { _id: dayBefore(20), count: 15_000, templates: [], channels: ['email', 'sms'] },
        { _id: dayBefore(1), count: 1, templates: [], channels: ['email'] },
        { _id: dayBefore(0), count: 2_500, templates: [], channels: ['email'] },
      ],
    });
    await using visitor = await dashboard.visit(browser, { timezoneId: 'Asia/Kolkata' });
    const { page } = visitor;
    await visitor.signIn('Ada Lindqvist');
    const slider = page.getByRole('slider', { name: 'Day' });
    await slider.waitFor();
    expect(await slider.getAttribute('aria-valuetext')).toContain(': 2,500 notifications so far');
    await page.locator('.chart-bar-partial').waitFor();
    const labels = await page.locator('.chart-drawing text').allTextContents();
    expect(labels).toEqual(expect.arrayContaining(['0', '5K', '10K', '15K', '2,500', 'Today']));
    const months = labels.flatMap((label) => /^\d+ (\w+)$/.exec(label)?.[1] ?? []);
    expect(months).toEqual([...new Set(months)]);
    await page.getByText('Today (outlined) is counted so far. Days are UTC and begin at 05:30 your time.').waitFor();
    await page.getByText('Email every day; SMS on 1 of 3 days').waitFor();
    await page.getByText(/^The service has nothing before \d+ \w+\./).waitFor();
    await slider.press('ArrowLeft');
    expect(await slider.getAttribute('aria-valuetext')).toMatch(/: 1 notification$/);
  });

  it('are also available as a table, even if the chart cannot be loaded', async () => {
    await using visitor = await dashboard.visit(browser);
    const { page } = visitor;
    await page.route(/day-bars/, (route) => route.abort());
    await visitor.signIn('Ada Lindqvist');
    await page.getByText('The chart could not be loaded.').waitFor();
    await page.getByText('Show as a table').click();
    const table = page.getByRole('table', { name: 'Notifications per day' });
    await table.waitFor();
    expect(await table.getByRole('row').count()).toBe(31);
    const bar = await page.getByRole('slider').getAttribute('aria-valuetext');
    const [, day = '', count = ''] = /^(.+): (\d+) notification/.exec(bar ?? '') ?? [];
    const newest = await table.getByRole('row').nth(1).textContent();
    expect(newest).toContain(`${day} (so far)${count}`);
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
    await page.getByRole('slider').waitFor();
    {
      using _ = dashboard.answering('GET /v1/notifications/graph/stats', { status: 500, body: {} });
      await page.getByRole('button', { name: 'Refresh' }).click();
      await page.getByRole('alert').waitFor();
    }
    expect(await page.locator('.chart-bar').count()).toBe(30);
  });

  it('are drawn where a placeholder was while they were loaded', async () => {
    const arrived = Promise.withResolvers<void>();
    const mayAnswer = Promise.withResolvers<void>();
    using _ = dashboard.answering('GET /v1/notifications/graph/stats', async () => {
      arrived.resolve();
      await mayAnswer.promise;
      return { body: [{ _id: dayBefore(0), count: 1, templates: [], channels: ['email'] }] };
    });
    await using visitor = await dashboard.visit(browser);
    const { page } = visitor;
    await visitor.signIn('Ada Lindqvist');
    await arrived.promise;
    await page.getByText('Loading statistics…').waitFor();
    const place = await page.locator('.chart-skeleton').boundingBox();
    mayAnswer.resolve();
    await page.locator('.chart-bar').waitFor();
    expect(await page.locator('.chart-drawing').boundingBox()).toEqual(place);
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
      await page.locator('.row-name', { hasText: /\w/ }).first().waitFor(); // Not the placeholders of rows that are being loaded.
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
    await visitor.page.getByRole('slider').waitFor();
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
