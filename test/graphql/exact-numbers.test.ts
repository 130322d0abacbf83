import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { defineModule } from '../../src/modules/index.ts';
import { type GatewayWithService, startGateway } from '../support/gateway.ts';
import { guards } from '../support/guards.ts';
import { subscriber, workflow } from '../support/records.ts';
import type { ServiceResponse } from '../support/service.ts';

guards('src/executor/values/coerce-variables.ts', 'isInexactId');
guards('src/graphql/json-values.ts', 'countNodes');

/** Numbers beyond the safe integers or the range of a double, whether or not a double can represent them. */
const INEXACT = ['-9007199254740993', '9007199254740992', '123456789012345678901234567890', '1.5e300', '1e400'];

const EXACT = ['0', '42', '9007199254740991', '-9007199254740991'];

let gateway: GatewayWithService;
let answer: ServiceResponse;

beforeAll(async () => {
  gateway = await startGateway({ service: () => answer });
  return () => gateway[Symbol.asyncDispose]();
});

beforeEach(() => {
  answer = { body: { data: workflow() } };
});

/** Sends a body, which can have numbers that `JSON.stringify()` would round. */
async function ask(body: string) {
  gateway.service.forget();
  const response = await fetch(gateway.url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/graphql-response+json',
      authorization: 'ApiKey a',
    },
    body,
  });
  return { status: response.status, body: await response.json(), upstream: [...gateway.service.requests] };
}

const operation = (query: string, variables: string) => `{"query":${JSON.stringify(query)},"variables":${variables}}`;

const askFor = (id: string) =>
  ask(operation('query ($id: ID!) { workflow(idOrIdentifier: $id) { id } }', `{"id":${id}}`));
const askForAll = (ids: string) =>
  ask(operation('query ($ids: [ID!]!) { workflows(idsOrIdentifiers: $ids) { id } }', `{"ids":${ids}}`));
const create = (type: string, data: string) =>
  ask(
    operation(
      `mutation ($data: ${type}) { createSubscriber(input: { subscriberId: "n", data: $data }) { __typename } }`,
      `{"data":${data}}`,
    ),
  );

const createWith = (literal: string) =>
  ask(operation(`mutation { createSubscriber(input: { subscriberId: "n", data: ${literal} }) { __typename } }`, '{}'));

describe('a number that JavaScript cannot hold exactly', () => {
  it.each(INEXACT)('is rejected as an id, and in JSON at any depth, before any upstream call: %s', async (number) => {
    for (const response of [
      await askFor(number),
      await askForAll(`["a",${number}]`),
      await create('JSONObject', `{"n":${number}}`),
      await create('JSONObject', `{"a":[{"b":[1,${number}]}]}`),
      await createWith(`{ n: ${number} }`),
    ]) {
      expect(response).toMatchObject({ status: 400, upstream: [] });
      expect(JSON.stringify(response.body)).toContain('send it as a string');
    }
  });

  it('fails only its field if a module returns a bigint in JSON', async () => {
    const numbers = defineModule('numbers', ({ builder, declareCalls, requireScopes }) => {
      builder.queryField('numbers', (t) =>
        t.field({
          type: 'JSON',
          nullable: true,
          extensions: { ...requireScopes('numbers:read'), ...declareCalls('1') },
          description: 'Returns numbers.',
          resolve: () => ({ n: 1n }),
        }),
      );
    });
    await using own = await startGateway({ service: 'healthy', modules: [numbers] });
    const { body } = await own.send('{ numbers a: __typename }');
    expect(body.data).toEqual({ numbers: null, a: 'Query' });
    expect(body.errors).toMatchObject([{ path: ['numbers'], extensions: { code: 'UPSTREAM_BAD_RESPONSE' } }]);
  });

  it.each(INEXACT)('fails only its field if the service sends it as an id or in JSON: %s', async (number) => {
    const sent = JSON.stringify({ data: workflow() });
    const code = 'UPSTREAM_BAD_RESPONSE';
    answer = { body: sent.replace('"_id":"w1"', `"_id":${number}`) };
    const asId = await ask('{"query":"{ workflow(idOrIdentifier: \\"w1\\") { id } a: __typename }"}');
    expect(asId.body).toMatchObject({ data: { workflow: null, a: 'Query' }, errors: [{ extensions: { code } }] });
    answer = { body: sent.replace('"tags"', `"data":{"n":[${number}]},"tags"`) };
    const inJson = await ask('{"query":"{ workflow(idOrIdentifier: \\"w1\\") { name data } }"}');
    expect(inJson.body).toMatchObject({
      data: { workflow: { name: 'Workflow', data: null } },
      errors: [{ extensions: { code } }],
    });
  });
});

describe('a number that JavaScript holds exactly', () => {
  it.each(EXACT)('is accepted as an id from clients and from the service: %s', async (number) => {
    answer = { body: JSON.stringify({ data: workflow() }).replace('"_id":"w1"', `"_id":${number}`) };
    const { body, upstream } = await askFor(number);
    expect(body).toEqual({ data: { workflow: { id: number } } });
    expect(upstream[0]?.path).toBe(`/v1/workflows/${number}`);
  });

  it.each([...EXACT, '0.1', '-1.5e-7', '1234.5'])('is sent unchanged in JSON: %s', async (number) => {
    answer = { status: 201, body: { data: subscriber() } };
    const { upstream } = await create('JSONObject', `{"n":${number}}`);
    expect(JSON.parse(upstream[0]?.body ?? '').data).toEqual({ n: Number(number) });
  });
});

it('an id of many digits keeps all of them, as a string and as a literal', async () => {
  const digits = '12345678901234567890';
  for (const body of [
    operation('query ($id: ID!) { workflow(idOrIdentifier: $id) { id } }', `{"id":"${digits}"}`),
    `{"query":"{ workflow(idOrIdentifier: ${digits}) { id } }"}`,
  ]) {
    expect((await ask(body)).upstream[0]?.path).toBe(`/v1/workflows/${digits}`);
  }
});

it.each([
  ['a fraction', '1.5'],
  ['a boolean', 'true'],
  ['a list', '["a"]'],
  ['an object', '{}'],
])('%s is rejected as an id', async (_, value) => {
  expect(await askFor(value)).toMatchObject({ status: 400, upstream: [] });
});

it('a body that is nested thousands of levels deep is rejected', async () => {
  const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
  for (const data of [deep, `{"a":${deep}}`]) {
    expect(await create('JSONObject', data)).toMatchObject({ status: 400, upstream: [] });
  }
});
