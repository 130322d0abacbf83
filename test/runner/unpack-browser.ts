// Unpacks the browser before the tests, because their processes would disturb each other.

import { unpackBrowser } from '../support/browser.ts';

export default async function unpackForAll(): Promise<void> {
  await unpackBrowser().catch(() => {}); // The tests use another one, or report the problem.
}
