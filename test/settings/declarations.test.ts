import { globSync } from 'node:fs';
import { expect, it } from 'vitest';
import { SETTINGS } from '../../packages/cli/src/config/settings.ts';
import { ERROR_CODES } from '../../src/errors/codes.ts';
import { ROOT, read } from '../support/docs.ts';

/** Text of all source files except generated ones and those that declare settings. */
const text = globSync('{src,packages/cli/src}/**/*.ts', { cwd: ROOT })
  .filter((file) => !file.endsWith('.gen.ts') && !file.startsWith('src/settings/') && !file.endsWith('/settings.ts'))
  .map(read)
  .join('\n');

it.each([
  ['setting', SETTINGS],
  ['error code', ERROR_CODES],
])('every %s is used', (_, table) => {
  expect(Object.keys(table).filter((name) => !new RegExp(`\\b${name}\\b`).test(text))).toEqual([]);
});
