import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type GatewayPair, startGatewayPair, type WireRequest, type WireResponse } from '../support/gateway-pair.ts';
import { dataOf, errorOf, healthyService, sendToBoth } from '../support/service.ts';
import { clientsOf, createSigner } from '../support/tokens.ts';

const signer = createSigner();

const APP = 'https://app.example.com';
const DEV = 'http://localhost:5173';
const BACKEND = 'https://backend.example.com';
const EVERYWHERE = 'https://everywhere.example.com';
const SERVER_KEY = 'ApiKey of-a-server';
const QUERY = '{ notificationGroups { name } }';

let ways: GatewayPair;
beforeAll(async () => {
  ways = await startGatewayPair(healthyService, {
    corsOrigins: [EVERYWHERE],
    clients: clientsOf(
      signer,
      { corsOrigins: [APP, DEV], rateLimit: { calls: 1, perSeconds: 3_600, burst: 1_000 } },
      { server: { corsOrigins: [BACKEND] } },
    ),
  });
});
afterAll(() => ways[Symbol.asyncDispose]());

/** Origins that are on no list, though they look like one that is. */
const TRICKS = [
  'null',
  '',
  '*',
  'https://app.example.com.evil.example',
  'https://evil-app.example.com',
  'https://evil.example/https://app.example.com',
  'https://sub.app.example.com',
  'https://example.com',
  'http://app.example.com',
  'https://app.example.com:443',
  'https://app.example.com:8443',
  'https://app.example.com/',
  'https://APP.example.com',
  'https://app.example.com.',
  'https://app.example.com, https://evil.example',
  'https://app.example.com https://evil.example',
  'https://user@app.example.com',
  'http://localhost:5174',
  'http://localhost',
  'http://127.0.0.1:5173',
  'https://localhost:5173',
  'app.example.com',
  'constructor',
  '__proto__',
];

const crossOriginHeaders = ({ headers }: WireResponse) =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith('access-control-')));

const EXPOSED = 'x-request-id, retry-after, ratelimit-limit, ratelimit-remaining, ratelimit-reset';
const readableBy = (origin: string) => ({
  'access-control-allow-origin': origin,
  'access-control-expose-headers': EXPOSED,
});

async function ask(origin: string, authorization: string, request: WireRequest = {}): Promise<WireResponse> {
  return sendToBoth(ways, {
    body: { query: QUERY },
    ...request,
    headers: { origin, authorization, ...request.headers },
  });
}

describe('a preflight', () => {
  /** As browsers send it: without the credential. */
  async function preflight(origin: string, path = '/graphql') {
    const answers = [ways.listener, ways.fetch].map(async ({ url }) => {
      const { status, headers } = await fetch(new URL(path, url), {
        method: 'OPTIONS',
        headers: {
          origin,
          'access-control-request-method': 'POST',
          'access-control-request-headers': 'authorization,content-type',
        },
      });
      return { status, headers: Object.fromEntries([...headers].filter(([name]) => /^(?:access-|vary$)/.test(name))) };
    });
    const [byListener, byFetch] = await Promise.all(answers);
    expect(byListener).toEqual(byFetch);
    return byListener;
  }

  const GRANTED = {
    'access-control-allow-methods': 'GET, POST',
    'access-control-allow-headers':
      'authorization, content-type, idempotency-key, x-request-id, graphql-require-preflight',
    'access-control-max-age': '86400',
    vary: 'Origin',
  };

  it.each([APP, DEV, BACKEND, EVERYWHERE])('is granted to %s, for a day', async (origin) => {
    const headers = { ...GRANTED, ...readableBy(origin) };
    expect(await preflight(origin)).toEqual({ status: 204, headers });
  });

  it.each(TRICKS)('is refused to %j', async (origin) => {
    expect(await preflight(origin)).toEqual({ status: 405, headers: { vary: 'Origin' } });
  });
});

