// Takes the guards of declared functions away, one at a time, in a copy of the project, and expects their tests to fail:
// npm run guards [-- pattern of files, functions or tests]

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { copyProject, type ProjectCopy } from '../support/project-copy.ts';
import { findMutants, type Mutant } from './mutants.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** Time for one test file. */
const TIMEOUT_MS = 300_000;

/** Tests that may start the command, which is then built again for each change. */
const NOT_QUICK = /\.\w+\.test\.ts$/;

/** Options of quick tests: one process loads the modules for all, and what never comes is awaited for 20 s at most. */
const QUICK = ['--maxWorkers=1', '--testTimeout=20000', '--hookTimeout=20000'];

/** Runs the tests in the copy. @returns whether one of them fails */
async function fails(copy: ProjectCopy, tests: readonly string[], stdio: 'inherit' | 'ignore'): Promise<boolean> {
  const vitest = join(ROOT, 'node_modules/vitest/vitest.mjs');
  const isQuick = !tests.some((test) => NOT_QUICK.test(test));
  const child = spawn(process.execPath, [vitest, 'run', ...tests, '--bail=1', ...(isQuick ? QUICK : [])], {
    cwd: copy.path(),
    env: { ...process.env, NOTIGRAPH_TEST_SAMPLES: 'large', ...(isQuick && { NOTIGRAPH_TEST_QUICK: '1' }) },
    stdio,
    timeout: TIMEOUT_MS * tests.length,
  });
  const [code] = await once(child, 'exit');
  return code !== 0;
}

async function isCaught(copy: ProjectCopy, { file, source, tests }: Mutant): Promise<boolean> {
  const path = copy.path(file);
  const original = await readFile(path, 'utf8');
  await writeFile(path, source);
  try {
    return await fails(copy, tests, 'ignore');
  } finally {
    await writeFile(path, original);
  }
}

const pattern = new RegExp(process.argv[2] ?? '');
const mutants = findMutants(ROOT).filter(({ file, name, tests }) => pattern.test(`${file} ${name} ${tests}`));
const queue = [...mutants];
let caught = 0;

async function work(copy: ProjectCopy): Promise<void> {
  for (let mutant = queue.shift(); mutant !== undefined; mutant = queue.shift()) {
    const wasCaught = await isCaught(copy, mutant);
    caught += Number(wasCaught);
    const { file, line, change, tests } = mutant;
    console.log(`${wasCaught ? 'caught  ' : 'SURVIVED'}  ${file}:${line}  ${change}  (${tests})`);
  }
}

const start = Date.now();
await using first = await copyProject();
await using second = await copyProject();
if (await fails(first, [...new Set(mutants.flatMap(({ tests }) => tests))], 'inherit')) {
  throw new Error('A test fails with every guard in place.');
}
await Promise.all([work(first), work(second)]);
console.log(
  `\n${caught} of ${mutants.length} changes are caught (${Math.ceil((Date.now() - start) / 60_000)} minutes).`,
);
process.exitCode = caught === mutants.length ? 0 : 1;
