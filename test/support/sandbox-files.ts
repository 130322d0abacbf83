import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Creates a temporary folder for one test. Disposing removes it. */
export async function createTemporaryFolder() {
  const folder = await mkdtemp(join(tmpdir(), 'notigraph-sandbox-'));
  return {
    path: (...names: string[]) => join(folder, ...names),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}
