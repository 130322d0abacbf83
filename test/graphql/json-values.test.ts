import { isDeepStrictEqual } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { containsLargeObject } from '../../src/upstream/transport/body.ts';
import { type GatewayWithService, startGateway } from '../support/gateway.ts';
import { guards } from '../support/guards.ts';
import { workflow } from '../support/records.ts';

guards('src/graphql/json-values.ts', 'addNodes');
guards('src/upstream/transport/body.ts', 'readJson');

let gateway: GatewayWithService;
let data = '';

beforeAll(async () => {
  gateway = await startGateway({
    service: () => ({
      body: JSON.stringify({ data: workflow() }).replace('"tags"', () => `"data":${data},"tags"`),
    }),
  });
  return () => gateway[Symbol.asyncDispose]();
});

const READ = '{ workflow(idOrIdentifier: "w1") { name data } }';

const members = (count: number) => `{${Array.from({ length: count }, (_, i) => `"k${i}":1`).join(',')}}`;
const items = (count: number, item = '1') => `[${Array(count).fill(item).join(',')}]`;

describe('a JSON value of the service', () => {
  it('may have 100,000 members and items across all levels', async () => {
    for (const value of [
      members(100_000),
      `{"a":${items(99_999)}}`,
      `{"a":${items(33_333, '{"a":1,"b":2}')}}`.replace('{"a":1,"b":2},', ''),
    ]) {
      data = value;
      const { body } = await gateway.send(READ);
      const expected = { workflow: { name: 'Workflow', data: JSON.parse(value) } };
      expect(isDeepStrictEqual(body.data, expected)).toBe(true); // Faster than toEqual().
    }
  });

  it.each([
    ['more items', `{"a":${items(100_000)}}`],
    ['more members and items', `{"a":${items(40_000, '{"a":1,"b":2}')}}`],
    ['a key __proto__', '{"__proto__":{"polluted":true}}'],
  ])('with %s fails only its field', async (_, value) => {
    data = value;
    const { body, codes } = await gateway.send(READ);
    expect([body.data, codes]).toEqual([{ workflow: { name: 'Workflow', data: null } }, ['UPSTREAM_BAD_RESPONSE']]);
  });

  it('that is a single huge object is rejected with its whole body before parsing', async () => {
    data = members(380_000);
    const { body, codes } = await gateway.send(READ);
    expect([body.data, codes]).toEqual([{ workflow: null }, ['UPSTREAM_BAD_RESPONSE']]);
  });
});

it('a JSON value of a client has the same limit', async () => {
  const { status, codes, body } = await gateway.send(
    'mutation ($data: JSONObject) { createSubscriber(input: { subscriberId: "n", data: $data }) { __typename } }',
    { data: { a: Array(110).fill(Array(1_000).fill(1)) } }, // No list exceeds the limit on input lists.
  );
  expect([status, codes]).toEqual([400, ['BAD_USER_INPUT']]);
  expect(body.errors?.[0]?.message).toContain('JSON cannot represent more than 100000 members and items in one value.');
});

it('objects of the service are counted before parsing, but not characters in strings', () => {
  const isRejected = (json: string) => containsLargeObject(Buffer.from(json.padEnd(1024 * 1024, ' ')));
  expect(isRejected(members(100_001))).toBe(true);
  expect(isRejected(members(100_000))).toBe(false);
  expect(isRejected(`[${items(100_001, '{"a":1}')}]`)).toBe(false);
  expect(isRejected(`[{"a":1},{"a":[${members(100_001)}]}]`)).toBe(true);
  expect(isRejected(`{"a":"${':{'.repeat(200_000)}"}`)).toBe(false);
  expect(isRejected(`{"\\"a\\\\":"${':\\"'.repeat(200_000)}"}`)).toBe(false);
  for (const invalid of ['}', '"', '\\', '{"', '"\\', ':', '[', '{', ']', '{}}}']) {
    expect(isRejected(invalid.repeat(1_000))).toBe(false);
  }
});
