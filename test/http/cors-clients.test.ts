import { describe, expect, it, onTestFinished } from 'vitest';
import { createClient } from '../../packages/client/src/index.ts';
import { createGateway } from '../../src/gateway.ts';
import { createBrowserFetch } from '../support/browser-fetch.ts';
import { startGateway } from '../support/gateway.ts';
import {
  dataOf,
  errorOf,
  sendToBoth,
  startGatewayPair,
  type WireRequest,
  type WireResponse,
} from '../support/gateway-pair.ts';
import { guards } from '../support/guards.ts';
import { healthyService } from '../support/healthy-service.ts';
import { ofFile } from '../support/lifetime.ts';
import { connectRaw, postHead } from '../support/raw-client.ts';
import { feed } from '../support/records.ts';
import { clientsOf, createSigner } from '../support/tokens.ts';

guards('src/http/pipeline/response-head.ts', 'createResponseHeads.corsHeaders');
guards('src/lib/urls.ts', 'isOrigin');
guards('packages/cli/src/server/server.ts', 'startServer.admit');
guards('src/http/adapters/node-adapter.ts', 'NodeRequest.constructor');

const signer = createSigner();

const APP = 'https://app.example.com';
const DEV = 'http://localhost:5173';
/** Origins of apps for phones and desktops, and of extensions of browsers. */
const APPS = [
  'capacitor://localhost',
  'ionic://localhost',
  'tauri://localhost',
  'app://-',
  'chrome-extension://aaaabbbbccccddddeeeeffffgggghhhh',
  'moz-extension://01234567-89ab-cdef-0123-456789abcdef',
  'custom+app.v2://host:8080',
];
const BACKEND = 'https://backend.example.com';
const SERVER_KEY = 'ApiKey of-a-server';
const QUERY = '{ notificationGroups { name } }';

const gateways = ofFile(
  await startGatewayPair(healthyService, {
    clients: clientsOf(
      signer,
      { corsOrigins: [APP, DEV, ...APPS], rateLimit: { calls: 1_000, perSeconds: 3_600_000 } },
      { server: { corsOrigins: [BACKEND] } },
    ),
  }),
);

/** Origins that resemble a listed one but are not listed. */
const UNLISTED_ORIGINS = [
  'null',
  '',
  '*',
  'https://app.example.com.evil.example',
  'https://evil-app.example.com',
  'https://sub.app.example.com',
  'http://app.example.com',
  'https://app.example.com:443',
  'https://app.example.com/',
  'https://APP.example.com',
  'https://app.example.com, https://evil.example',
  'https://user@app.example.com',
  'http://localhost:5174',
  'http://localhost',
  'capacitor://localhost:80',
  'app://',
  'file://',
  '__proto__',
];

const corsHeadersOf = ({ headers }: WireResponse) =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith('access-control-')));

const EXPOSED = 'x-request-id, retry-after, ratelimit-limit, ratelimit-remaining, ratelimit-reset';
const corsHeadersFor = (origin: string) => ({
  'access-control-allow-origin': origin,
  'access-control-expose-headers': EXPOSED,
});

async function send(origin: string, authorization: string, request: WireRequest = {}): Promise<WireResponse> {
  return sendToBoth(gateways, {
    body: { query: QUERY },
    ...request,
    headers: { origin, authorization, ...request.headers },
  });
}

