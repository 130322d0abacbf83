/**
 * Removes one guard at a time in a copy of the project, and expects its test to fail. With every guard in place, all of
 * these tests must pass.
 *
 * npm run guards [-- part of a name, file or test]
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { copyProject, type ProjectCopy } from '../support/project-copy.ts';
import { GUARDS, type Guard } from './guards.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** Copies of the project that are used in parallel. */
const PARALLEL_COPIES = 2;

const TIMEOUT_MS = 120_000;

type Verdict = 'caught' | 'SURVIVED' | 'NOT FOUND';

/** Runs the test file in the copy. @returns whether it fails */
async function testFails(copy: ProjectCopy, test: string): Promise<boolean> {
  const vitest = join(ROOT, 'node_modules/vitest/vitest.mjs');
  const child = spawn(process.execPath, [vitest, 'run', test, '--bail=1'], {
    cwd: copy.path(),
    env: { ...process.env, NOTIGRAPH_TEST_SAMPLES: 'large' },
    stdio: 'ignore',
    timeout: TIMEOUT_MS,
  });
  const [code] = await once(child, 'exit');
  return code !== 0;
}

async function judge(copy: ProjectCopy, { file, without: [found, replacement], test }: Guard): Promise<Verdict> {
  const path = copy.path(file);
  const text = await readFile(path, 'utf8');
  if (!text.includes(found)) {
    return 'NOT FOUND';
  }
  await writeFile(
    path,
    text.replace(found, () => replacement),
  );
  try {
    return (await testFails(copy, test)) ? 'caught' : 'SURVIVED';
  } finally {
    await writeFile(path, text);
  }
}

/** Returns the tests that fail with every guard in place, which would prove nothing. */
async function findBrokenTests(guards: readonly Guard[]): Promise<string[]> {
  await using copy = await copyProject();
  const broken: string[] = [];
  for (const test of new Set(guards.map(({ test }) => test))) {
    console.log(`     with every guard  (${test})`);
    if (await testFails(copy, test)) {
      broken.push(test);
    }
  }
  return broken;
}

const selected = GUARDS.filter(({ name, file, test }) => `${name} ${file} ${test}`.includes(process.argv[2] ?? ''));
const queue = [...selected];
const verdicts = new Map<Guard, Verdict>();

async function work(): Promise<void> {
  await using copy = await copyProject();
  for (let guard = queue.shift(); guard !== undefined; guard = queue.shift()) {
    const verdict = await judge(copy, guard);
    verdicts.set(guard, verdict);
    console.log(
      `${String(verdicts.size).padStart(3)}/${selected.length}  ${verdict.padEnd(9)}  ${guard.name}  (${guard.test})`,
    );
  }
}

const broken = await findBrokenTests(selected);
if (broken.length > 0) {
  throw new Error(`These tests fail with every guard in place: ${broken.join(', ')}`);
}
await Promise.all(Array.from({ length: PARALLEL_COPIES }, work));
const caught = [...verdicts.values()].filter((verdict) => verdict === 'caught').length;
console.log(`\n${caught} of ${selected.length} guards are covered by their test.`);
process.exitCode = caught === selected.length ? 0 : 1;
