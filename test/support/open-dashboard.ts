import type { Browser } from 'playwright-core';
import { afterAll } from 'vitest';
import { launchBrowser } from './browser.ts';
import { type Dashboard, startDashboard } from './dashboard.ts';

/** Starts a browser and a dashboard for all tests of a file, and stops them afterwards. */
export async function openDashboard(): Promise<{ browser: Browser; dashboard: Dashboard }> {
  const [browser, dashboard] = await Promise.all([launchBrowser(), startDashboard()]);
  afterAll(async () => {
    await browser.close();
    await dashboard[Symbol.asyncDispose]();
  });
  return { browser, dashboard };
}