describe('a preflight', () => {
  /** Sends a preflight request, which has no credential. */
  async function preflight(origin: string, path = '/graphql') {
    const responses = [gateways.listener, gateways.fetch].map(async ({ url }) => {
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
    const [byListener, byFetch] = await Promise.all(responses);
    expect(byListener).toEqual(byFetch);
    return byListener;
  }

  const GRANTED = {
    'access-control-allow-methods': 'GET, POST',
    'access-control-allow-headers': 'authorization, content-type',
    'access-control-max-age': '86400',
    vary: 'Access-Control-Request-Headers, Origin',
  };

  it.each([APP, DEV, ...APPS, BACKEND])('is granted to %s for one day', async (origin) => {
    const headers = { ...GRANTED, ...corsHeadersFor(origin) };
    expect(await preflight(origin)).toEqual({ status: 204, headers });
  });

  it.each(UNLISTED_ORIGINS)('is rejected for %j', async (origin) => {
    expect(await preflight(origin)).toEqual({ status: 405, headers: { vary: 'Origin' } });
  });
});

describe('a response', () => {
  it.each([APP, DEV, ...APPS])('to a token is readable for %s', async (origin) => {
    const response = await send(origin, await signer.bearer());
    expect(response.status).toBe(200);
    expect(corsHeadersOf(response)).toEqual(corsHeadersFor(origin));
    expect(response.headers.vary).toBe('Origin');
    expect(response.headers['ratelimit-limit']).toBe('1000');
  });

  it.each([BACKEND])('to an API key is readable for %s', async (origin) => {
    expect(corsHeadersOf(await send(origin, SERVER_KEY))).toEqual(corsHeadersFor(origin));
  });

  it('is not readable for origins that are listed only for the other kind of client', async () => {
    for (const response of [
      await send(BACKEND, await signer.bearer()),
      await send(APP, SERVER_KEY),
      await send(DEV, SERVER_KEY),
    ]) {
      expect(dataOf(response)).toBeDefined();
      expect(corsHeadersOf(response)).toEqual({});
      expect(response.headers.vary).toBe('Origin');
    }
  });

  it.each(UNLISTED_ORIGINS)('is not readable for %j', async (origin) => {
    for (const authorization of [await signer.bearer(), SERVER_KEY, 'Bearer x', 'x']) {
      const response = await send(origin, authorization);
      expect(corsHeadersOf(response)).toEqual({});
      expect(response.headers.vary).toBe('Origin');
    }
  });

  it('has Vary: Origin even if the request has no Origin header', async () => {
    const response = await sendToBoth(gateways, { headers: { authorization: SERVER_KEY }, body: { query: QUERY } });
    expect([corsHeadersOf(response), response.headers.vary]).toEqual([{}, 'Origin']);
  });

  it('with an error is readable only for the origins of its kind of client', async () => {
    const expired = await signer.bearer({ exp: Math.floor(Date.now() / 1_000) - 60 });
    const refusals: [status: number, authorization: string, request: WireRequest][] = [
      [401, expired, {}],
      [401, 'Bearer x', {}],
      [403, await signer.bearer({ scope: '' }), {}],
      [400, await signer.bearer(), { body: '{' }],
      [
        400,
        await signer.bearer(),
        { body: { query: '{ nothing }' }, headers: { accept: 'application/graphql-response+json' } },
      ],
      [415, await signer.bearer(), { headers: { 'content-type': 'text/plain' } }],
      [404, await signer.bearer(), { path: '/other' }],
      [413, await signer.bearer(), { body: { query: `{ __typename } #${'x'.repeat(300_000)}` } }],
    ];
    for (const [status, authorization, request] of refusals) {
      const response = await send(APP, authorization, request);
      expect([status, response.status, corsHeadersOf(response)]).toEqual([status, status, corsHeadersFor(APP)]);
      expect(errorOf(response).extensions.code).toBeDefined();
      expect(corsHeadersOf(await send(BACKEND, authorization, request))).toEqual({});
    }
    expect(corsHeadersOf(await send(APP, 'bearer a.b.c'))).toEqual(corsHeadersFor(APP));
    for (const authorization of ['x', 'Basic YTpi', 'ApiKey a b', 'Bearer']) {
      expect(corsHeadersOf(await send(APP, authorization))).toEqual({});
      expect(corsHeadersOf(await send(BACKEND, authorization))).toEqual(corsHeadersFor(BACKEND));
    }
  });

  it('is readable when the rate limit is exceeded, including the headers that say how long to wait', async () => {
    await using limited = await startGatewayPair(healthyService, {
      clients: clientsOf(signer, { corsOrigins: [APP], rateLimit: { calls: 1, perSeconds: 3_600 } }),
    });
    const request = { headers: { origin: APP, authorization: await signer.bearer() }, body: { query: QUERY } };
    await sendToBoth(limited, request);
    const refused = await sendToBoth(limited, request);
    expect(refused.status).toBe(429);
    expect(corsHeadersOf(refused)).toEqual(corsHeadersFor(APP));
    const exposed = EXPOSED.split(', ');
    for (const name of ['retry-after', 'ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset', 'x-request-id']) {
      expect([name, refused.headers[name] !== undefined, exposed.includes(name)]).toEqual([name, true, true]);
    }
  });
});

it('responses have no CORS headers if no origins are configured', async () => {
  await using closed = await startGatewayPair(healthyService, { clients: clientsOf(signer) });
  const headers = { origin: APP, authorization: await signer.bearer() };
  const response = await sendToBoth(closed, { headers, body: { query: QUERY } });
  expect([corsHeadersOf(response), response.headers.vary]).toEqual([{}, undefined]);
  expect((await sendToBoth(closed, { method: 'OPTIONS', headers })).status).toBe(405);
});

describe('what the server refuses itself', () => {
  let isOverloaded = false;

  /** Starts a gateway whose overload the test sets, and that answers only one host name. */
  async function start() {
    const gateway = await startGateway(
      {
        service: () => ({ status: 201, body: { data: feed({ name: 'News' }) } }),
        clients: clientsOf(signer, { corsOrigins: [APP] }, { server: { corsOrigins: [BACKEND] } }),
        maxBodyBytes: 2_000,
      },
      {
        server: {
          overload: { excess: () => (isOverloaded ? { reason: 'heap', value: 90, limit: 85 } : undefined) },
          isKnownHost: (host) => host === 'localhost' || host?.startsWith('127.0.0.1:') === true,
          maxBodyBytes: 2_000,
        },
      },
    );
    onTestFinished(async () => {
      isOverloaded = false;
      await gateway[Symbol.asyncDispose]();
    });
    return gateway;
  }

  const EXPECT = 'Expect: 100-continue';

  it.each<[what: string, status: number, head: string]>([
    ['an overload', 503, postHead('/graphql', 'Content-Length: 2')],
    ['an overload before the body', 503, postHead('/graphql', EXPECT, 'Content-Length: 2')],
    ['an unknown host', 421, postHead('/graphql', 'Content-Length: 2').replace('localhost', 'other.example')],
    ['a large body that is announced', 413, postHead('/graphql', EXPECT, 'Content-Length: 2001')],
    ['another expectation', 417, postHead('/graphql', 'Expect: other', 'Content-Length: 2')],
    ['a repeated header', 400, postHead('/graphql', 'Content-Type: text/plain', 'Content-Length: 2')],
  ])('because of %s is readable only for the origins of the kind of client', async (what, status, head) => {
    const gateway = await start();
    isOverloaded = what.startsWith('an overload');
    for (const [origin, authorization, isReadable] of [
      [APP, await signer.bearer(), true],
      [BACKEND, SERVER_KEY, true],
      [APP, SERVER_KEY, false],
      ['https://other.example', await signer.bearer(), false],
    ] as const) {
      const client = await connectRaw(gateway.url);
      await client.send(
        `${head.slice(0, -2)}Origin: ${origin}\r\nAuthorization: ${authorization}\r\nX-Request-Id: r1\r\n\r\n`,
      );
      const [text] = await client.receives(/^[\s\S]*?\r\n\r\n/);
      const lines = text.toLowerCase().split('\r\n');
      expect(lines[0]).toContain(`http/1.1 ${status} `);
      expect(lines).toEqual(expect.arrayContaining(['vary: origin', 'cache-control: no-store', 'x-request-id: r1']));
      const cors = lines.filter((line) => line.startsWith('access-control-'));
      const expected = Object.entries(corsHeadersFor(origin)).map(([name, value]) => `${name}: ${value}`);
      expect([origin, cors]).toEqual([origin, isReadable ? expected : []]);
      client.socket.destroy();
    }
  });

  it('never is a preflight, and a mutation that was shed is sent again by the client of a page', async () => {
    const gateway = await start();
    isOverloaded = true;
    const client = createClient({
      url: gateway.url,
      authorization: await signer.bearer({ scope: 'feeds:write' }),
      fetch: createBrowserFetch(APP),
      onRetry({ errors, cause }) {
        expect([errors?.map(({ extensions }) => extensions), cause]).toEqual([
          [{ code: 'OVERLOADED', retryable: true, retryAfterSeconds: 1 }],
          undefined,
        ]);
        isOverloaded = false;
      },
    });
    const { data, errors, attempts } = await client.request(
      'mutation { createFeed(input: { name: "News" }) { __typename } }',
    );
    expect([data, errors, attempts]).toEqual([{ createFeed: { __typename: 'CreateFeedSuccess' } }, undefined, 2]);
    expect(gateway.service.calls()).toEqual(['POST /v1/feeds']);
    const { hostname, port } = new URL(gateway.url);
    const raw = await connectRaw(`http://${hostname}:${port}`);
    await raw.send(`OPTIONS /graphql HTTP/1.1\r\nHost: other.example\r\nOrigin: ${APP}\r\n\r\n`);
    await raw.receives(/^HTTP\/1\.1 204 [\s\S]*\r\naccess-control-allow-methods: GET, POST\r\n/);
    raw.socket.destroy();
  });
});

it.each([
  'null',
  '',
  '*',
  'https://*.example.com',
  'capacitor://*',
  'https://app.example.com/',
  'capacitor://localhost/',
  'app://-/index.html',
  'app://-?page',
  'app://user@host',
  'https://user@app.example.com',
  'https://app.example.com:443',
  'https://APP.example.com',
  'Capacitor://localhost',
  'app://Localhost',
  'app://',
  'https://',
  'file://',
  'file://host',
  'about:blank',
  'data:text/html,page',
  'localhost',
  ' https://app.example.com',
  'https://bücher.example',
])('the setting refuses %j, which is no origin that a browser sends', (origin) => {
  const create = () =>
    createGateway({ upstream: 'http://127.0.0.1:9', clients: { server: { corsOrigins: [origin] } } });
  expect(create).toThrow(
    'clients.server.corsOrigins.0 must be an origin such as https://app.example.com, in lower case,',
  );
});
