/**
 * Takes screenshots of the dashboard's views, in both themes, with forced colors and on a phone, into test/screenshots, and copies those that the docs
 * show to docs/images. Run it with `npm run pictures`.
 */
import { copyFile, mkdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { launchBrowser } from './browser.ts';
import { type Dashboard, startDashboard, type Visitor } from './dashboard.ts';

const SCREENSHOTS = fileURLToPath(new URL('../screenshots/', import.meta.url));
const IMAGES = fileURLToPath(new URL('../../docs/images/', import.meta.url));

const LAPTOP = { viewport: { width: 1366, height: 768 } };
const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true };

const DEVICES: Record<string, BrowserContextOptions> = {
  light: { colorScheme: 'light', ...LAPTOP },
  dark: { colorScheme: 'dark', ...LAPTOP },
  'forced-colors': { colorScheme: 'dark', forcedColors: 'active', ...LAPTOP },
  phone: { colorScheme: 'light', ...PHONE },
  'phone-dark': { colorScheme: 'dark', ...PHONE },
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
  await page.locator('.chart-bar').nth(24).click();
  await page.mouse.move(0, 0);
  await take('statistics');
  await visitor.openLoaded('Workflows');
  await take('workflows', false);
  await page.getByRole('textbox', { name: 'Find any workflow' }).fill('review-request');
  await page.keyboard.press('Enter');
  await page.getByText('Found by').waitFor();
  await take('workflows-found', false);
  await visitor.switchOf('Payment failed').click();
  await take('workflows-critical', false);
  await page.keyboard.press('Escape');
  await takeFeedsAndMessages(visitor, take);
  await takeFailures(dashboard, visitor, take);
  await page.getByRole('button', { name: 'Sign out' }).click();
  await visitor.signIn('Ben Osei');
  await visitor.openLoaded('Workflows');
  await take('viewer', false);
  await visitor.open('Messages');
  await take('viewer-messages', false);
}

type Take = (name: string, isWhole?: boolean) => Promise<unknown>;

async function takeFeedsAndMessages({ page, open }: Visitor, take: Take): Promise<void> {
  await open('Feeds');
  await page.getByRole('textbox', { name: 'New feed' }).fill('Product news');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Delete Product news' }).waitFor();
  await take('feeds');
  await page.getByRole('button', { name: 'Delete Product news' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
  await page.getByText('“Product news” was deleted.').waitFor();
  await open('Messages');
  await page.getByRole('textbox', { name: 'Transaction id' }).fill('sample-transaction-0001');
  await page.getByRole('button', { name: 'Delete…' }).click();
  await take('messages', false);
  await page.keyboard.press('Escape');
  await page.getByRole('textbox', { name: 'Transaction id' }).fill('');
}

async function takeFailures(dashboard: Dashboard, visitor: Visitor, take: Take): Promise<void> {
  const { page } = visitor;
  using _ = dashboard.answering('PUT ', { status: 500, body: {} });
  using __ = dashboard.answering('POST /v1/notification-groups', { status: 409, body: {} });
  using ___ = dashboard.answering('POST /v1/subscribers', { status: 422, body: { message: ['phone is too short'] } });
  await visitor.openLoaded('Workflows');
  await visitor.switchOf('Weekly digest').click();
  await page.getByRole('alert').waitFor();
  await take('workflows-failure', false);
  await visitor.open('Groups');
  await page.locator('.row-name').first().waitFor();
  await take('groups');
  await create(page, 'Shipping');
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
  await page.getByRole('button', { name: 'Create', exact: true }).click();
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
