import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { launchBrowser } from '../support/browser.ts';
import { type Dashboard, startDashboard, type Visitor } from '../support/dashboard.ts';

const VIEWS = ['Statistics', 'Workflows', 'Groups', 'Subscribers'] as const;
const THEMES = ['light', 'dark'] as const;

let browser: Browser;
let dashboard: Dashboard;

beforeAll(async () => {
  [browser, dashboard] = await Promise.all([launchBrowser(), startDashboard()]);
});

afterAll(async () => {
  await browser.close();
  await dashboard[Symbol.asyncDispose]();
});

describe('the dashboard by keyboard only', () => {
  it('can be used from signing in to signing out, with every kind of control', async () => {
    await using visitor = await dashboard.visit(browser);
    const { page } = visitor;
    await page.getByText('Ada Lindqvist').waitFor();
    await tabTo(page, /^A?Ada Lindqvist/);
    await page.keyboard.press('Enter');
    await page.getByRole('radio').first().waitFor();
    expect(await focused(page)).toBe('Statistics');

    await tabTo(page, /notifications/);
    const first = await focused(page);
    await page.keyboard.press('ArrowLeft');
    expect(await focused(page)).not.toBe(first);
    await page.getByRole('heading', { level: 2, name: (await focused(page)).split(':')[0] ?? '' }).waitFor();

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
    await openLoaded(visitor, 'Subscribers');
    expect(await places()).toEqual(before);
    expect(await visitor.page.getByRole('link', { name: 'Statistics', exact: true }).count()).toBe(1);
  });

  it.each(VIEWS)('shows the focus on every control of %s', async (view) => {
    await using visitor = await signedIn();
    const { page } = visitor;
    await openLoaded(visitor, view);
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
        const shown = element?.matches('[type=radio], [role=switch]') ? element.closest('label') : element;
        const style = shown && getComputedStyle(shown);
        return style ? [style.outlineStyle, Number.parseFloat(style.outlineWidth)] : [];
      });
      expect([name, ...outline]).toEqual([name, 'solid', 2]);
    }
    expect(seen.size).toBeGreaterThan(5);
  });
});

