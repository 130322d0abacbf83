import { createHmac } from 'node:crypto';
import { rename, writeFile } from 'node:fs/promises';
import { base64url, decodeJwt, decodeProtectedHeader } from 'jose';
import { beforeEach, describe, expect, it } from 'vitest';
import { sha256Of } from '../../src/documents/manifest.ts';
import type { GatewayOptions } from '../../src/gateway.ts';
import { type GatewayWithService, type StartedGateway, startGateway } from '../support/gateway.ts';
import { guards } from '../support/guards.ts';

import { ofFile } from '../support/lifetime.ts';
import { createTemporaryFolder } from '../support/sandbox-files.ts';
import { type BrowserOptions, clientsOf, createSigner, TENANT_KEYS } from '../support/tokens.ts';

guards('src/auth/tokens/client-tokens.ts', 'createClientTokenKeys.findKey');
guards('src/auth/tokens/client-tokens.ts', 'createClientTokens.issue');
guards('src/auth/tokens/token-verifier.ts', 'createVerifiedTokenCache.get');
guards('src/documents/trusted-documents.ts', 'TrustedDocuments.find');
guards('src/http/pipeline/client-token-route.ts', 'createClientTokenRoute.issue');

const signer = createSigner();

const SECRET = 'a-fake-secret-of-client-tokens-0001';
const ACME = `ApiKey ${TENANT_KEYS.acme}`;

const GROUPS = 'query Groups { notificationGroups { name } }';
const FLOW = 'query Flow { workflow(idOrIdentifier: "w1") { name } }';
const MANIFEST = { [sha256Of(GROUPS)]: GROUPS, [sha256Of(FLOW)]: FLOW, 'flow/v1': FLOW };

interface SetupOptions {
  clientTokens?: Partial<NonNullable<GatewayOptions['clientTokens']>>;
  browser?: Partial<BrowserOptions>;
  options?: Partial<GatewayOptions>;
}

/** Starts a gateway with a clock that the test moves. */
async function setUp({ clientTokens, browser, options }: SetupOptions = {}): Promise<GatewayWithService> {
  let time = Date.UTC(2026, 5, 1);
  const gateway = await startGateway(
    {
      service: 'healthy',
      clients: clientsOf(signer, browser),
      clientTokens: { secrets: [SECRET], ...clientTokens },
      trustedDocuments: { manifests: [MANIFEST] },
      ...options,
    },
    { now: () => new Date(time) },
  );
  return {
    ...gateway,
    advance(seconds) {
      time += seconds * 1_000;
    },
  };
}

const setup = ofFile(await setUp({ clientTokens: { rateLimit: { calls: 10_000, perSeconds: 60 } } }));
beforeEach(() => {
  setup.service.forget();
  setup.log.length = 0;
});

interface TokenResponse {
  status: number;
  headers: Headers;
  text: string;
  body: Record<string, unknown>;
  token: string;
  error: { message: string; extensions: Record<string, unknown> };
}

/** Requests a token, as a server would. */
async function requestToken(
  gateway: StartedGateway,
  body: unknown,
  { authorization = ACME, ...init }: RequestInit & { authorization?: string } = {},
): Promise<TokenResponse> {
  const response = await fetch(new URL('/client-tokens', gateway.url), {
    method: 'POST',
    body: init.method === 'GET' ? null : typeof body === 'string' ? body : JSON.stringify(body),
    ...init,
    headers: {
      'content-type': 'application/json',
      ...(authorization !== '' && { authorization }),
      ...Object.fromEntries(new Headers(init.headers)),
    },
  });
  const text = await response.text();
  const parsed = text.startsWith('{') ? JSON.parse(text) : {};
  const error = parsed.errors?.[0] ?? { message: '(there is no error)', extensions: {} };
  return { status: response.status, headers: response.headers, text, body: parsed, token: String(parsed.token), error };
}

