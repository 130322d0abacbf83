// Checks the accessibility of pages with axe.

import axe, { type AxeResults, type RunOptions } from 'axe-core';
import type { Page } from 'playwright-core';

/** Rules about colors. Only these need to be checked again in another theme. */
export const COLORS: RunOptions = { runOnly: ['color-contrast', 'link-in-text-block'] };

/** Skips passed rules, style sheets (the page forbids to fetch them) and frames, of which there are none. */
const FAST: RunOptions = { resultTypes: ['violations'], preload: false, iframes: false };

/** Returns what axe finds on the page, as `color-contrast .button`. */
export async function findViolations(page: Page, options: RunOptions = {}): Promise<string[]> {
  if (!(await page.evaluate<boolean>('"axe" in globalThis'))) {
    await page.evaluate(axe.source);
  }
  const { violations } = await page.evaluate<AxeResults>(`axe.run(${JSON.stringify({ ...FAST, ...options })})`);
  return violations.flatMap(({ id, nodes }) => nodes.map(({ target }) => `${id} ${target.join(' ')}`));
}
