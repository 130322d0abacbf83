import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { blocks, ROOT, read } from '../support/docs.ts';

it.each([
  ['docs/testing.md', 'examples/testing/docs.vitest.test.ts'],
  ['docs/testing-msw.md', 'examples/testing/mocks.vitest.test.ts'],
  ['docs/another-service.md', 'examples/testing/plans.ts'],
  ['docs/own-records.md', 'examples/testing/notes.ts'],
])('%s shows an example that Vitest runs', (page, file) => {
  expect(blocks(read(page), 'ts').join('\n')).toBe(read(file));
});

it('docs/modules.md shows a module in parts, and the test that Vitest runs', () => {
  const shown = blocks(read('docs/modules.md'), 'ts');
  expect(shown.slice(0, -1).join('\n')).toBe(read('examples/testing/layouts.ts'));
  expect(shown.at(-1)).toBe(read('examples/testing/layouts.vitest.test.ts'));
});

it('the example for node:test passes', async () => {
  const file = 'examples/testing/register-customer.node.test.ts';
  const options = ['--conditions=notigraph-source', '--test', '--test-isolation=none', '--test-reporter=tap'];
  const run = promisify(execFile)(process.execPath, [...options, join(ROOT, file)]);
  const { stdout } = await run;
  const tests = read(file).match(/^test\(/gm)?.length;
  expect(tests).toBeGreaterThan(2);
  expect(stdout).toContain(`# pass ${tests}\n# fail 0`);
});
