import { describe, expect, it } from 'vitest';
import { loadOperations } from '../../src/documents/shipped-operations.ts';
import { sendToBoth, startGatewayPair, type WireRequest } from '../support/gateway-pair.ts';
import { guards } from '../support/guards.ts';
import { healthyService } from '../support/healthy-service.ts';
import { ofFile } from '../support/lifetime.ts';

guards('src/http/adapters/fetch-adapter.ts', 'FetchRequest.body');
guards('src/http/adapters/node-adapter.ts', 'NodeRequest.body');
guards('src/http/params.ts', 'decodeBody');

const clients = { server: { corsOrigins: ['https://app.example.com'] } };
const gateways = ofFile(await startGatewayPair(healthyService, { clients }));

describe('listener and fetch respond identically', () => {
  it.each(loadOperations().map(({ name, query, variables = '{}' }) => [name, query, variables] as const))(
    '%s',
    async (_, query, variables) => {
      const body = { query, variables: JSON.parse(variables) };
      await sendToBoth(gateways, { body });
      const { status, body: answer } = await sendToBoth(gateways, { body }); // The second request uses the compiled operation.
      expect(status).toBe(200);
      expect(answer).toHaveProperty('data');
    },
  );

  it.each<[string, WireRequest]>([
    [
      'one operation of several',
      { body: { query: 'query A { __typename } query B { notificationGroups { name } }', operationName: 'B' } },
    ],
    ['no query', { body: {} }],
    ['a body that is not JSON', { body: '{' }],
    ['no body', { body: '' }],
    ['another path', { path: '/other', body: { query: '{ __typename }' } }],
    ['a query in the URL of a POST', { path: '/graphql?query={a}', body: { query: '{ __typename }' } }],
    ['GET', { method: 'GET', path: '/graphql?query={__typename}' }],
    ['another content type', { headers: { 'content-type': 'text/plain' }, body: { query: '{ __typename }' } }],
    ['a content encoding', { headers: { 'content-encoding': 'gzip' }, body: { query: '{ __typename }' } }],
    ['no key', { headers: { authorization: '' }, body: { query: '{ notificationGroups { name } }' } }],
    ['a malformed key', { headers: { authorization: 'Bearer x' }, body: { query: '{ __typename }' } }],
    ['an invalid request id', { headers: { 'x-request-id': 'a b' }, body: { query: '{ nothing }' } }],
    ['an allowed origin', { headers: { origin: 'https://app.example.com' }, body: { query: '{ __typename }' } }],
    ['another origin', { headers: { origin: 'https://evil.example.com' }, body: { query: '{ __typename }' } }],
    [
      'a key in the header Idempotency-Key',
      {
        headers: { 'idempotency-key': 'k' },
        body: { query: 'mutation { createFeed(input: { name: "a" }) { __typename } }' },
      },
    ],
    ['a syntax error', { body: { query: '{' } }],
    ['invalid variables', { body: { query: 'query Q($id: ID!) { workflow(idOrIdentifier: $id) { id } }' } }],
    ['a field that fails', { body: { query: '{ __typename workflow(idOrIdentifier: "..") { name } }' } }],
    ['a media type', { headers: { accept: 'application/json' }, body: { query: '{ nothing }' } }],
    ['a media type that is not supported', { headers: { accept: 'image/png' }, body: { query: '{ __typename }' } }],
  ])('for %s', async (_, request) => {
    const { listener, fetch } = await gateways.ask(request);
    // An invalid request id is replaced by a generated one.
    const idOf = (answer: unknown) => JSON.stringify(answer).replace(/[\da-f]{8}-[\da-f-]{27}/g, 'an id');
    expect(idOf(listener)).toEqual(idOf(fetch));
  });

  it('to a body that is not UTF-8, of which nothing is sent', async () => {
    const mutation = 'mutation { createFeed(input: { name: "Übung" }) { __typename } }';
    const { status, body, upstream } = await sendToBoth(gateways, {
      body: Buffer.from(JSON.stringify({ query: mutation }), 'latin1'),
    });
    expect([status, upstream]).toEqual([400, []]);
    expect(body).toMatchObject({
      errors: [{ message: 'The request body is not UTF-8.', extensions: { code: 'BAD_REQUEST' } }],
    });
  });
});

it.each([false, true])('both reject a body that is too large while reading it, in chunks: %s', async (isChunked) => {
  const body = { query: `{ __typename } #${'x'.repeat(300_000)}` };
  const { status, headers } = await sendToBoth(gateways, { body, isChunked });
  expect([status, headers.connection]).toEqual([413, 'close']);
});
