import { readdirSync, statSync } from 'node:fs';
import { extname, join } from 'node:path';
import { expect, it } from 'vitest';
import { ROOT, read } from './support/docs.ts';

/** Files and folders whose docstrings are checked. */
const COVERED = ['bench', 'codegen', 'codegen.ts', 'examples', 'packages', 'schema', 'scripts', 'src', 'test'];

const EXTENSIONS = new Set(['.graphql', '.js', '.mjs', '.ts', '.tsx']);

/** Excluded files: installed, built and generated ones. */
const LEFT_OUT = /(?:^|\/)(?:node_modules|dist|\.runtime|[\w-]+\.gen\.ts)(?:\/|$)/;

/** First words of docstrings that start with neither a verb in the third person nor a noun phrase. */
const RIDDLE = /^(?:What|Who|Whose|Whom|Where|How|Is told|Are told)\b/;

/** Returns the docstrings of a file to rewrite, with their lines. */
function findRiddles(file: string, text: string): string[] {
  const docstring = file.endsWith('.graphql') ? /^# (.*)/gm : /\/\*\*\s+(?:\* )?([^\n]*)/g;
  return [...text.matchAll(docstring)].flatMap(({ index, 1: start = '' }) =>
    RIDDLE.test(start) ? [`${file}:${text.slice(0, index).split('\n').length}: ${start}`] : [],
  );
}

const filesBelow = (path: string): string[] =>
  statSync(join(ROOT, path)).isFile()
    ? [path]
    : readdirSync(join(ROOT, path))
        .map((name) => join(path, name))
        .filter((name) => !LEFT_OUT.test(name))
        .flatMap(filesBelow);

it.each(COVERED)('docstrings in %s start with a verb in the third person or a noun phrase', (path) => {
  const files = filesBelow(path).filter((file) => EXTENSIONS.has(extname(file)));
  expect(files.length).toBeGreaterThan(0);
  expect(files.flatMap((file) => findRiddles(file, read(file)))).toEqual([]);
});

it('finds a docstring that starts with a question', () => {
  const riddle = 'What it is.';
  expect(findRiddles('a.ts', `const a = 1;\n/** ${riddle}\n */`)).toEqual([`a.ts:2: ${riddle}`]);
});

const PAGES = [...readdirSync(ROOT), ...['docs', 'deploy', 'examples', 'bench'].flatMap(filesBelow)].filter(
  (file) => file.endsWith('.md') && read(file).startsWith('# '),
);

it.each(PAGES)('%s has a summary below its title', (page) => {
  expect(read(page)).toMatch(/^# [^\n]+\n\n[A-Z`][^|]*?[.:]/);
});
