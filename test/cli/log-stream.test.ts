import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const run = promisify(execFile);

it('every line is printed, in order, even if the process exits in the turn in which it is logged', async () => {
  const script = `
    import { createLogger } from ${JSON.stringify(new URL('../../src/cli/create-logger.ts', import.meta.url).href)};
    const logger = createLogger({ isProduction: true, workers: 1, logLevel: 'info' }, process);
    const logFrom = (first) => {
      for (let line = first; line < first + 1000; line += 1) logger.info(String(line));
    };
    logFrom(0);
    setTimeout(() => {
      logFrom(1000);
      process.exit();
    }, 20);
  `;
  const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', script]);
  const lines = stdout.trimEnd().split('\n');
  expect(lines.map((line) => Number((JSON.parse(line) as { msg: string }).msg))).toEqual([...Array(2_000).keys()]);
});
