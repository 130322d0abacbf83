import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { VIEWS, type Visitor } from '../support/dashboard.ts';
import { openDashboard } from '../support/open-dashboard.ts';

const { browser, dashboard } = await openDashboard();

describe('the dashboard by keyboard only', () => {
  it('can be used from signing in to signing out, with every kind of control', async () => {
    await using visitor = await dashboard.visit(browser);
    const { page } = visitor;
    await page.getByText('Ada Lindqvist').waitFor();
    await tabTo(page, /^A?Ada Lindqvist/);
    await page.keyboard.press('Enter');
    await page.getByRole('slider').waitFor();
    expect(await focused(page)).toBe('Statistics');

    await tabTo(page, /^Day$/);
    const slider = page.getByRole('slider', { name: 'Day' });
    const newest = await slider.getAttribute('aria-valuetext');
    await page.keyboard.press('ArrowLeft');
    const [day = ''] = (await slider.getAttribute('aria-valuetext'))?.split(':') ?? [];
    expect(newest).not.toContain(day);
    await page.getByRole('heading', { level: 2, name: day }).waitFor();

    await tabTo(page, /^Workflows$/, 'Shift+Tab');
    await page.keyboard.press('Enter');
    await page.getByRole('switch').first().waitFor();
    expect(await focused(page)).toBe('Workflows');
    await tabTo(page, /^Mention in a comment$/);
    await page.keyboard.press('Space');
    const toggle = page.getByRole('switch', { name: 'Mention in a comment', checked: false });
    await toggle.waitFor();
    await page.locator('.switch[data-busy]').waitFor({ state: 'detached' });
    expect(await focused(page)).toBe('Mention in a comment');

    await tabTo(page, /^Groups$/, 'Shift+Tab');
    await page.keyboard.press('Enter');
    await page.locator('.row-name').first().waitFor();
    await tabTo(page, /^New group/);
    await page.keyboard.type('By keyboard');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Delete By keyboard' }).waitFor();
    await tabTo(page, /^Delete By keyboard$/);
    await page.keyboard.press('Enter');
    await page.getByRole('alertdialog', { name: 'Delete “By keyboard”?' }).waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    await tabTo(page, /^Delete$/, 'Tab', 3);
    await page.keyboard.press('Enter');
    await page.getByText('“By keyboard” was deleted.').waitFor();
    expect(await focused(page)).toBe('All groups');

    await tabTo(page, /^Sign out$/, 'Shift+Tab');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    expect(await focused(page)).toBe('Sign in');
    expect(visitor.problems).toEqual([]);
  });

  it('has a link that skips the navigation', async () => {
    await using visitor = await signedIn();
    const { page } = visitor;
    await tabTo(page, /^Skip to content$/, 'Shift+Tab');
    await page.keyboard.press('Enter');
    expect(await page.evaluate(() => document.activeElement?.tagName)).toBe('MAIN');
    expect(new URL(page.url()).hash).toBe('');
  });

  it('keeps the order of its navigation links when views are opened, and names each once', async () => {
    await using visitor = await signedIn();
    const links = visitor.page.getByRole('navigation').getByRole('link');
    const places = () => links.evaluateAll((all) => all.map((link) => link.getBoundingClientRect().x));
    const before = await places();
    await visitor.openLoaded('Subscribers');
    expect(await places()).toEqual(before);
    expect(await visitor.page.getByRole('link', { name: 'Statistics', exact: true }).count()).toBe(1);
  });

  it.each(VIEWS)('shows the focus on every control of %s', async (view) => {
    await using visitor = await signedIn();
    const { page } = visitor;
    await visitor.openLoaded(view);
    await page.evaluate(() => document.body.focus());
    const seen = new Set<string>();
    for (let i = 0; i < 60; i += 1) {
      await page.keyboard.press('Tab');
      const name = await focused(page);
      if (name === '' || seen.has(name)) {
        break;
      }
      seen.add(name);
      const outline = await page.evaluate(() => {
        const { activeElement: element } = document;
        const shown = element?.matches('[type=range]')
          ? element.nextElementSibling
          : element?.matches('[role=switch]')
            ? element.closest('label')
            : element;
        const style = shown && getComputedStyle(shown);
        return style ? [style.outlineStyle, Number.parseFloat(style.outlineWidth)] : [];
      });
      expect([name, ...outline]).toEqual([name, 'solid', 2]);
    }
    expect(seen.size).toBeGreaterThan(2);
  });
});

describe('the dashboard for assistive technology', () => {
  it.each(['Sign in', ...VIEWS] as const)('names every control and has one heading of level 1: %s', async (view) => {
    await using visitor = await dashboard.visit(browser);
    const { page } = visitor;
    await page.getByText('Ada Lindqvist').waitFor();
    if (view !== 'Sign in') {
      await visitor.signIn('Ada Lindqvist');
      await visitor.openLoaded(view);
    }
    const controls = await accessibilityTree(page);
    expect(controls.length).toBeGreaterThan(3);
    expect(controls.filter(({ name }) => name === '')).toEqual([]);
    const names = controls.filter(({ role }) => role === 'button' || role === 'switch').map(({ name }) => name);
    expect(names).toEqual([...new Set(names)]);
    expect(await page.getByRole('heading', { level: 1 }).count()).toBe(1);
    const document_ = await page.evaluate(() => ({
      language: document.documentElement.lang,
      ids: [...document.querySelectorAll('[id]')].map(({ id }) => id),
      described: [...document.querySelectorAll('[aria-describedby], [aria-labelledby]')].flatMap((element) =>
        `${element.getAttribute('aria-describedby') ?? ''} ${element.getAttribute('aria-labelledby') ?? ''}`
          .trim()
          .split(/\s+/),
      ),
      outOfOrder: document.querySelectorAll('[tabindex]:not([tabindex="0"], [tabindex="-1"])').length,
    }));
    expect(document_.language).toBe('en');
    expect(document_.ids).toEqual([...new Set(document_.ids)]);
    expect(document_.described.filter((id) => !document_.ids.includes(id))).toEqual([]);
    expect(document_.outOfOrder).toBe(0);
  });

  it('has no animations if the browser prefers reduced motion', async () => {
    await using visitor = await dashboard.visit(browser, { reducedMotion: 'reduce' });
    const { page } = visitor;
    await visitor.signIn('Ada Lindqvist');
    await visitor.openLoaded('Workflows');
    const durations = await page.evaluate(() =>
      [...document.querySelectorAll('*')]
        .map((element) => getComputedStyle(element))
        .map((style) => [style.transitionDuration, style.animationName]),
    );
    expect(new Set(durations.map(String))).toEqual(new Set(['0s,none']));
  });
});

