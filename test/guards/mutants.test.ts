import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { findMutants } from './mutants.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

test('every marker of a guard stands before something to take away, and names a test', () => {
  const tests = new Set(findMutants(ROOT).map(({ test }) => test));

  expect([...tests].filter((file) => !existsSync(`${ROOT}${file}`))).toEqual([]);
  expect(tests).not.toHaveLength(0);
});
