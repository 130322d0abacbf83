import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ERROR_CODES } from '../../src/settings/error-codes.ts';
import { SETTINGS } from '../../src/settings/settings.ts';
import { ROOT } from '../support/docs.ts';

const SETTINGS_FOLDER = 'src/settings/';

/** Returns the source files of a pattern, without generated ones. */
const filesOf = (pattern: string): string[] =>
  globSync(pattern, { cwd: ROOT }).filter((file) => !file.endsWith('.gen.ts'));

const sources = new Map(filesOf('src/**/*.ts').map((file) => [file, readFileSync(join(ROOT, file), 'utf8')]));

/** Returns the names that no source file outside of these mentions. */
function findUnused(names: readonly string[], isDeclaration: (file: string) => boolean): string[] {
  const text = [...sources].flatMap(([file, source]) => (isDeclaration(file) ? [] : [source])).join('\n');
  return names.filter((name) => !new RegExp(`\\b${name}\\b`).test(text));
}

it('every setting is used', () => {
  expect(findUnused(Object.keys(SETTINGS), (file) => file.startsWith(SETTINGS_FOLDER))).toEqual([]);
});

it('every error code is used', () => {
  expect(findUnused(Object.keys(ERROR_CODES), (file) => file.startsWith(SETTINGS_FOLDER))).toEqual([]);
});

it.each(filesOf('src/upstream/endpoints/*.ts'))('every endpoint of %s is used', (resource) => {
  const endpoints = [...(sources.get(resource) ?? '').matchAll(/^export (?:const|function) (\w+)/gm)];
  expect(endpoints.length).toBeGreaterThan(0);
  expect(
    findUnused(
      endpoints.map(([, name = '']) => name),
      (file) => file === resource,
    ),
  ).toEqual([]);
});
