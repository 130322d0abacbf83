import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { SANDBOX_KEYS } from '../../packages/sandbox/src/sandbox.ts';
import { type SandboxedGateway, startSandboxedGateway } from '../support/gateway.ts';
import { guards } from '../support/guards.ts';

guards('src/http/engine.ts', 'resolveOperation');
guards('src/http/head.ts', 'readHead');

const CREATE = 'mutation Create { createFeed(input: { name: "Unwanted" }) { __typename } }';
const HEADERS = { 'content-type': 'application/json', authorization: `ApiKey ${SANDBOX_KEYS.development}` };

let gateway: SandboxedGateway;

beforeAll(async () => {
  gateway = await startSandboxedGateway();
  return () => gateway[Symbol.asyncDispose]();
});
beforeEach(() => gateway.forget());

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
});