describe('the dashboard for assistive technology', () => {
  it.each(['Sign in', ...VIEWS] as const)('names every control and has one heading of level 1: %s', async (view) => {
    await using visitor = await dashboard.visit(browser);
    const { page } = visitor;
    await page.getByText('Ada Lindqvist').waitFor();
    if (view !== 'Sign in') {
      await visitor.signIn('Ada Lindqvist');
      await openLoaded(visitor, view);
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
    await openLoaded(visitor, 'Workflows');
    const durations = await page.evaluate(() =>
      [...document.querySelectorAll('*')]
        .map((element) => getComputedStyle(element))
        .map((style) => [style.transitionDuration, style.animationName]),
    );
    expect(new Set(durations.map(String))).toEqual(new Set(['0s,none']));
  });
});

describe('the appearance of the dashboard', () => {
  it.each(THEMES)('has enough contrast in every text of the %s theme, error messages included', async (colorScheme) => {
    await using visitor = await dashboard.visit(browser, { colorScheme });
    const { page } = visitor;
    await page.getByText('Ada Lindqvist').waitFor();
    expect(await lowContrast(page)).toEqual([]);
    await visitor.signIn('Ada Lindqvist');
    for (const view of VIEWS) {
      await openLoaded(visitor, view);
      expect([view, await lowContrast(page)]).toEqual([view, []]);
    }
    await page.getByRole('button', { name: 'Save subscriber' }).click();
    await page.getByText('Enter a subscriber id.').waitFor();
    expect(await lowContrast(page)).toEqual([]);
    using _ = dashboard.answering('POST /v1/notification-groups', { status: 500, body: {} });
    await visitor.open('Groups');
    await page.getByRole('textbox', { name: 'New group' }).fill('Pale');
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('alert').waitFor();
    expect(await lowContrast(page)).toEqual([]);
    await page.getByRole('button', { name: 'Delete Community' }).click();
    expect(await lowContrast(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await page.getByRole('textbox', { name: 'New group' }).fill('');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await visitor.signIn('Ben Osei');
    expect(await lowContrast(page)).toEqual([]);
  });

  it('fits a screen of 360 pixels in every view and state, without horizontal scrolling', async () => {
    await using visitor = await dashboard.visit(browser, { viewport: { width: 360, height: 740 }, hasTouch: true });
    const { page } = visitor;
    const overflow = () => page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    await page.getByText('Ada Lindqvist').waitFor();
    expect(await overflow()).toBe(0);
    await visitor.signIn('Ada Lindqvist');
    for (const view of VIEWS) {
      await openLoaded(visitor, view);
      expect([view, await overflow()]).toEqual([view, 0]);
      const heights = await page
        .getByRole('navigation')
        .getByRole('link')
        .evaluateAll((links) => links.map((link) => link.clientHeight));
      expect(new Set(heights)).toEqual(new Set([44]));
    }
    await openLoaded(visitor, 'Statistics');
    await page.getByText('Show as a table').click();
    expect(await overflow()).toBe(0);
    const frame = page.locator('.table-frame');
    expect(await frame.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBe(0);
    await page.locator('.chart-days label').nth(12).tap();
    expect(await page.getByRole('radio').nth(12).isChecked()).toBe(true);
    const titles = new Set<number>();
    for (let step = 0; step < 7; step += 1) {
      await page.getByRole('button', { name: 'Day before' }).tap();
      titles.add(await page.locator('.day-title').evaluate(({ clientHeight }) => clientHeight));
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
  await visitor.page.getByRole('radio').first().waitFor();
  return visitor;
}

/** Opens a view and waits until its data is loaded. */
async function openLoaded(visitor: Visitor, view: (typeof VIEWS)[number]): Promise<void> {
  const marks = { Statistics: '.chart-bar', Workflows: '.switch', Groups: '.row-name', Subscribers: 'form input' };
  await visitor.open(view);
  await visitor.page.locator(marks[view]).first().waitFor();
  await visitor.page.locator('.skeleton').waitFor({ state: 'detached' });
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
  'radio',
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

/** Returns visible texts with less contrast than 4.5 to 1, or 3 to 1 if they are large (WCAG 2.2, 1.4.3). */
const lowContrast = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
    if (canvas === null) {
      throw new Error('There is no canvas.');
    }
    const toRgba = (color: string) => {
      canvas.clearRect(0, 0, 1, 1);
      canvas.fillStyle = color;
      canvas.fillRect(0, 0, 1, 1);
      return canvas.getImageData(0, 0, 1, 1).data;
    };
    const luminance = (color: string) => {
      const [r = 0, g = 0, b = 0] = [...toRgba(color)].map((byte) => {
        const channel = byte / 255;
        return channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4;
      });
      return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const backgroundOf = (element: Element | null): string => {
      const color = element ? getComputedStyle(element).backgroundColor : 'white';
      return element && toRgba(color)[3] !== 255 ? backgroundOf(element.parentElement) : color;
    };
    const pale: string[] = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
      const element = node.parentElement;
      const text = node.textContent?.trim() ?? '';
      if (
        element === null ||
        text === '' ||
        !element.checkVisibility() ||
        element.closest('.visually-hidden, noscript')
      ) {
        continue;
      }
      const style = getComputedStyle(element);
      const color = element instanceof SVGElement ? style.fill : style.color;
      const [light = 0, dark = 0] = [luminance(color), luminance(backgroundOf(element))].sort((a, b) => b - a);
      const contrast = (light + 0.05) / (dark + 0.05);
      const size = Number.parseFloat(style.fontSize);
      const isLarge = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
      if (contrast < (isLarge ? 3 : 4.5)) {
        pale.push(`${text}: ${contrast.toFixed(2)}`);
      }
    }
    return pale;
  });
