/** Takes the README's screenshots of GraphiQL, with the README's query and in both themes. Run it with `npm run pictures`. */
import { fileURLToPath } from 'node:url';
import type { Browser } from 'playwright-core';
import { SANDBOX_KEYS } from '../../src/sandbox/sandbox.ts';
import { launchBrowser } from './browser.ts';
import { blocks, read } from './docs.ts';
import { startSandboxedGateway } from './gateway.ts';

const IMAGES = fileURLToPath(new URL('../../docs/images/', import.meta.url));

const [QUERY = ''] = blocks(read('README.md'), 'graphql');

async function takePicture(browser: Browser, url: string, colorScheme: 'light' | 'dark'): Promise<void> {
  await using context = await browser.newContext({ colorScheme, viewport: { width: 1280, height: 720 } });
  const page = await context.newPage();
  await page.goto(`${url}?query=${encodeURIComponent(QUERY.trim())}`);
  await page.locator('.graphiql-query-editor .view-lines').click();
  await page.keyboard.press('ControlOrMeta+End');
  await page.keyboard.press('Enter'); // GraphiQL names the tab after the operation once the document is edited.
  await page.locator('.graphiql-tab-button[title="PaymentFailed"]').waitFor();
  await page.getByRole('button', { name: 'Execute query' }).click();
  await page.locator('.graphiql-response', { hasText: 'Payment failed' }).waitFor();
  await page.mouse.move(0, 0); // Hides the button's tooltip.
  await page.evaluate('document.activeElement.blur()');
  await page.screenshot({ path: `${IMAGES}graphiql-${colorScheme}.png`, animations: 'disabled' });
}

const browser = await launchBrowser();
try {
  const graphiql = { authorization: `ApiKey ${SANDBOX_KEYS.development}` };
  await using gateway = await startSandboxedGateway({ options: { graphiql } });
  await takePicture(browser, gateway.url, 'light');
  await takePicture(browser, gateway.url, 'dark');
} finally {
  await browser.close();
}