describe('the appearance of the dashboard', () => {
  it('fits a screen of 360 pixels in every view and state, without horizontal scrolling', async () => {
    await using visitor = await dashboard.visit(browser, { viewport: { width: 360, height: 740 }, hasTouch: true });
    const { page } = visitor;
    const overflow = () => page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    await page.getByText('Ada Lindqvist').waitFor();
    expect(await overflow()).toBe(0);
    await visitor.signIn('Ada Lindqvist');
    for (const view of VIEWS) {
      await visitor.openLoaded(view);
      expect([view, await overflow()]).toEqual([view, 0]);
      const heights = await page
        .getByRole('navigation')
        .getByRole('link')
        .evaluateAll((links) => links.map((link) => link.clientHeight));
      expect(new Set(heights)).toEqual(new Set([44]));
      expect([view, await smallTargets(page)]).toEqual([view, []]);
    }
    await visitor.openLoaded('Statistics');
    await page.getByText('Show as a table').click();
    expect(await overflow()).toBe(0);
    const frame = page.locator('.table-frame');
    expect(await frame.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBe(0);
    await page.locator('.chart-bar').nth(12).tap();
    expect(await page.getByRole('slider').inputValue()).toBe('12');
    const titles = new Set<number>();
    for (let step = 0; step < 7; step += 1) {
      await page.getByRole('button', { name: 'Day before' }).tap();
      titles.add(await page.locator('.day-details .card-head').evaluate(({ clientHeight }) => clientHeight));
    }
    expect(titles.size).toBe(1);

    await visitor.open('Groups');
    const name = 'Averylongnamewithoutanyspace'.repeat(6);
    await page.getByRole('textbox', { name: 'New group' }).fill(name);
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('button', { name: `Delete ${name}` }).waitFor();
    expect(await overflow()).toBe(0);
    await page.getByRole('button', { name: `Rename ${name}` }).click();
    expect(await overflow()).toBe(0);
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('button', { name: `Delete ${name}` }).click();
    expect(await overflow()).toBe(0);
    const box = await page.getByRole('alertdialog').boundingBox();
    expect((box?.x ?? 0) + (box?.width ?? 999)).toBeLessThanOrEqual(360);
    await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText('was deleted').waitFor();
    expect(await overflow()).toBe(0);
  });
});

async function signedIn(): Promise<Visitor> {
  const visitor = await dashboard.visit(browser);
  await visitor.signIn('Ada Lindqvist');
  await visitor.page.getByRole('slider').waitFor();
  return visitor;
}

/** Returns the name of the focused element. */
const focused = (page: Page): Promise<string> =>
  page.evaluate(() => {
    const { activeElement: element } = document;
    const label = element instanceof HTMLInputElement ? element.labels?.[0]?.textContent : undefined;
    return element === document.body
      ? ''
      : (element?.getAttribute('aria-label') ?? label ?? element?.textContent ?? '');
  });

/** Presses the key until the element with this name has the focus. */
async function tabTo(page: Page, name: RegExp, key: 'Tab' | 'Shift+Tab' = 'Tab', most = 40): Promise<void> {
  for (let i = 0; i <= most; i += 1) {
    if (name.test(await focused(page))) {
      return;
    }
    await page.keyboard.press(key);
  }
  throw new Error(`${name} is not reached by ${key}: the focus is on “${await focused(page)}”.`);
}

const CONTROLS = [
  'button',
  'link',
  'textbox',
  'slider',
  'switch',
  'checkbox',
  'DisclosureTriangle',
  'table',
  'navigation',
];

/** Returns the controls as the browser reports them to assistive technology. */
async function accessibilityTree(page: Page): Promise<{ role: string; name: string }[]> {
  const session = await page.context().newCDPSession(page);
  const { nodes } = await session.send('Accessibility.getFullAXTree');
  return nodes
    .filter(({ ignored, role }) => !ignored && CONTROLS.includes(String(role?.value)))
    .map(({ role, name }) => ({ role: String(role?.value), name: String(name?.value ?? '') }));
}

/** Returns the controls that are lower than a finger needs. Inputs that a label covers are not the ones that are tapped. */
const smallTargets = (page: Page): Promise<string[]> =>
  page.evaluate(() =>
    [...document.querySelectorAll('a, button, select, summary, input:not(label input), label:has(input)')]
      .filter((element) => !element.matches('.chart input, .table-details *') && element.clientHeight < 42)
      .map((element) => `${element.clientHeight} ${element.outerHTML.slice(0, 100)}`),
  );