const tokenFor = async (setup: StartedGateway, body: unknown, authorization = ACME): Promise<string> => {
  const { status, token, text } = await requestToken(setup, body, { authorization });
  expect([status, text.includes('errors')]).toEqual([200, false]);
  return token;
};

/** Sends an operation with the token twice, so that the compiled operation is tested too. */
async function sendWithToken(gateway: StartedGateway, token: string, query = GROUPS) {
  const request = { authorization: `Bearer ${token}` };
  const first = await gateway.send(query, {}, request);
  const second = await gateway.send(query, {}, request);
  expect([second.status, second.codes]).toEqual([first.status, first.codes]);
  const [error] = second.body.errors ?? [];
  return {
    status: second.status,
    code: second.codes[0],
    reason: error?.extensions?.reason,
    scope: error?.extensions?.scope,
  };
}

const WORKS = { status: 200, code: undefined, reason: undefined, scope: undefined };
const refusedFor = (reason: string) => ({ status: 401, code: 'UNAUTHENTICATED', reason, scope: undefined });

describe('the client token endpoint', () => {
  it('returns a token with its expiry and scopes, and nothing else', async () => {
    const { status, headers, body, token } = await requestToken(setup, {
      scopes: ['groups:read', 'groups:read', 'stats:read'],
    });
    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe('application/json');
    expect(headers.get('cache-control')).toBe('no-store');
    expect(body).toEqual({
      token,
      tokenType: 'Bearer',
      expiresAt: '2026-06-01T00:15:00.000Z',
      expiresInSeconds: 900,
      tenant: 'acme',
      scopes: ['groups:read', 'stats:read'],
    });
    expect(decodeProtectedHeader(token)).toEqual({
      alg: 'HS256',
      typ: 'JWT',
      kid: expect.stringMatching(/^[0-9a-f]{16}$/),
    });
    expect(decodeJwt(token)).toEqual({
      iss: 'notigraph',
      aud: 'notigraph',
      sub: '',
      tenant: 'acme',
      scope: 'groups:read stats:read',
      iat: Date.UTC(2026, 5, 1) / 1_000,
      exp: Date.UTC(2026, 5, 1) / 1_000 + 900,
      jti: expect.any(String),
    });
    expect(setup.service.requests).toEqual([]);
  });

  it('accepts any document id, a lifetime and a subject', async () => {
    const flow = sha256Of(FLOW);
    const { body, token } = await requestToken(setup, {
      scopes: ['workflows:read'],
      documents: ['flow/v1', `sha256:${sha256Of(GROUPS)}`],
      expiresInSeconds: 3_600,
      subject: 'user-1',
    });
    expect(body).toMatchObject({ expiresInSeconds: 3_600, documents: [flow, sha256Of(GROUPS)] });
    expect(decodeJwt(token)).toMatchObject({ sub: 'user-1', documents: [flow, sha256Of(GROUPS)] });
  });

  it('issues tokens for the tenant of the API key', async () => {
    for (const [tenant, key] of Object.entries(TENANT_KEYS)) {
      const { body, token } = await requestToken(
        setup,
        { scopes: ['groups:read'] },
        { authorization: `ApiKey ${key}` },
      );
      expect(body.tenant).toBe(tenant);
      await sendWithToken(setup, token);
      expect(setup.service.requests.at(-1)?.headers.authorization).toBe(`ApiKey ${key}`);
    }
    const { error } = await requestToken(setup, { scopes: ['groups:read'], tenant: 'globex' });
    expect(error.extensions.code).toBe('BAD_USER_INPUT');
  });

  it.each(['GET', 'PUT'])('rejects the method %s', async (method) => {
    const { status, headers, error } = await requestToken(setup, { scopes: ['groups:read'] }, { method });
    expect([status, headers.get('allow'), error.extensions.code]).toEqual([405, 'POST', 'METHOD_NOT_ALLOWED']);
    expect(headers.get('cache-control')).toBe('no-store');
  });

  it('does not exist if no secrets are configured', async () => {
    await using gateway = await startGateway({ service: 'healthy', clients: clientsOf(signer) });
    expect((await requestToken(gateway, { scopes: ['groups:read'] })).status).toBe(404);
  });

  it.each([
    ['no credential', ''],
    ['another key', 'ApiKey of-nobody'],
    ['a key in another case', `ApiKey ${TENANT_KEYS.acme.toUpperCase()}`],
    ['the key as a token', `Bearer ${TENANT_KEYS.acme}`],
  ])('rejects %s with 401 and reveals nothing about tenants or keys', async (_, authorization) => {
    const response = await requestToken(setup, { scopes: ['groups:read'] }, { authorization });
    expect(response.status).toBe(401);
    expect(response.headers.get('www-authenticate')).toBe('ApiKey realm="notigraph"');
    expect(response.error.extensions).toEqual({
      code: 'UNAUTHENTICATED',
      retryable: false,
      requestId: response.headers.get('x-request-id'),
    });
    expect(response.text).not.toMatch(/acme|globex|key-of/);
  });

  it('rejects a client token or issuer token, so that a token cannot be exchanged for another one', async () => {
    const own = await tokenFor(setup, { scopes: ['groups:read'] });
    for (const token of [own, await signer.sign()]) {
      for (const authorization of [`Bearer ${token}`, `ApiKey ${token}`]) {
        const { status } = await requestToken(setup, { scopes: ['groups:read'] }, { authorization });
        expect(status).toBe(401);
      }
    }
  });

  const LIFETIME = '"expiresInSeconds" must be a whole number from 1 to 3600.';
  const scopes = ['groups:read'];
  it.each<[string, unknown, string]>([
    ['no JSON', '{', 'The request body is not valid JSON.'],
    ['no scopes', {}, '"scopes" must be a list.'],
    ['an empty list of scopes', { scopes: [] }, '"scopes" must contain at least one scope.'],
    [
      'an unknown scope',
      { scopes: ['groups:read', 'admin'] },
      '"scopes" must be a list of scopes such as "groups:read"',
    ],
    ['an empty list of documents', { scopes, documents: [] }, '"documents" must contain at least one id'],
    [
      'too many documents',
      { scopes, documents: Array(51).fill('flow/v1') },
      '"documents" must contain at most 50 ids.',
    ],
    ['a document in no manifest', { scopes, documents: ['flow/v1', 'unknown'] }, 'an id that is in no manifest'],
    ['a document named like a property', { scopes, documents: ['constructor'] }, 'an id that is in no manifest'],
    ['a lifetime of 0', { scopes, expiresInSeconds: 0 }, LIFETIME],
    ['a lifetime of more than an hour', { scopes, expiresInSeconds: 3_601 }, LIFETIME],
    ['a subject that is too long', { scopes, subject: 'x'.repeat(129) }, '"subject" must have at most 128 characters.'],
    ['a __proto__ property', '{"scopes":["groups:read"],"__proto__":{"tenant":"globex"}}', 'an unknown member'],
  ])('rejects %s with a specific message', async (_, body, message) => {
    const { status, headers, error, token } = await requestToken(setup, body);
    expect([status, token]).toEqual([400, 'undefined']);
    expect(error.message).toContain(message);
    expect(error.extensions).toEqual({
      code: body === '{' ? 'BAD_REQUEST' : 'BAD_USER_INPUT',
      retryable: false,
      requestId: headers.get('x-request-id'),
    });
  });

  it('rejects a body that is too large', async () => {
    const { status, error } = await requestToken(setup, { scopes: ['groups:read'], subject: 'x'.repeat(17 * 1_024) });
    expect([status, error.extensions.code]).toEqual([413, 'PAYLOAD_TOO_LARGE']);
  });

  it('grants only scopes that are configured for browsers', async () => {
    await using setup = await setUp({ browser: { scopes: ['groups:read'] } });
    const { status, error } = await requestToken(setup, { scopes: ['groups:read', 'groups:write', 'stats:read'] });
    expect([status, error.extensions.code]).toEqual([403, 'FORBIDDEN']);
    expect(error.message).toBe('Token refused: groups:write, stats:read are not in clients.browser.scopes.');
    expect((await requestToken(setup, { scopes: ['groups:read'] })).status).toBe(200);
  });

  it('limits the requested and the default lifetime to the configured maximum', async () => {
    await using setup = await setUp({ clientTokens: { maxLifetimeSeconds: 60 } });
    expect((await requestToken(setup, { scopes: ['groups:read'] })).body.expiresInSeconds).toBe(60);
    expect((await requestToken(setup, { scopes: ['groups:read'], expiresInSeconds: 61 })).status).toBe(400);
  });

  it('gives a token to each of 600 people who load their page at once, and stops a server that requests them without end', async () => {
    await using setup = await setUp();
    const request = (_: unknown, i: number) =>
      requestToken(setup, { scopes: ['groups:read'], subject: `user-${i}` }).then(({ status }) => status);
    const counts = async (length: number) => new Set(await Promise.all(Array.from({ length }, request)));
    expect(await counts(600)).toEqual(new Set([200]));
    expect(await counts(600)).toContain(429);
  });

  it('is rate limited per tenant, and for all unknown keys together, with Retry-After', async () => {
    const rateLimit = { calls: 2, perSeconds: 7_200 };
    await using setup = await setUp({ clientTokens: { rateLimit } });
    const body = { scopes: ['groups:read'] };
    const statuses = async (authorizations: string[]) => {
      const all: number[] = [];
      for (const authorization of authorizations) {
        all.push((await requestToken(setup, body, { authorization })).status);
      }
      return all;
    };
    expect(await statuses(['ApiKey a', 'ApiKey b', 'ApiKey c', '', 'Bearer x'])).toEqual([401, 401, 429, 429, 429]);
    expect(await statuses([ACME, ACME, ACME])).toEqual([200, 200, 429]);
    const globex = `ApiKey ${TENANT_KEYS.globex}`;
    expect(await statuses([globex, globex, globex])).toEqual([200, 200, 429]);
    const { headers, error } = await requestToken(setup, body);
    const wait = Number(headers.get('retry-after'));
    expect(Math.abs(wait - 3_600)).toBeLessThan(30);
    expect(error.extensions).toEqual({
      code: 'RATE_LIMITED',
      retryable: true,
      retryAfterSeconds: wait,
      requestId: headers.get('x-request-id'),
    });
    // Requests with an invalid body count too, so that keys cannot be guessed without a limit.
    expect((await requestToken(setup, '{')).status).toBe(429);
  });

  it('logs each issued token with its subject, and each rejection, without the token or the key', async () => {
    const token = await tokenFor(setup, { scopes: ['groups:read', 'stats:read'], subject: 'person "1"\n' });
    await requestToken(setup, { scopes: ['groups:read'] }, { authorization: 'ApiKey of-nobody' });
    await sendWithToken(setup, token);
    const lines = setup.log.filter(({ msg }) => msg === 'client token');
    expect(lines).toHaveLength(1);
    const scopes = ['groups:read', 'stats:read'];
    expect(lines[0]).toMatchObject({ tenant: 'acme', subject: 'person "1"\n', scopes, expiresInSeconds: 900 });
    expect(setup.log.filter(({ msg }) => msg === 'client token refused')).toMatchObject([
      { code: 'UNAUTHENTICATED', httpStatus: 401 },
    ]);
    const log = JSON.stringify(setup.log);
    expect(log).not.toMatch(/key-of|of-nobody|eyJ|a-fake-secret/);
    expect(log.match(/person/g)).toHaveLength(1);
    expect(log).not.toContain(token.split('.')[2]);
  });

  it('sends CORS headers only to the origins of server clients', async () => {
    await using setup = await setUp({
      browser: { corsOrigins: ['https://app.example.com'] },
      options: {
        clients: clientsOf(
          signer,
          { corsOrigins: ['https://app.example.com'] },
          { server: { corsOrigins: ['https://backend.example.com'] } },
        ),
      },
    });
    for (const [origin, expected] of [
      ['https://app.example.com', null],
      ['https://evil.example.com', null],
      ['null', null],
      ['https://backend.example.com', 'https://backend.example.com'],
    ] as const) {
      const { status, headers } = await requestToken(setup, { scopes: ['groups:read'] }, { headers: { origin } });
      expect([origin, status, headers.get('access-control-allow-origin')]).toEqual([origin, 200, expected]);
      expect(headers.get('access-control-allow-credentials')).toBeNull();
    }
  });
});

