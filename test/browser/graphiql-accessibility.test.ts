import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { AxeResults } from 'axe-core';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { launchBrowser } from '../support/browser.ts';
import { type SandboxedGateway, startSandboxedGateway } from '../support/gateway.ts';
import { type GraphiqlVisitor, runOperation, visitGraphiql } from '../support/graphiql.ts';

const AXE = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');

/** Violations in the markup of GraphiQL and its libraries, with the reason that they stay. */
const NOT_OURS: Readonly<Record<string, string>> = {
  'region div[data-radix-popper-content-wrapper=""]': 'Radix puts menus at the end of the body, outside all landmarks.',
  'label-content-name-mismatch .graphiql-history-item-label':
    'GraphiQL names the operations of its history "Set active".',
};

const SIZES = { desktop: { width: 1366, height: 768 }, phone: { width: 390, height: 844 } };

const COLORS = {
  light: { colorScheme: 'light', forcedColors: 'none' },
  dark: { colorScheme: 'dark', forcedColors: 'none' },
  'forced colors': { colorScheme: 'light', forcedColors: 'active' },
} as const;

const SCREENS = Object.entries(SIZES).flatMap(([size, viewport]) =>
  Object.entries(COLORS).map(([name, media]) => ({ title: `${size}, ${name}`, viewport, media })),
);

let browser: Browser;
let gateway: SandboxedGateway;
let visitor: GraphiqlVisitor;

beforeAll(async () => {
  browser = await launchBrowser();
  gateway = await startSandboxedGateway({ options: { graphiql: true } });
  visitor = await visitGraphiql(browser, gateway.url, { bypassCSP: true }); // For axe.
  await visitor.page.evaluate(AXE);
});

afterAll(async () => {
  await browser.close();
  await gateway[Symbol.asyncDispose]();
});

it.each(SCREENS)('GraphiQL has no accessibility violations: $title', async ({ viewport, media }) => {
  const { page } = visitor;
  await page.setViewportSize(viewport);
  await page.emulateMedia(media);
  const found: string[] = [];
  const key = page.getByLabel('API key');

  await key.fill('');
  await page.getByRole('button', { name: 'New tab' }).click(); // Its response pane is empty.
  await page.getByRole('button', { name: 'Run' }).click();
  await page.getByText('Enter your API key').waitFor();
  await page.getByRole('button', { name: 'Docs' }).click();
  await page.getByText('Root Types').waitFor();
  found.push(...(await violations(page)));
  await page.getByRole('button', { name: 'Docs' }).click();
  await page.getByRole('button', { name: 'Close New tab' }).click();

  await key.fill('wrong');
  await page.getByRole('button', { name: 'Workflow', exact: true }).click();
  await runOperation(page);
  await page.locator('.error-help h2').waitFor();
  await page.locator('.cost-bar summary').click();
  await page.getByRole('button', { name: 'Operations' }).click();
  await page.getByRole('menu').waitFor();
  found.push(...(await violations(page)));
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Explain' }).click();
  await page.locator('.plan summary').first().click();
  found.push(...(await violations(page)));
  await page.getByRole('button', { name: 'History' }).click();
  await page.locator('.graphiql-history-item').first().waitFor();
  found.push(...(await violations(page)));
  await page.getByRole('button', { name: 'Close History' }).click();

  expect([...new Set(found)].filter((violation) => !(violation in NOT_OURS))).toEqual([]);
});

/** Returns the violations on the page as `rule selector`. */
async function violations(page: Page): Promise<string[]> {
  const results: AxeResults = await page.evaluate('axe.run({ resultTypes: ["violations"] })');
  return results.violations.flatMap(({ id, nodes }) => nodes.map(({ target }) => `${id} ${target.join(' ')}`));
}
