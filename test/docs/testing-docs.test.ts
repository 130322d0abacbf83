import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { blocks, ROOT, read } from '../support/docs.ts';

const FILES = ['examples/testing/docs.node.test.ts', 'examples/testing/register-customer.node.test.ts'];

it('docs/testing.md shows the tests of an example file', () => {
  expect(blocks(read('docs/testing.md'), 'ts').join('\n')).toBe(read(FILES[0] ?? ''));
});

it('docs/testing-msw.md shows an example that Vitest runs', () => {
  expect(blocks(read('docs/testing-msw.md'), 'ts')).toEqual([read('examples/testing/mocks.vitest.test.ts')]);
});

it('the examples for node:test pass', async () => {
  const options = ['--conditions=notigraph-source', '--test', '--test-isolation=none', '--test-reporter=tap'];
  const run = promisify(execFile)(process.execPath, [...options, ...FILES.map((file) => join(ROOT, file))]);
  const { stdout } = await run;
  const tests = FILES.flatMap((file) => read(file).match(/^test\(/gm) ?? []).length;
  expect(tests).toBeGreaterThan(8);
  expect(stdout).toContain(`# pass ${tests}\n# fail 0`);
});
