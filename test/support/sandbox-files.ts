// Creates temporary folders, and removes them after the tests.

import { mkdtempSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, onTestFinished } from 'vitest';
import { ofTest } from './lifetime.ts';

/** Creates a temporary folder for one test. Disposing removes it. */
export async function createTemporaryFolder() {
  const folder = await mkdtemp(join(tmpdir(), 'notigraph-sandbox-'));
  return {
    path: (...names: string[]) => join(folder, ...names),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}

/** Creates a temporary folder that is removed at the end of the test. */
export const createTestFolder = async () => ofTest(await createTemporaryFolder());

/** Creates a temporary folder for each test of the file. */
export function createFolderOfEachTest() {
  let folder: Awaited<ReturnType<typeof createTestFolder>>;
  beforeEach(async () => {
    folder = await createTestFolder();
  });
  return { path: (...names: string[]) => folder.path(...names) };
}

/** Creates an empty folder that is removed at the end of the test. */
export function createEmptyFolder(): string {
  const path = mkdtempSync(join(tmpdir(), 'notigraph-'));
  onTestFinished(() => rm(path, { recursive: true, force: true }));
  return path;
}
