import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { findPrograms } from './programs.ts';

/** Whether the project can be copied, which needs `git`, and the end of the titles of tests that copy it. */
export const { areThere: canCopy, note: gitOnly } = findPrograms('git');

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** Copy of this project in a temporary folder. Disposing removes it. */
export interface ProjectCopy extends AsyncDisposable {
  path(...names: string[]): string;
  read(file: string): Promise<string>;
  /** Runs a program of the copy with the current Node.js and returns its output. Rejects if it fails. */
  run(...args: string[]): Promise<string>;
}

/** Copies the project files that git does not ignore, and links node_modules. */
export async function copyProject(): Promise<ProjectCopy> {
  const folder = await mkdtemp(join(tmpdir(), 'notigraph-copy-'));
  const path = (...names: string[]) => join(folder, ...names);
  const { stdout } = await promisify(execFile)(
    'git',
    ['ls-files', '-z', '--cached', '--others', '--exclude-standard'],
    {
      cwd: ROOT,
      maxBuffer: 10_000_000,
    },
  );
  const files = stdout
    .split('\0')
    .filter((file) => file !== '' && file !== 'node_modules' && existsSync(join(ROOT, file)));
  await Promise.all(files.map((file) => cp(join(ROOT, file), path(file))));
  await symlink(join(ROOT, 'node_modules'), path('node_modules'), 'dir');
  return {
    path,
    read: (file) => readFile(path(file), 'utf8'),
    async run(...args) {
      const result = await promisify(execFile)(process.execPath, args, { cwd: folder });
      return result.stdout + result.stderr;
    },
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}
