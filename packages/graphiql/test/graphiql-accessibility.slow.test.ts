import { expect, it } from 'vitest';
import { COLORS, findViolations } from '../../../test/support/axe.ts';
import { runOperation, shareGraphiql } from '../../../test/support/graphiql.ts';

/** Violations in the markup of GraphiQL and its libraries, with the reason that they stay. */
const NOT_OURS: Readonly<Record<string, string>> = {
  'region div[data-radix-popper-content-wrapper=""]': 'Radix puts menus at the end of the body, outside all landmarks.',
  'label-content-name-mismatch .graphiql-history-item-label':
    'GraphiQL names the operations of its history "Set active".',
};

const DESKTOP = { width: 1366, height: 768 };

const SCREENS = [
  { title: 'in the light theme', viewport: DESKTOP, media: { colorScheme: 'light' }, rules: {} },
  { title: 'in the dark theme', viewport: DESKTOP, media: { colorScheme: 'dark' }, rules: COLORS },
  { title: 'with forced colors', viewport: DESKTOP, media: { forcedColors: 'active' }, rules: COLORS },
  { title: 'on a phone', viewport: { width: 390, height: 844 }, media: {}, rules: {} },
] as const;

const shared = shareGraphiql({ bypassCSP: true }, true);

it.each(SCREENS)('GraphiQL has no accessibility violations $title', async ({ viewport, media, rules }) => {
  const { page } = shared;
  await page.setViewportSize(viewport);
  await page.emulateMedia({ colorScheme: 'light', forcedColors: 'none', ...media });
  const found: string[] = [];
  const key = page.getByLabel('API key');
  const expand = async () => {
    if (!(await key.isVisible())) {
      await page.getByRole('button', { name: 'Key and tools' }).click(); // On a phone.
    }
  };

  await expand();
  await key.fill('');
  await page.getByRole('button', { name: 'New tab' }).click(); // Its response pane is empty.
  await page.getByRole('button', { name: 'Run' }).click();
  await page.getByText('Enter your API key').waitFor();
  await page.getByRole('button', { name: 'Docs' }).click();
  await page.getByText('Root Types').waitFor();
  found.push(...(await findViolations(page, rules)));
  await page.getByLabel('Search the docs').fill('feed');
  await page.locator('.docs li').first().waitFor();
  found.push(...(await findViolations(page, rules)));
  await page.getByRole('button', { name: 'Docs' }).click();
  await page.getByRole('button', { name: 'Close New tab' }).click();

  await key.fill('wrong');
  await page.getByRole('button', { name: 'Workflow', exact: true }).click();
  await runOperation(page);
  await page.locator('.error-help h2').waitFor();
  await page.locator('.cost-bar summary').click();
  await page.getByRole('button', { name: 'Operations' }).click();
  await page.getByRole('dialog', { name: 'Operations' }).waitFor();
  found.push(...(await findViolations(page, rules)));
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Copy', exact: true }).click();
  await page.getByRole('menu').waitFor();
  found.push(...(await findViolations(page, rules)));
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Explain' }).click();
  await page.locator('.plan summary').first().click();
  found.push(...(await findViolations(page, rules)));
  await expand();
  await page.getByRole('button', { name: 'Keyboard shortcuts' }).click();
  await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
  found.push(...(await findViolations(page, rules)));
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'History' }).click();
  await page.locator('.graphiql-history-item').first().waitFor();
  found.push(...(await findViolations(page, rules)));
  await page.getByRole('button', { name: 'Close History' }).click();

  expect([...new Set(found)].filter((violation) => !(violation in NOT_OURS))).toEqual([]);
});
