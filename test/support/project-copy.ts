// Copies the project into a temporary folder, for tests that change it.

import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, readFile, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { findPrograms } from './programs.ts';
import { createTemporaryFolder } from './sandbox-files.ts';

/** Whether the project can be copied, which needs `git`, and the end of the titles of tests that copy it. */
export const { areThere: canCopy, note: gitOnly } = findPrograms('git');

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** Copy of this project in a temporary folder. */
export type ProjectCopy = Awaited<ReturnType<typeof copyProject>>;

/** Copies the project files that git does not ignore, and links node_modules. Disposing removes the copy. */
export async function copyProject() {
  const folder = await createTemporaryFolder();
  const { path } = folder;
  const args = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  const { stdout } = await promisify(execFile)('git', args, { cwd: ROOT, maxBuffer: 10_000_000 });
  const files = stdout
    .split('\0')
    .filter((file) => file !== '' && file !== 'node_modules' && existsSync(join(ROOT, file)));
  await Promise.all(files.map((file) => cp(join(ROOT, file), path(file))));
  await symlink(join(ROOT, 'node_modules'), path('node_modules'), 'dir');
  return {
    path,
    read: (file: string) => readFile(path(file), 'utf8'),
    /** Runs a program of the copy with the current Node.js and returns its output. Rejects if it fails. */
    async run(...args: string[]): Promise<string> {
      const result = await promisify(execFile)(process.execPath, args, { cwd: path() });
      return result.stdout + result.stderr;
    },
    [Symbol.asyncDispose]: folder[Symbol.asyncDispose],
  };
}
