/**
 * Takes screenshots of the dashboard's views, in both themes and at phone width, into test/screenshots, and copies those that the docs
 * show to docs/images. Run it with `npm run pictures`.
 */
import { copyFile, mkdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { launchBrowser } from './browser.ts';
import { type Dashboard, startDashboard, type Visitor } from './dashboard.ts';

const SCREENSHOTS = fileURLToPath(new URL('../screenshots/', import.meta.url));
const IMAGES = fileURLToPath(new URL('../../docs/images/', import.meta.url));

const DEVICES: Record<string, BrowserContextOptions> = {
  light: { colorScheme: 'light', viewport: { width: 1100, height: 800 } },
  dark: { colorScheme: 'dark', viewport: { width: 1100, height: 800 } },
  phone: { colorScheme: 'light', viewport: { width: 360, height: 740 } },
  'phone-dark': { colorScheme: 'dark', viewport: { width: 360, height: 740 } },
};

/** Screenshots that the docs show, by file name in docs/images. */
const SHOWN = {
  'dashboard-light': 'light-statistics',
  'dashboard-dark': 'dark-statistics',
  'dashboard-workflows-light': 'light-workflows',
  'dashboard-workflows-dark': 'dark-workflows',
};

async function takePictures(dashboard: Dashboard, browser: Browser, device: string): Promise<void> {
  await using visitor = await dashboard.visit(browser, { reducedMotion: 'reduce', ...DEVICES[device] });
  const { page } = visitor;
  const take = (name: string, isWhole = true) =>
    page.screenshot({ path: `${SCREENSHOTS}dashboard-${device}-${name}.png`, fullPage: isWhole });
  await page.getByText('Ada Lindqvist').waitFor();
  await take('sign-in');
  await visitor.signIn('Ada Lindqvist');
  await page.getByText('Order shipped').waitFor();
  await page.locator('.chart-days label').nth(24).click();
  await take('statistics');
  await visitor.open('Workflows');
  await page.getByRole('switch').first().waitFor();
  await take('workflows', false);
  await takeFailures(dashboard, visitor, take);
  await page.getByRole('button', { name: 'Sign out' }).click();
  await visitor.signIn('Ben Osei');
  await visitor.open('Workflows');
  await page.getByRole('switch').first().waitFor();
  await take('viewer', false);
}

async function takeFailures(
  dashboard: Dashboard,
  visitor: Visitor,
  take: (name: string, isWhole?: boolean) => Promise<unknown>,
): Promise<void> {
  const { page } = visitor;
  using _ = dashboard.answering('PUT ', { status: 500, body: {} });
  using __ = dashboard.answering('POST /v1/notification-groups', { status: 409, body: {} });
  using ___ = dashboard.answering('POST /v1/subscribers', { status: 422, body: { message: ['phone is too short'] } });
  await visitor.switchOf().nth(1).click();
  await page.getByRole('alert').waitFor();
  await take('workflows-failure', false);
  await visitor.open('Groups');
  await page.locator('.row-name').first().waitFor();
  await take('groups');
  await create(page, 'Billing');
  await page.getByRole('button', { name: 'Rename Community' }).click();
  await take('groups-failure');
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('button', { name: 'Delete Orders' }).click();
  await take('groups-delete', false);
  await page.keyboard.press('Escape');
  await page.getByRole('textbox', { name: 'New group' }).fill('');
  await visitor.open('Subscribers');
  await take('subscribers');
  await page.getByRole('textbox', { name: 'Subscriber id' }).fill('user-42');
  await page.getByRole('textbox', { name: 'Phone number' }).fill('1');
  await page.getByRole('button', { name: 'Save subscriber' }).click();
  await page.getByRole('alert').waitFor();
  await take('subscribers-failure');
  await page.getByRole('textbox', { name: 'Subscriber id' }).fill('');
  await page.getByRole('textbox', { name: 'Phone number' }).fill('');
}

async function create(page: Page, name: string): Promise<void> {
  await page.getByRole('textbox', { name: 'New group' }).fill(name);
  await page.getByRole('button', { name: 'Create' }).click();
  await page.getByRole('alert').waitFor();
}

await mkdir(SCREENSHOTS, { recursive: true });
const browser = await launchBrowser();
try {
  await using dashboard = await startDashboard();
  for (const device of Object.keys(DEVICES)) {
    await takePictures(dashboard, browser, device);
  }
} finally {
  await browser.close();
}
for (const [image, screenshot] of Object.entries(SHOWN)) {
  await copyFile(`${SCREENSHOTS}dashboard-${screenshot}.png`, `${IMAGES}${image}.png`);
}
