import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { HELP } from '../../src/cli/command-line.ts';
import { createSchema } from '../../src/graphql/schema.ts';
import { SANDBOX_KEYS } from '../../src/sandbox/sandbox.ts';
import { startSandboxedGateway } from '../support/gateway.ts';

const read = (file: string) => readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');

const README = read('README.md');

/** The fenced blocks of a language. */
const blocks = (text: string, language: string): string[] =>
  [...text.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, 'gm'))].map(([, block = '']) => block);

it('every query of the README gets the answer that stands below it', async () => {
  const queries = blocks(README, 'graphql');
  const answers = blocks(README, 'json');
  expect(queries.length).toBe(answers.length);
  for (const [i, query] of queries.entries()) {
    await using gateway = await startSandboxedGateway();
    expect((await gateway.send(query)).body).toEqual(JSON.parse(answers[i] ?? ''));
  }
});

it('the README’s curl lines use the sandbox’s key and a query that answers', async () => {
  const curl = blocks(README, 'sh').find((block) => block.startsWith('curl')) ?? '';
  expect(curl).toContain(`ApiKey ${SANDBOX_KEYS.development}`);
  const { query } = JSON.parse(/-d '(.*)'/.exec(curl)?.[1] ?? '');
  await using gateway = await startSandboxedGateway();
  expect(await gateway.data(query)).toEqual({ workflow: { name: 'Payment failed', active: true } });
});

it('docs/operations.md names every root field', () => {
  const operations = read('docs/operations.md');
  const schema = createSchema();
  for (const root of [schema.getQueryType(), schema.getMutationType()]) {
    for (const name of Object.keys(root?.getFields() ?? {})) {
      expect(operations).toMatch(new RegExp(`\`${name}[\`(]`));
    }
  }
});

it('the README names every option and variable of the help', () => {
  const [, table = ''] = /^\| option \|[^\n]*\n([\s\S]*?)\n\n/m.exec(README) ?? [];
  const named = [...HELP.matchAll(/--[a-z]+|NOTIGRAPH_\w+/g)].map(([name]) => name);
  expect(new Set(named).size).toBeGreaterThan(12);
  expect(named.filter((name) => !table.includes(name))).toEqual([]);
});

it('docs/dependencies.md has a line for every dependency', () => {
  const page = read('docs/dependencies.md');
  const packages = ['package.json', 'examples/dashboard/package.json'].map((file) => JSON.parse(read(file)));
  const needed = packages.flatMap(({ dependencies, devDependencies }) =>
    Object.keys({ ...dependencies, ...devDependencies }),
  );
  for (const name of needed) {
    expect(page).toContain(
      name.startsWith('@graphql-codegen/') ? name.replace('@graphql-codegen/', '') : `\`${name}\``,
    );
  }
});
