import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const run = promisify(execFile);

/** Returns the arguments of a process that logs numbered lines in two turns, and exits in the second one. */
const argumentsFor = (linesPerTurn: number) => [
  '--input-type=module',
  '--eval',
  `
    import { writeSync } from 'node:fs';
    import { createLogger } from ${JSON.stringify(new URL('../../src/cli/create-logger.ts', import.meta.url).href)};
    const logger = createLogger({ isProduction: true, workers: 1, logLevel: 'info' }, process);
    const logFrom = (first) => {
      for (let line = first; line < first + ${linesPerTurn}; line += 1) logger.info(String(line));
    };
    logFrom(0);
    setTimeout(() => {
      logFrom(${linesPerTurn});
      writeSync(2, 'exiting');
      process.exit();
    }, 20);
  `,
];

const numbersIn = (output: string): number[] =>
  output
    .trimEnd()
    .split('\n')
    .map((line) => Number((JSON.parse(line) as { msg: string }).msg));

it('every line is printed, in order, even if the process exits in the turn in which it is logged', async () => {
  const { stdout } = await run(process.execPath, argumentsFor(1_000));
  expect(numbersIn(stdout)).toEqual([...Array(2_000).keys()]);
});

it('every line is printed as a whole, in order, even if the reader is slow and the process exits', async () => {
  const child = spawn(process.execPath, argumentsFor(5_000), { stdio: ['ignore', 'pipe', 'pipe'] });
  await once(child.stderr, 'data'); // The process has logged more than fits into the pipe, and exits.
  expect(numbersIn(await text(child.stdout))).toEqual([...Array(10_000).keys()]);
});
