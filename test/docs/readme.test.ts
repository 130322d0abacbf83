import { expect, it } from 'vitest';
import { createSchema } from '../../src/graphql/schema.ts';
import { SANDBOX_KEYS } from '../../src/sandbox/sandbox.ts';
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

it('the picture of the first minute shows current responses', async () => {
  const picture = read('docs/images/first-minute.svg').replaceAll('&lt;', '<').replaceAll('&amp;', '&');
  const requests = [...picture.matchAll(/-d '(.*)'/g)].map(([, body = '']) => JSON.parse(body).query);
  expect(requests).toHaveLength(3); // One is in what the server prints.
  await using gateway = await startSandboxedGateway();
  for (const query of requests.slice(1)) {
    expect(picture).toContain(JSON.stringify((await gateway.send(query)).body));
  }
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

it('docs/contributing/dependencies.md describes every dependency', () => {
  const page = read('docs/contributing/dependencies.md');
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