describe('a client token', () => {
  it('permits only its scopes', async () => {
    const token = await tokenFor(setup, { scopes: ['groups:read'] });
    expect(await sendWithToken(setup, token)).toEqual(WORKS);
    expect(await sendWithToken(setup, token, FLOW)).toEqual({
      status: 403,
      code: 'FORBIDDEN',
      reason: undefined,
      scope: 'workflows:read',
    });
    expect(setup.service.requests.every(({ headers }) => headers.authorization === ACME)).toBe(true);
  });

  it.each(['off', 'log', 'enforce'] as const)('permits only its documents in mode %s', async (trustedDocuments) => {
    await using setup = await setUp({ browser: { trustedDocuments } });
    const token = await tokenFor(setup, { scopes: ['groups:read', 'workflows:read'], documents: ['flow/v1'] });
    expect(await sendWithToken(setup, token, FLOW)).toEqual(WORKS);
    const before = setup.service.requests.length;
    for (const query of [
      GROUPS,
      `${FLOW} query Other { __typename }`,
      '{ __typename }',
      '{ __schema { queryType { name } } }',
    ]) {
      expect(await sendWithToken(setup, token, query)).toMatchObject({ status: 400, code: 'DOCUMENT_NOT_TRUSTED' });
    }
    expect(setup.service.requests).toHaveLength(before);
    const free = await tokenFor(setup, { scopes: ['groups:read'] });
    expect(await sendWithToken(setup, free)).toEqual(WORKS);
  });

  it('is rejected after it expires', async () => {
    const token = await tokenFor(setup, { scopes: ['groups:read'], expiresInSeconds: 100 });
    expect(await sendWithToken(setup, token)).toEqual(WORKS);
    setup.advance(99);
    expect(await sendWithToken(setup, token)).toEqual(WORKS);
    setup.advance(1);
    expect(await sendWithToken(setup, token)).toEqual(refusedFor('TOKEN_EXPIRED'));
  });

  it('is rejected if it is modified or signed with another key or algorithm', async () => {
    const token = await tokenFor(setup, { scopes: ['groups:read'] });
    const [header = '', payload = '', signature = ''] = token.split('.');
    const encode = (value: object) => base64url.encode(JSON.stringify(value));
    const claims = decodeJwt(token);
    const { kid } = decodeProtectedHeader(token);
    const hmac = (head: string, body: string, secret: string, hash = 'sha256') =>
      `${head}.${body}.${createHmac(hash, secret).update(`${head}.${body}`).digest('base64url')}`;
    const widened = encode({ ...claims, scope: 'workflows:read groups:read' });
    const other = encode({ ...claims, tenant: 'globex' });
    for (const [what, forged] of Object.entries({
      'other scopes': `${header}.${widened}.${signature}`,
      'another tenant': `${header}.${other}.${signature}`,
      'no signature': `${header}.${payload}.`,
      'alg none': `${encode({ alg: 'none', typ: 'JWT', kid })}.${widened}.`,
      'another secret': hmac(header, widened, 'x'.repeat(40)),
      'an empty secret': hmac(header, widened, ''),
      'the public key of an issuer as secret': hmac(header, widened, signer.publicKey),
      'HS512 with the right secret': hmac(encode({ alg: 'HS512', kid }), payload, SECRET, 'sha512'),
      'ES256 by an issuer, with the kid of the secret': await signer.sign({ ...claims }, { kid: String(kid) }),
      'ES256 by an issuer': await signer.sign({ ...claims }),
      'no kid': hmac(encode({ alg: 'HS256' }), payload, SECRET),
      'an unknown kid': hmac(encode({ alg: 'HS256', kid: 'constructor' }), payload, SECRET),
      'a key in its header': hmac(encode({ alg: 'HS256', kid, jwk: { kty: 'oct', k: 'eA' } }), widened, 'x'),
    })) {
      expect([what, await sendWithToken(setup, forged)]).toEqual([what, refusedFor('TOKEN_INVALID')]);
    }
    expect(setup.service.requests).toEqual([]);
    // Signed with the gateway's secret, but with the claims of an issuer, another audience, or no expiry.
    const asIssuer = hmac(
      header,
      encode({ ...claims, iss: 'https://login.example.com', aud: 'notigraph-test' }),
      SECRET,
    );
    expect(await sendWithToken(setup, asIssuer)).toEqual(refusedFor('TOKEN_INVALID'));
    const forAnother = hmac(header, encode({ ...claims, aud: 'other' }), SECRET);
    expect(await sendWithToken(setup, forAnother)).toEqual(refusedFor('TOKEN_FOR_ANOTHER'));
    const withoutEnd = hmac(header, encode({ ...claims, exp: undefined }), SECRET);
    expect(await sendWithToken(setup, withoutEnd)).toEqual(refusedFor('TOKEN_INVALID'));
    expect(await sendWithToken(setup, token)).toEqual(WORKS);
  });

  it('stays valid while its secret is replaced, and becomes invalid when the secret is removed', async () => {
    await using folder = await createTemporaryFolder();
    const write = async (name: string, text: string) => {
      await writeFile(folder.path('next'), text);
      await rename(folder.path('next'), folder.path(name));
    };
    const [first, second] = ['first-fake-secret-of-client-tokens', 'second-fake-secret-of-client-tokens'];
    await write('signing', `${first}\n`);
    await write('before', `${first}\n`);
    await using setup = await setUp({
      options: { reloadSeconds: 0.1 },
      clientTokens: { secrets: [{ file: folder.path('signing') }, { file: folder.path('before') }] },
    });
    const kidNow = async () => decodeProtectedHeader(await tokenFor(setup, { scopes: ['groups:read'] })).kid;
    const old = await tokenFor(setup, { scopes: ['groups:read'], expiresInSeconds: 3_600 });
    const firstKid = await kidNow();
    expect(await sendWithToken(setup, old)).toEqual(WORKS);

    await write('signing', `${second}\n`);
    await expect.poll(kidNow, { timeout: 20_000 }).not.toBe(firstKid);
    const renewed = await tokenFor(setup, { scopes: ['groups:read'], expiresInSeconds: 3_600 });
    setup.advance(61); // Expires the cached verification.
    expect(await sendWithToken(setup, old)).toEqual(WORKS);
    expect(await sendWithToken(setup, renewed)).toEqual(WORKS);

    await write('before', `${second}\n`);
    // Applies immediately, not only when the cached verification expires.
    await expect.poll(() => sendWithToken(setup, old), { timeout: 20_000 }).toEqual(refusedFor('TOKEN_INVALID'));
    expect(await sendWithToken(setup, renewed)).toEqual(WORKS);

    await write('signing', 'too short');
    await expect.poll(() => setup.log.filter(({ level }) => level === 50).length, { timeout: 20_000 }).toBe(1);
    expect(await sendWithToken(setup, renewed)).toEqual(WORKS);
    expect(JSON.stringify(setup.log)).not.toMatch(/too short"|fake-secret/);
  });
});
