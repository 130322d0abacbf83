/**
 * Takes out one guard of the code at a time, in a copy of the project, and expects the test that is named with it to fail;
 * as it is, every one of them passes.
 *
 * npm run guards [-- part of a name, file or test]
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { GUARDS, type Guard } from './guards.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** What the tests need; the packages are linked. */
const COPIED = [
  'src',
  'test',
  'schema',
  'docs',
  'bin',
  'README.md',
  'package.json',
  'tsconfig.json',
  'tsconfig.build.json',
  'vitest.config.ts',
];

/** Copies that work side by side. */
const LANES = 2;

const TIMEOUT_MS = 120_000;

type Verdict = 'caught' | 'SURVIVED' | 'NOT FOUND';

async function copyProject(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'notigraph-guards-'));
  await Promise.all(COPIED.map((name) => cp(join(ROOT, name), join(folder, name), { recursive: true })));
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'), 'dir');
  return folder;
}

/** Whether the test file fails in the copy. */
async function fails(folder: string, test: string): Promise<boolean> {
  const vitest = join(ROOT, 'node_modules/vitest/vitest.mjs');
  const child = spawn(process.execPath, [vitest, 'run', test, '--bail=1'], {
    cwd: folder,
    env: { ...process.env, NOTIGRAPH_TEST_SAMPLES: 'large' },
    stdio: 'ignore',
    timeout: TIMEOUT_MS,
  });
  const [code] = await once(child, 'exit');
  return code !== 0;
}

async function judge(folder: string, { file, without: [found, replacement], test }: Guard): Promise<Verdict> {
  const path = join(folder, file);
  const text = await readFile(path, 'utf8');
  if (!text.includes(found)) {
    return 'NOT FOUND';
  }
  await writeFile(
    path,
    text.replace(found, () => replacement),
  );
  try {
    return (await fails(folder, test)) ? 'caught' : 'SURVIVED';
  } finally {
    await writeFile(path, text);
  }
}

/** A test that fails with every guard in place proves nothing. */
async function findBrokenTests(guards: readonly Guard[]): Promise<string[]> {
  const folder = await copyProject();
  const broken: string[] = [];
  try {
    for (const test of new Set(guards.map(({ test }) => test))) {
      console.log(`     with every guard  (${test})`);
      if (await fails(folder, test)) {
        broken.push(test);
      }
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  return broken;
}

const wanted = GUARDS.filter(({ name, file, test }) => `${name} ${file} ${test}`.includes(process.argv[2] ?? ''));
const queue = [...wanted];
const verdicts = new Map<Guard, Verdict>();

async function work(): Promise<void> {
  const folder = await copyProject();
  try {
    for (let guard = queue.shift(); guard !== undefined; guard = queue.shift()) {
      const verdict = await judge(folder, guard);
      verdicts.set(guard, verdict);
      console.log(
        `${String(verdicts.size).padStart(3)}/${wanted.length}  ${verdict.padEnd(9)}  ${guard.name}  (${guard.test})`,
      );
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const broken = await findBrokenTests(wanted);
if (broken.length > 0) {
  throw new Error(`These tests fail as it is: ${broken.join(', ')}`);
}
await Promise.all(Array.from({ length: LANES }, work));
const caught = [...verdicts.values()].filter((verdict) => verdict === 'caught').length;
console.log(`\n${caught} of ${wanted.length} guards are held by their test.`);
process.exitCode = caught === wanted.length ? 0 : 1;
