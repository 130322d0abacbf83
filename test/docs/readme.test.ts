import { expect, it } from 'vitest';
import { COMMANDS } from '../../src/cli/commands/index.ts';
import { writeHelp } from '../../src/cli/help.ts';
import { createSchema } from '../../src/graphql/schema.ts';
import { SANDBOX_KEYS } from '../../src/sandbox/sandbox.ts';
import { variableOf } from '../../src/settings/setting.ts';
import { blocks, read } from '../support/docs.ts';
import { startSandboxedGateway } from '../support/gateway.ts';

const README = read('README.md');

it.each(['README.md', 'docs/errors.md'])('every query of %s gets the response shown below it', async (file) => {
  const text = read(file);
  const examples = [...text.matchAll(/^```graphql\n([\s\S]*?)^```\n\n```json\n([\s\S]*?)^```/gm)];
  expect(examples).toHaveLength(blocks(text, 'graphql').length);
  expect(examples.length).toBeGreaterThan(0);
  for (const [, query = '', answer = ''] of examples) {
    await using gateway = await startSandboxedGateway();
    expect((await gateway.send(query)).body).toEqual(JSON.parse(answer));
  }
});

it('the README’s curl commands use the sandbox’s key and a query that succeeds', async () => {
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

it('docs/configuration.md names every option and variable of the help, or the setting of a variable', () => {
  const page = read('docs/configuration.md');
  const variables = [...page.matchAll(/^\| `([a-z]\w+)`/gm)].map(([, name = '']) => variableOf(name));
  const named = [...writeHelp(COMMANDS[0], COMMANDS).matchAll(/--[a-z][a-z-]+|NOTIGRAPH_\w+/g)].map(([name]) => name);
  expect(new Set(named).size).toBeGreaterThan(12);
  const ofNoSetting = ['--help', '--version'];
  const documented = [...variables, ...ofNoSetting];
  expect(named.filter((name) => !page.includes(name) && !documented.includes(name))).toEqual([]);
});

it('docs/dependencies.md describes every dependency', () => {
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
