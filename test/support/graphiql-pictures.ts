/** Takes the README's screenshots of GraphiQL, with the README's query and in both themes. Run it with `npm run pictures`. */
import { fileURLToPath } from 'node:url';
import type { Browser } from 'playwright-core';
import { SANDBOX_KEYS } from '../../src/sandbox/sandbox.ts';
import { launchBrowser } from './browser.ts';
import { blocks, read } from './docs.ts';
import { startSandboxedGateway } from './gateway.ts';
import { runOperation, visitGraphiql } from './graphiql.ts';

const IMAGES = fileURLToPath(new URL('../../docs/images/', import.meta.url));

const [QUERY = ''] = blocks(read('README.md'), 'graphql');

async function takePicture(browser: Browser, url: string, colorScheme: 'light' | 'dark'): Promise<void> {
  const link = `${url}?query=${encodeURIComponent(QUERY.trim())}`;
  await using visitor = await visitGraphiql(browser, link, { colorScheme, viewport: { width: 1366, height: 768 } });
  const { page } = visitor;
  await runOperation(page);
  await page.locator('.result', { hasText: 'Payment failed' }).waitFor();
  await page.evaluate('document.activeElement.blur()');
  await page.screenshot({ path: `${IMAGES}graphiql-${colorScheme}.png`, animations: 'disabled' });
}

const browser = await launchBrowser();
try {
  const graphiql = { authorization: `ApiKey ${SANDBOX_KEYS.development}`, sandbox: true };
  await using gateway = await startSandboxedGateway({ options: { graphiql } });
  await takePicture(browser, gateway.url, 'light');
  await takePicture(browser, gateway.url, 'dark');
} finally {
  await browser.close();
}
