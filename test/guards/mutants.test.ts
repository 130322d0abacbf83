import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { findMutants } from './mutants.ts';

test('every declared function exists and has a guard to take away', () => {
  expect(findMutants(fileURLToPath(new URL('../../', import.meta.url)))).not.toHaveLength(0);
});
