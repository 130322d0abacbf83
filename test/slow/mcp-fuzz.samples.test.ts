import fc from 'fast-check';
import { expect, it } from 'vitest';
import { loadOperations } from '../../src/documents/shipped-operations.ts';
import { connectAgent, postToTools } from '../support/agent.ts';
import { type Choices, readTape } from '../support/choices.ts';
import { startGateway } from '../support/gateway.ts';
import { guards } from '../support/guards.ts';

import { sampleSize } from '../support/samples.ts';

guards('src/mcp/protocol/messages.ts', 'findJsonProblem');

const KEY = 'ApiKey key-of-a-server';

/** Parts of the JSON Schema of arguments. */
interface Schema {
  type?: string | string[];
  enum?: unknown[];
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
}

/** Values that GraphQL accepts for no variable of the type. */
const WRONG: Record<string, [unknown, ...unknown[]]> = {
  string: [{ a: 1 }, [{}], true, 1.5],
  integer: ['1', 1.5, 2 ** 40, [1, 'x'], {}],
  number: ['1', {}],
  boolean: ['true', 1, {}],
  object: ['text', 5, [1], true],
};

const typeOf = ({ type }: Schema): string | undefined => (Array.isArray(type) ? type[0] : type);

/** Returns a value that is wrong in one place: its type, a member that is missing or null, or an unknown one. */
function corrupt(schema: Schema, choices: Choices): unknown {
  if (schema.items !== undefined) {
    return [corrupt(schema.items, choices)];
  }
  if (schema.properties === undefined) {
    return choices.of(schema.enum === undefined ? (WRONG[typeOf(schema) ?? ''] ?? [{}]) : ['NO_SUCH_VALUE', 5, {}]);
  }
  const { properties, required = [] } = schema;
  const valid = Object.fromEntries(required.map((name) => [name, validValue(properties[name] ?? {})]));
  const [kind, name] = choices.of<[string, string]>([
    ['unknown', 'colour'],
    ['unknown', '__proto__'],
    ['unknown', 'constructor'],
    ...Object.keys(properties).map((member): [string, string] => ['wrong', member]),
    ...required.flatMap((member): [string, string][] => [
      ['missing', member],
      ['null', member],
    ]),
  ]);
  if (kind === 'missing') {
    return Object.fromEntries(Object.entries(valid).filter(([member]) => member !== name));
  }
  const wrong = kind === 'wrong' ? corrupt(properties[name] ?? {}, choices) : kind === 'null' ? null : 1;
  return Object.fromEntries([...Object.entries(valid), [name, wrong]]);
}

function validValue(schema: Schema): unknown {
  if (schema.properties !== undefined) {
    const { properties, required = [] } = schema;
    return Object.fromEntries(required.map((name) => [name, validValue(properties[name] ?? {})]));
  }
  const values: Record<string, unknown> = { string: 'a', integer: 1, number: 1, boolean: true, object: {} };
  return schema.items !== undefined ? [validValue(schema.items)] : (schema.enum?.[0] ?? values[typeOf(schema) ?? '']);
}

it('1,000 invalid calls cause no REST call, and each is answered with an error', async () => {
  const operations = loadOperations();
  const mutations = operations.filter(({ query }) => /^mutation/m.test(query)).map(({ name }) => name);
  const manifest = Object.fromEntries(operations.map(({ name, query }) => [name, query]));
  await using gateway = await startGateway({ service: 'healthy', mcp: { manifest, mutations } });
  await using agent = await connectAgent(gateway, KEY);
  const { tools } = await agent.client.listTools();
  const schemas = tools.map(({ name, inputSchema }): [string, Schema] => [
    name,
    JSON.parse(JSON.stringify(inputSchema)),
  ]);

  /** Sends any message as JSON, and returns whether the response is an error. */
  async function send(body: string): Promise<boolean> {
    const response = await postToTools(gateway, undefined, {}, { body });
    const text = await response.text();
    return response.status >= 400 || text.includes('"isError":true') || text.includes('"error":{');
  }

  const callOf = (params: unknown) => ({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
  const wrongArguments = fc
    .tuple(fc.constantFrom(...schemas), fc.array(fc.nat(10_000), { minLength: 12, maxLength: 12 }))
    .map(([[name, schema], numbers]) => callOf({ name, arguments: corrupt(schema, readTape(numbers)) }));
  const anyName = fc.string().filter((name) => !schemas.some(([known]) => known === name));
  const wrongMessage = fc.oneof(
    fc.record({ name: anyName, arguments: fc.dictionary(fc.string(), fc.jsonValue()) }).map(callOf),
    fc
      .record({ name: fc.constantFrom(...tools.map(({ name }) => name)), arguments: fc.jsonValue() })
      .filter(({ arguments: args }) => typeof args !== 'object' || args === null || Array.isArray(args))
      .map(callOf),
    fc
      .jsonValue()
      .filter((params) => typeof params !== 'object')
      .map(callOf),
    fc.jsonValue().filter((message) => !(Array.isArray(message) && message.length === 0)),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.oneof({ weight: 3, arbitrary: wrongArguments }, { weight: 1, arbitrary: wrongMessage }),
      async (message) => {
        expect(await send(JSON.stringify(message))).toBe(true);
        expect(gateway.service.calls()).toEqual([]);
      },
    ),
    { numRuns: sampleSize(60, 1_000) },
  );
  const deep = JSON.stringify(callOf({ name: 'CreateFeed', arguments: { input: [] } }));
  expect(await send(deep.replace('[]', '['.repeat(100_000) + ']'.repeat(100_000)))).toBe(true);
  expect(gateway.log.filter(({ level }) => Number(level) >= 50)).toEqual([]);
  expect((await agent.call('NotificationGroups')).isError).toBe(false);
});
