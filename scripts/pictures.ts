// Takes the pictures in the docs: the first minute in a terminal, GraphiQL with its first operation on the sandbox, and two views and the
// inbox of the dashboard, the last ones in both themes. Run it with `npm run pictures`. It needs curl, and port 4000.

import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Browser } from 'playwright-core';
import { loadModules } from '../packages/cli/src/config/load-modules.ts';
import { SANDBOX_KEYS, startSandbox } from '../packages/sandbox/src/sandbox.ts';
import { SHIPPED_MODULES } from '../src/modules/shipped.ts';
import { launchBrowser } from '../test/support/browser.ts';
import { type Dashboard, startDashboard } from '../test/support/dashboard.ts';
import { startGateway } from '../test/support/gateway.ts';
import { runOperation, visitGraphiql } from '../test/support/graphiql.ts';
import { drawFirstMinute } from './terminal.ts';

const IMAGES = fileURLToPath(new URL('../docs/images/', import.meta.url));

const VIEWPORT = { width: 1366, height: 768 };

type Theme = 'light' | 'dark';

async function takeGraphiql(browser: Browser, url: string, colorScheme: Theme): Promise<void> {
  await using visitor = await visitGraphiql(browser, url, { colorScheme, viewport: VIEWPORT });
  const { page } = visitor;
  await runOperation(page);
  await page.locator('.result', { hasText: 'PROCESSED' }).waitFor();
  await page.evaluate('document.activeElement.blur()');
  await page.screenshot({ path: `${IMAGES}graphiql-${colorScheme}.png`, animations: 'disabled' });
}

async function takeDashboard(browser: Browser, dashboard: Dashboard, colorScheme: Theme): Promise<void> {
  await using visitor = await dashboard.visit(browser, { reducedMotion: 'reduce', colorScheme, viewport: VIEWPORT });
  const { page } = visitor;
  await visitor.signIn('Ada Lindqvist');
  await page.getByText('Order shipped').waitFor();
  await page.locator('.chart-bar').nth(24).click();
  await page.mouse.move(0, 0);
  await page.screenshot({ path: `${IMAGES}dashboard-${colorScheme}.png`, fullPage: true });
  await visitor.openLoaded('Workflows');
  await page.screenshot({ path: `${IMAGES}dashboard-workflows-${colorScheme}.png` });
  await page.getByRole('button', { name: /^Notifications/ }).click();
  await page.getByRole('row').first().waitFor();
  await page.screenshot({
    path: `${IMAGES}dashboard-inbox-${colorScheme}.png`,
    clip: { x: 666, y: 0, width: 700, height: 680 },
  });
}

await writeFile(`${IMAGES}first-minute.svg`, await drawFirstMinute());

const browser = await launchBrowser();
try {
  const graphiql = { authorization: `ApiKey ${SANDBOX_KEYS.development}`, sandbox: true };
  const modules = await loadModules({ modules: SHIPPED_MODULES });
  await using sandbox = await startSandbox();
  await using gateway = await startGateway({ upstream: sandbox.url, graphiql, modules });
  await using dashboard = await startDashboard();
  for (const theme of ['light', 'dark'] as const) {
    await takeGraphiql(browser, gateway.url, theme);
    await takeDashboard(browser, dashboard, theme);
  }
} finally {
  await browser.close();
}
