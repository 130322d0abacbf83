import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { SANDBOX_KEYS } from '../../packages/sandbox/src/sandbox.ts';
import { type SandboxedGateway, startSandboxedGateway, startScriptedGateway } from '../support/gateway.ts';
import { guards } from '../support/guards.ts';
import { workflow } from '../support/records.ts';

guards('src/http/engine.ts', 'resolveOperation');
guards('src/http/head.ts', 'readHead');

const CREATE = 'mutation Create { createFeed(input: { name: "Unwanted" }) { __typename } }';
const HEADERS = { 'content-type': 'application/json', authorization: `ApiKey ${SANDBOX_KEYS.development}` };

let gateway: SandboxedGateway;

beforeAll(async () => {
  gateway = await startSandboxedGateway();
});
beforeEach(() => gateway.forget());
afterAll(() => gateway[Symbol.asyncDispose]());

const post = (body: object, headers: Record<string, string> = {}) =>
  fetch(gateway.url, { method: 'POST', headers: { ...HEADERS, ...headers }, body: JSON.stringify(body) });

const get = (params: Record<string, string>) =>
  fetch(`${gateway.url}?${new URLSearchParams(params)}`, { headers: HEADERS });

async function codeOf(response: Response): Promise<unknown> {
  const { errors } = await response.json();
  return errors?.[0].extensions.code;
}

describe('before execution', () => {
  it.each(['image/png', 'text/html', 'multipart/mixed', 'application/json; charset=latin1'])(
    'a mutation is rejected if the client accepts only %s',
    async (accept) => {
      const response = await post({ query: CREATE }, { accept });
      expect([response.status, await codeOf(response)]).toEqual([406, 'NOT_ACCEPTABLE']);
      expect(gateway.upstream()).toEqual([]);
    },
  );

  it.each([
    ['with only one operation', { query: CREATE }],
    ['selected by name', { query: `query Read { __typename } ${CREATE}`, operationName: 'Create' }],
    ['with extensions', { query: CREATE, extensions: '{"a":1}' }],
  ])('a mutation sent with GET is rejected, %s', async (_, params) => {
    for (let i = 0; i < 5; i += 1) {
      const response = await get(params);
      expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST']);
      expect(await codeOf(response)).toBe('METHOD_NOT_ALLOWED');
    }
    expect(gateway.upstream()).toEqual([]);
  });

  it('a query sent with GET is executed, even if the document also has a mutation', async () => {
    const params = { query: `query Read { notificationGroups { name } } ${CREATE}`, operationName: 'Read' };
    expect(await codeOf(await get(params))).toBeUndefined();
    expect(gateway.upstream()).toHaveLength(1);
  });

  it.each([
    ['no name for two operations', { query: `query A { __typename } ${CREATE}` }],
    ['an unknown name', { query: CREATE, operationName: 'Other' }],
    ['a name that ends in NUL', { query: CREATE, operationName: 'Create\0' }],
    ['no operation', { query: 'fragment F on Query { __typename }' }],
  ])('an operation that cannot be resolved is rejected: %s', async (_, body) => {
    const response = await post(body);
    expect([response.status, await codeOf(response)]).toEqual([400, 'OPERATION_RESOLUTION_FAILURE']);
    expect(gateway.upstream()).toEqual([]);
  });

  it('invalid variables are rejected with the first five errors and a note that there are more', async () => {
    const response = await post({
      query: 'mutation ($i: CreateSubscribersInput!) { createSubscribers(input: $i) { failed } }',
      variables: { i: { subscribers: Array.from({ length: 90 }, () => ({})) } },
    });
    const { data, errors } = await response.json();
    expect([response.status, data]).toEqual([400, undefined]);
    expect(errors).toHaveLength(6);
    expect(errors[5].message).toMatch(/^Too many errors processing variables/);
    expect(gateway.upstream()).toEqual([]);
  });
});

describe('the executor', () => {
  it('executes the first request of an operation and stops at its limits', async () => {
    const steps = Array.from({ length: 150 }, (_, i) => ({ _id: `s${i}`, name: { not: 'a string' } }));
    await using fresh = await startScriptedGateway(() => ({ body: { data: { ...workflow(), steps } } }));
    const { status, codes } = await fresh.send('{ workflow(idOrIdentifier: "w") { steps { id name } } }');
    expect(status).toBe(200);
    expect(codes).toHaveLength(101);
    expect(codes.slice(0, 100).every((code) => code === 'UPSTREAM_BAD_RESPONSE')).toBe(true);
    expect(codes[100]).toBe('RESULT_LIMIT_EXCEEDED');
  });
});

describe('the log', () => {
  it('has one line per request with its code, regardless of its outcome', async () => {
    const lines = () => gateway.log.filter(({ msg }) => msg === 'operation');
    const before = lines().length;
    const responses = [
      await post({ query: '{ __typename }' }),
      await post({ query: '{ notificationGroups { name } }' }),
      await post({ query: '{' }),
      await post({ query: '{ nothing }' }),
      await post({ query: CREATE }, { accept: 'image/png' }),
      await post({ query: '{ __typename }' }, { authorization: 'Basic x' }),
      await post({ query: '{ __typename }' }, { 'content-type': 'text/plain' }),
      await post([]),
      await get({ query: CREATE }),
      await fetch(`${gateway.url}x`, { method: 'POST', headers: HEADERS, body: '{}' }),
    ];
    const written = lines().slice(before);
    expect(written.map(({ httpStatus, code }) => [httpStatus, code])).toEqual(
      await Promise.all(responses.map(async (response) => [response.status, await codeOf(response)])),
    );
    expect(written.map(({ requestId }) => requestId)).toEqual(
      responses.map(({ headers }) => headers.get('x-request-id')),
    );
  });
});
