import type { Plugin } from 'graphql-yoga';
import { expect, it } from 'vitest';
import { createSchema } from '../../src/modules/schema.ts';
import { startGateway } from '../support/gateway.ts';
import { settledBytes } from '../support/heap.ts';

const MIB = 1024 * 1024;

it('plans for the schema of a host plugin are limited in bytes, too', async () => {
  const schema = createSchema();
  const plugin: Plugin = { onPluginInit: ({ setSchema }) => setSchema(schema) };
  await using gateway = await startGateway({ service: 'sandbox', plugins: [plugin] });
  const fields = 'kind name description fields { name description type { kind name ofType { name } } args { name } }';
  const send = async (document: number, conditions: number) => {
    const [a, b, c, d] = [1, 2, 4, 8].map((bit) => (conditions & bit) > 0);
    const query = `query ($a: Boolean!, $b: Boolean!, $c: Boolean!, $d: Boolean!) {
      a${document}: __type(name: "Feed") { ${fields} } b: __type(name: "Workflow") { ${fields} }
      a: __typename @include(if: $a) b${document}: __typename @include(if: $b)
      c: __typename @include(if: $c) d: __typename @include(if: $d)
    }`;
    await gateway.data(query, { a, b, c, d });
  };
  await send(0, 0);
  const before = await settledBytes();
  for (let document = 1; document <= 100; document += 1) {
    for (let conditions = 0; conditions < 16; conditions += 1) {
      await send(document, conditions);
    }
  }
  expect((await settledBytes()) - before).toBeLessThan(30 * MIB);
});
