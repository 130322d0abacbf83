import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { ESLint } from 'eslint';
import { expect, it } from 'vitest';

const cwd = fileURLToPath(new URL('../..', import.meta.url));

const eslint = new ESLint({ cwd, overrideConfigFile: 'test/graphql/eslint.config.js' });

/** Returns one line per problem. */
const linesOf = (results: readonly ESLint.LintResult[]): string[] =>
  results.flatMap(({ filePath, messages }) =>
    messages.map(({ line, ruleId, message }) => `${filePath.slice(cwd.length)}:${line}: ${ruleId}: ${message}`),
  );

it('the documents of the package and of the dashboard follow the rules of graphql-eslint', async () => {
  const results = await eslint.lintFiles(['schema/operations', 'examples/dashboard/documents']);

  expect(linesOf(results)).toEqual([]);
  const folders = new Set(results.map(({ filePath }) => filePath.replace(/\/[^/]+$/, '').slice(cwd.length)));
  expect(folders).toEqual(new Set(['schema/operations', 'examples/dashboard/documents']));
});

it('a selection without its id breaks them', async () => {
  const filePath = 'schema/operations/Workflow.graphql';
  const text = readFileSync(`${cwd}/${filePath}`, 'utf8');

  const results = await eslint.lintText(text.replace('filters {\n        id', 'filters {'), { filePath });

  expect(linesOf(results)).toEqual([expect.stringContaining('Field `filters.id` must be selected')]);
});