describe('an answer', () => {
  it.each([APP, DEV, EVERYWHERE])('to a token can be read by a page of %s', async (origin) => {
    const answer = await ask(origin, await signer.bearer());
    expect(answer.status).toBe(200);
    expect(crossOriginHeaders(answer)).toEqual(readableBy(origin));
    expect(answer.headers.vary).toBe('Origin');
    expect(answer.headers['ratelimit-limit']).toBe('1000');
  });

  it.each([BACKEND, EVERYWHERE])('to a key can be read by a page of %s', async (origin) => {
    expect(crossOriginHeaders(await ask(origin, SERVER_KEY))).toEqual(readableBy(origin));
  });

  it('can be read by no page that is listed only for the other kind of client', async () => {
    for (const answer of [
      await ask(BACKEND, await signer.bearer()),
      await ask(APP, SERVER_KEY),
      await ask(DEV, SERVER_KEY),
    ]) {
      expect(dataOf(answer)).toBeDefined();
      expect(crossOriginHeaders(answer)).toEqual({});
      expect(answer.headers.vary).toBe('Origin');
    }
  });

  it.each(TRICKS)('can be read by no page of %j', async (origin) => {
    for (const authorization of [await signer.bearer(), SERVER_KEY, 'Bearer x', 'x']) {
      const answer = await ask(origin, authorization);
      expect(crossOriginHeaders(answer)).toEqual({});
      expect(answer.headers.vary).toBe('Origin');
    }
  });

  it('says that it depends on the origin also where the request has none', async () => {
    const answer = await sendToBoth(ways, { headers: { authorization: SERVER_KEY }, body: { query: QUERY } });
    expect([crossOriginHeaders(answer), answer.headers.vary]).toEqual([{}, 'Origin']);
  });

  it('can be read only by pages of its kind of client when it is a refusal, too', async () => {
    const expired = await signer.bearer({ exp: Math.floor(Date.now() / 1_000) - 60 });
    const refusals: [status: number, authorization: string, request: WireRequest][] = [
      [401, expired, {}],
      [401, 'Bearer x', {}],
      [401, 'Bearer a.b.c', {}],
      [403, await signer.bearer({ scope: '' }), {}],
      [400, await signer.bearer(), { body: '{' }],
      [
        400,
        await signer.bearer(),
        { body: { query: '{ nothing }' }, headers: { accept: 'application/graphql-response+json' } },
      ],
      [400, await signer.bearer(), { body: { documentId: 'unknown' } }],
      [415, await signer.bearer(), { headers: { 'content-type': 'text/plain' } }],
      [404, await signer.bearer(), { path: '/other' }],
      [413, await signer.bearer(), { body: { query: `{ __typename } #${'x'.repeat(300_000)}` } }],
    ];
    for (const [status, authorization, request] of refusals) {
      const answer = await ask(APP, authorization, request);
      expect([status, answer.status, crossOriginHeaders(answer)]).toEqual([status, status, readableBy(APP)]);
      expect(errorOf(answer).extensions.code).toBeDefined();
      expect(crossOriginHeaders(await ask(BACKEND, authorization, request))).toEqual({});
    }
    for (const authorization of ['x', 'Basic YTpi', 'ApiKey a b', 'bearer a.b.c', 'Bearer']) {
      expect(crossOriginHeaders(await ask(APP, authorization))).toEqual({});
      expect(crossOriginHeaders(await ask(BACKEND, authorization))).toEqual(readableBy(BACKEND));
    }
  });

  it('can be read when the limit is reached, with everything that a page needs in order to wait', async () => {
    await using limited = await startGatewayPair(healthyService, {
      clients: clientsOf(signer, { corsOrigins: [APP], rateLimit: { calls: 1, perSeconds: 3_600 } }),
    });
    const request = { headers: { origin: APP, authorization: await signer.bearer() }, body: { query: QUERY } };
    await sendToBoth(limited, request);
    const refused = await sendToBoth(limited, request);
    expect(refused.status).toBe(429);
    expect(crossOriginHeaders(refused)).toEqual(readableBy(APP));
    const exposed = EXPOSED.split(', ');
    for (const name of ['retry-after', 'ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset', 'x-request-id']) {
      expect([name, refused.headers[name] !== undefined, exposed.includes(name)]).toEqual([name, true, true]);
    }
  });
});

it('no answer allows credentials or every origin', async () => {
  for (const origin of [APP, BACKEND, EVERYWHERE, ...TRICKS]) {
    for (const authorization of [await signer.bearer(), SERVER_KEY]) {
      for (const request of [{}, { method: 'OPTIONS', body: '' }, { body: '{' }]) {
        const { headers } = await ask(origin, authorization, request);
        expect(headers).not.toHaveProperty('access-control-allow-credentials');
        expect(headers['access-control-allow-origin']).not.toBe('*');
      }
    }
  }
});

it('without origins no answer has such a header', async () => {
  await using closed = await startGatewayPair(healthyService, { clients: clientsOf(signer) });
  const headers = { origin: APP, authorization: await signer.bearer() };
  const answer = await sendToBoth(closed, { headers, body: { query: QUERY } });
  expect([crossOriginHeaders(answer), answer.headers.vary]).toEqual([{}, undefined]);
  expect((await sendToBoth(closed, { method: 'OPTIONS', headers })).status).toBe(405);
});
