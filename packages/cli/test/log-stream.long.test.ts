import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';

const LOGGER = JSON.stringify(new URL('../src/logger.ts', import.meta.url).href);

/** Returns the arguments of a process that logs numbered lines in two turns, and exits in the second one. */
const argumentsFor = (linesPerTurn: number) => [
  '--input-type=module',
  '--eval',
  `
    import { writeSync } from 'node:fs';
    import { createLogger } from ${LOGGER};
    const logger = createLogger({ isProduction: true, workers: 1, logLevel: 'info', logFormat: 'auto', logErrorTexts: true }, process, process.stdout);
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

const linesIn = (output: string): Record<string, unknown>[] =>
  output
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));

const numbersIn = (output: string): number[] => linesIn(output).map(({ msg }) => Number(msg));

it('every line is printed, in order, even if the process exits in the turn in which it is logged', async () => {
  const child = spawn(process.execPath, argumentsFor(1_000));
  expect(numbersIn(await text(child.stdout))).toEqual([...Array(2_000).keys()]);
});

it('every line is printed as a whole, in order, even if the reader is slow and the process exits', async () => {
  const child = spawn(process.execPath, argumentsFor(5_000));
  await once(child.stderr, 'data'); // The process has logged more than fits into the pipe, and exits.
  expect(numbersIn(await text(child.stdout))).toEqual([...Array(10_000).keys()]);
});

/** Returns the arguments of a process that logs 10,000 lines of 1 KB, more than its limit on lines that wait, and then runs the code. */
const argumentsForDropping = (maxWaitingBytes: number, end: string) => [
  '--input-type=module',
  '--eval',
  `
    import { writeSync } from 'node:fs';
    import { createLogStream } from ${LOGGER};
    const stream = createLogStream(process, process.stdout, undefined, ${maxWaitingBytes});
    const line = (number) => JSON.stringify({ number, text: 'x'.repeat(1000) }) + '\\n';
    let number = 0;
    const turn = () => {
      for (let i = 0; i < 100; i += 1) stream.write(line(number++));
      if (number < 10_000) return setImmediate(turn);
      writeSync(2, 'logged');
      ${end}
    };
    turn();
  `,
];

/**
 * Expects some of 10,000 lines in order, and a last one with the number of those that are missing. Later lines can be among them, because pipes
 * take some bytes before they are read.
 */
function expectLinesAndCount(output: string, maxLines: number): void {
  const lines = linesIn(output);
  const numbers = lines.flatMap(({ number }) => (typeof number === 'number' ? [number] : []));
  expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b));
  expect(numbers[0]).toBe(0);
  expect(numbers.length).toBeLessThan(maxLines);
  expect(lines.at(-1)).toEqual({
    level: 'warn',
    time: expect.stringMatching(/^\d{4}-.+Z$/),
    pid: expect.any(Number),
    hostname: expect.any(String),
    dropped: 10_000 - numbers.length,
    msg: 'log lines were dropped, because the reader of the output is slower than the log',
  });
}

it('what waits for a slow reader is limited, and a line tells how many were dropped', async () => {
  using child = spawn(process.execPath, argumentsForDropping(1024 * 1024, 'process.stdin.resume();'));
  await once(child.stderr, 'data');
  let output = '';
  for await (const chunk of child.stdout.setEncoding('utf8')) {
    output += chunk;
    if (/"dropped".*\n$/.test(output)) {
      break;
    }
  }
  expectLinesAndCount(output, 2_000);
});

it('the last line tells how many were dropped if the process exits before', async () => {
  const child = spawn(process.execPath, argumentsForDropping(1024 * 1024, 'process.exit();'));
  await once(child.stderr, 'data');
  expectLinesAndCount(await text(child.stdout), 2_000);
});

it('the process exits without the lines that a reader is too slow for', async () => {
  const child = spawn(process.execPath, argumentsForDropping(8 * 1024 * 1024, 'process.exit();'));
  await once(child.stderr, 'data');
  let output = '';
  for await (const chunk of child.stdout.setEncoding('utf8')) {
    output += chunk;
    await sleep(100); // So slow that 8 MB take longer than 5 s.
  }
  const numbers = linesIn(output).map(({ number }) => number);
  expect(numbers).toEqual([...numbers.keys()]);
  expect(numbers.length).toBeLessThan(8_000);
});
