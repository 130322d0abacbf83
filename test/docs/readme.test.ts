import { expect, it } from 'vitest';
import { loadModules } from '../../packages/cli/src/config/load-modules.ts';
import { SANDBOX_KEYS, startSandbox } from '../../packages/sandbox/src/sandbox.ts';
import { SHIPPED_MODULES } from '../../src/modules/shipped.ts';
import { blocks, read } from '../support/docs.ts';
import { startGateway } from '../support/gateway.ts';

const README = read('README.md');

/** Starts a gateway on the sandbox with the shipped modules, as the command does. */
async function start() {
  const modules = await loadModules({ modules: SHIPPED_MODULES });
  const sandbox = await startSandbox();
  const gateway = await startGateway({ upstream: sandbox.url, modules });
  return {
    ...gateway,
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]();
      await sandbox.close();
    },
  };
}

it.each(['README.md', 'docs/errors.md'])('every query of %s gets the response shown below it', async (file) => {
  const text = read(file);
  const examples = [...text.matchAll(/^```graphql\n([\s\S]*?)^```\n\n```json\n([\s\S]*?)^```/gm)];
  expect(examples).toHaveLength(blocks(text, 'graphql').length);
  expect(examples.length).toBeGreaterThan(0);
  for (const [, query = '', answer = ''] of examples) {
    await using gateway = await start();
    expect((await gateway.send(query)).body).toEqual(JSON.parse(answer));
  }
});

it('the README’s curl command uses the sandbox’s key, and triggers an event', async () => {
  const curl = blocks(README, 'sh').find((block) => block.startsWith('curl')) ?? '';
  expect(curl).toContain(`ApiKey ${SANDBOX_KEYS.development}`);
  const { query, variables } = JSON.parse(/-d '(.*)'/s.exec(curl)?.[1] ?? '');
  await using gateway = await start();
  expect(await gateway.data(query, variables)).toEqual({ triggerEvent: { __typename: 'TriggerEventSuccess' } });
});

it('the README’s commands for a fresh machine are those of CI', () => {
  const commands = blocks(README, 'sh').find((block) => block.includes('npm test')) ?? '';
  expect(commands.trim().split(' && ')).toEqual(['npm ci', 'npm test']);
  expect(read('.ci/run')).toContain('\nnpm ci\nnpm test\n');
});

it('the picture of the first minute shows current responses', async () => {
  const rows = read('docs/images/first-minute.svg').match(/<text .*<\/text>/g) ?? [];
  const texts = rows.map((row) =>
    row
      .replaceAll(/<[^>]+>/g, '')
      .replaceAll('&lt;', '<')
      .replaceAll('&amp;', '&'),
  );
  const requests = [...texts.join('\n').matchAll(/-d '(.*?)'/gs)].map(([, body = '']) => JSON.parse(body));
  expect(requests).toHaveLength(5); // One is in what the server prints.
  await using gateway = await start();
  const withoutDay = (text: string) => text.replace(/"date":"[\d-]{10}","count":\d+/, '"date":"…"');
  for (const { query, variables } of requests.slice(1)) {
    const { body } = await gateway.send(query, variables);
    expect(body.errors).toBeUndefined();
    expect(texts.map(withoutDay)).toContain(withoutDay(JSON.stringify(body)));
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
