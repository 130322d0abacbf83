import axe, { type AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';

/** Appearances of a page: two themes, and the high-contrast palette of an operating system. */
const MEDIA = {
  light: { colorScheme: 'light', forcedColors: 'none' },
  dark: { colorScheme: 'dark', forcedColors: 'none' },
  'forced colors': { colorScheme: 'dark', forcedColors: 'active' },
} as const;

/** Skips passed rules, style sheets (the page forbids to fetch them) and frames, of which there are none. */
const FAST = { resultTypes: ['violations'], preload: false, iframes: false };

/** Only colors differ between the themes, so that the other rules are checked once. */
const ALL_RULES = { ...FAST, rules: { 'target-size': { enabled: true } } };
const COLORS = { ...FAST, runOnly: ['color-contrast', 'link-in-text-block'] };

/** Returns what axe finds on the page in each theme, as `dark: color-contrast: .button`. */
export async function findViolations(page: Page): Promise<string[]> {
  const found: string[] = [];
  if (!(await page.evaluate<boolean>('"axe" in globalThis'))) {
    await page.evaluate(axe.source);
  }
  for (const [theme, media] of Object.entries(MEDIA)) {
    await page.emulateMedia(media);
    const options = JSON.stringify(theme === 'light' ? ALL_RULES : COLORS);
    const { violations } = await page.evaluate<AxeResults>(`axe.run(${options})`);
    for (const { id, nodes } of violations) {
      found.push(...nodes.map(({ target }) => `${theme}: ${id}: ${target.join(' ')}`));
    }
  }
  return found;
}
