import { serverAudits } from 'graphql-http';
import { beforeEach, describe, expect, it } from 'vitest';
import { startGateway } from '../support/gateway.ts';
import { guards } from '../support/guards.ts';
import { ofFile } from '../support/lifetime.ts';

guards('src/auth/authenticate.ts', 'createAuth.identifyNow');

const gateway = ofFile(await startGateway({ service: 'sandbox' }));
beforeEach(() => gateway.forget());

describe('GraphQL over HTTP', () => {
  // GET requests need a header that triggers a preflight (CSRF prevention).
  const fetchFn = (url: string, init: RequestInit = {}) =>
    fetch(url, {
      ...init,
      headers: { ...Object.fromEntries(new Headers(init.headers)), 'graphql-require-preflight': 'true' },
    });
  for (const audit of serverAudits({ url: () => gateway.url, fetchFn })) {
    it(audit.name, async () => {
      const result = await audit.fn();
      expect(result.status === 'ok' ? 'ok' : `${result.status}: ${result.reason}`).toBe('ok');
    });
  }
});

describe('the Authorization header', () => {
  it.each(['Bearer x', 'ApiKey', 'ApiKey ', 'ApiKey  x', 'ApiKey a b', 'apikey  x', 'ApiKey\tx', 'x', 'Basic YTpi'])(
    'is rejected with 401 before any upstream call when it is %j',
    async (authorization) => {
      const { status, headers, body } = await gateway.send(
        '{ __typename notificationGroups { name } }',
        {},
        { authorization },
      );
      expect(status).toBe(401);
      expect(headers.get('www-authenticate')).toBe('ApiKey realm="notigraph"');
      expect(body).toMatchObject({ errors: [{ extensions: { code: 'UNAUTHENTICATED', retryable: false } }] });
      expect(body).not.toHaveProperty('data');
      expect(gateway.upstream()).toHaveLength(0);
    },
  );

  it.each([
    ['a query', '{ __typename notificationGroups { name } }', undefined],
    [
      'a query that may skip the field',
      'query ($skip: Boolean = false) { feed: notificationGroups @skip(if: $skip) { name } }',
      undefined,
    ],
    [
      'a mutation',
      'mutation { createSubscribers(input: { subscribers: [{ subscriberId: "a" }] }) { failed } }',
      'NOT_APPLIED',
    ],
  ])('is required before anything runs if a scope is: %s', async (_, query, outcome) => {
    const { status, headers, body } = await gateway.send(query, {}, { authorization: null });
    expect([status, headers.get('www-authenticate')]).toEqual([401, 'ApiKey realm="notigraph"']);
    expect(body).not.toHaveProperty('data');
    expect(body.errors).toMatchObject([
      {
        message:
          'The Authorization header is missing. Send "Authorization: ApiKey <your key>", with one space in between.',
        extensions: { code: 'UNAUTHENTICATED', retryable: false, ...(outcome && { outcome }) },
      },
    ]);
    expect(gateway.upstream()).toHaveLength(0);
  });

  it('is not required for introspection, and for fields that are skipped', async () => {
    const query = '{ __typename __schema { queryType { name } } notificationGroups @skip(if: true) { name } }';
    const { status, body } = await gateway.send(query, {}, { authorization: null });
    expect([status, body]).toEqual([
      200,
      { data: { __typename: 'Query', __schema: { queryType: { name: 'Query' } } } },
    ]);
  });
});

it('sends a fixed set of headers upstream and forwards no others', async () => {
  const headers = {
    cookie: 'a=b',
    'x-forwarded-for': '10.0.0.1',
    'x-anything': 'x',
    'accept-language': 'de',
    'x-request-id': 'caller-1',
  };
  await gateway.data('mutation { createFeed(input: { name: "Headers" }) { __typename } }', {}, { headers });
  const sent = gateway.upstream()[0]?.headers;
  expect(Object.keys(sent ?? {}).toSorted()).toEqual([
    'accept',
    'authorization',
    'connection',
    'content-length',
    'content-type',
    'host',
    'user-agent',
    'x-request-id',
  ]);
  expect(sent).toMatchObject({
    accept: 'application/json',
    'content-type': 'application/json',
    'x-request-id': 'caller-1',
    'user-agent': expect.stringMatching(/^notigraph\/\d/),
  });
});

it.each([
  ['application/json; charset=utf8', 'application/json'],
  ['application/graphql-response+json; charset="UTF8", application/json;q=0.5', 'application/graphql-response+json'],
  ['*/*;charset=utf-8', 'application/json'],
  ['application/json; charset=latin1', undefined],
  ['application/json; charset=utf16', undefined],
])('responds to Accept: %s with %s', async (accept, mediaType) => {
  const { status, headers } = await gateway.send('{ __typename }', {}, { headers: { accept } });
  const type = mediaType === undefined ? 'application/json' : mediaType;
  expect([status, headers.get('content-type')]).toEqual([mediaType ? 200 : 406, `${type}; charset=utf-8`]);
});

it('returns the client’s request id, or a generated one if it is invalid', async () => {
  const idFor = async (id: string | undefined) => {
    const { headers } = await gateway.send(
      '{ __typename }',
      {},
      { headers: id === undefined ? {} : { 'x-request-id': id } },
    );
    return headers.get('x-request-id');
  };
  expect(await idFor('order-17:retry.2')).toBe('order-17:retry.2');
  expect(await idFor('a b')).toMatch(/^[0-9a-f-]{36}$/);
  expect(await idFor('x'.repeat(129))).toMatch(/^[0-9a-f-]{36}$/);
  expect(await idFor(undefined)).toMatch(/^[0-9a-f-]{36}$/);
});
