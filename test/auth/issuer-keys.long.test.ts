import { randomUUID } from 'node:crypto';
import { rename, writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { startGateway } from '../support/gateway.ts';
import { guards } from '../support/guards.ts';
import { createTestKey, type KeysBehavior, startTestIssuer, type TestIssuer, type TestKey } from '../support/issuer.ts';
import { ofTest } from '../support/lifetime.ts';
import { metricValues } from '../support/metrics-text.ts';
import { createTemporaryFolder } from '../support/sandbox-files.ts';
import type { BrowserOptions } from '../support/tokens.ts';

guards('src/auth/signing-keys.ts', 'createRemoteJwks');
guards('src/auth/signing-keys.ts', 'createRemoteJwks.fetchKeys');
guards('src/auth/tokens/browser-access.ts', 'createBrowserAccess.maxWaiting');
guards('src/auth/signing-keys.ts', 'createRemoteJwks.renewAfter');
guards('src/auth/signing-keys.ts', 'readJwks');
guards('src/auth/signing-keys.ts', 'readJwks.client.maxResponseSize');
guards('src/auth/signing-keys.ts', 'parseJwks');
guards('src/auth/signing-keys.ts', 'readKey');
guards('src/auth/tokens/token-verifier.ts', 'createVerifiedTokenCache.get');
guards('src/auth/tokens/token-verifier.ts', 'createVerifiedTokenCache.verify');
guards('src/auth/tokens/token-verifier.ts', 'isOfUnknownKey');
guards('src/auth/tokens/token-verifier.ts', 'verify.verifyWith.findKey');
guards('src/auth/authenticate.ts', 'toRefusal');

const GROUPS = '{ notificationGroups { name } }';
const AUDIENCE = 'dashboard';

/** Age at which the gateway refreshes keys, in milliseconds. */
const MAX_AGE = 5 * 60_000;
/** Age up to which the gateway uses keys if the issuer is unreachable, in milliseconds. */
const MAX_STALE = 60 * 60_000;
/** Minimum interval between requests for unknown key ids, in milliseconds. */
const COOLDOWN = 10_000;
/** Delay before the gateway retries an issuer that failed, in milliseconds. */
const RETRY_DELAY = 5_000;

let issuer: TestIssuer;

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['Date', 'performance'] }); // Fakes only the clocks; connections use real timers.
  issuer = await startTestIssuer({ claims: { aud: AUDIENCE, tenant: 'acme', scope: 'groups:read' } });
  return async () => {
    vi.useRealTimers();
    await issuer[Symbol.asyncDispose]();
  };
});

interface StartOptions {
  issuers?: NonNullable<BrowserOptions['issuers']>;
  reloadSeconds?: number;
  maxInFlightRequests?: number;
}

/** Starts a gateway that trusts the issuer. */
async function start({ issuers, ...options }: StartOptions = {}) {
  const browser: BrowserOptions = {
    issuers: issuers ?? [{ issuer: issuer.url, audience: AUDIENCE, jwks: issuer.jwks, algorithms: ['ES256', 'RS256'] }],
    scopes: ['groups:read'],
    tenants: { acme: 'key-of-acme' },
  };
  const script = () => ({ body: { data: [] } });
  const deps = { monotonicNow: () => performance.now() };
  const gateway = ofTest(await startGateway({ service: script, ...options, clients: { browser } }, deps));

  /** Returns the status of a request with the token, and the reason or code if any, such as `401 TOKEN_INVALID`. */
  async function outcome(token: string): Promise<string> {
    const id = randomUUID();
    const request = { authorization: `Bearer ${token}`, headers: { 'x-request-id': id } };
    const { status, headers, body } = await gateway.send(GROUPS, {}, request);
    const { code, reason, retryable, retryAfterSeconds } = body.errors?.[0]?.extensions ?? {};
    if (status !== 200) {
      expect(gateway.service.requests.filter((call) => call.headers['x-request-id'] === id)).toEqual([]);
    }
    if (status === 503) {
      expect({ code, retryable, retryAfterSeconds, header: headers.get('retry-after') }).toEqual({
        code: 'SIGN_IN_UNAVAILABLE',
        retryable: true,
        retryAfterSeconds: 5,
        header: '5',
      });
      expect(headers.get('www-authenticate')).toBeNull();
    }
    return [status, reason ?? code].filter((word) => word !== undefined).join(' ');
  }
  const warnings = () => gateway.log.filter(({ issuerKeys }) => issuerKeys !== undefined);
  return { gateway, outcome, warnings };
}

/** JSON that is nested too deeply for recursive functions. */
const DEEP = `${'['.repeat(50_000)}${']'.repeat(50_000)}`;

let count = 0;

/** Signs a token that the gateway has not cached. */
const newToken = (options?: Parameters<TestIssuer['sign']>[1]) => {
  count += 1;
  return issuer.sign({ jti: String(count), exp: Math.floor(Date.now() / 1000) + 86_400 }, options);
};

const advance = (ms: number) => vi.advanceTimersByTime(ms);

describe('the keys that an issuer publishes', () => {
  it('are requested once, when the first token arrives', async () => {
    const { outcome } = await start();
    expect(issuer.keyRequests).toBe(0);
    expect(await Promise.all(Array.from({ length: 20 }, () => outcome(newToken())))).toEqual(Array(20).fill('200'));
    advance(MAX_AGE - 1_000);
    expect(await outcome(newToken())).toBe('200');
    expect(issuer.keyRequests).toBe(1);
  });

  it('can be rotated: a new key is requested when a token names it', async () => {
    const { outcome } = await start();
    await outcome(newToken());
    advance(COOLDOWN);
    const old = issuer.key;
    issuer.rotate();
    expect(await outcome(newToken())).toBe('200');
    expect(await outcome(newToken({ key: old }))).toBe('200');
    expect(issuer.keyRequests).toBe(2);
  });

  it('can be withdrawn: tokens of a withdrawn key are rejected when the keys are refreshed after five minutes', async () => {
    const { outcome } = await start();
    const seen = newToken();
    await outcome(seen);
    const old = issuer.key;
    issuer.rotate();
    issuer.withdraw(old);
    expect(await outcome(newToken({ key: old }))).toBe('200');
    advance(MAX_AGE);
    expect(await outcome(newToken({ key: old }))).toBe('401 TOKEN_INVALID');
    expect(await outcome(seen)).toBe('401 TOKEN_INVALID');
    expect(await outcome(newToken())).toBe('200');
  });

  it('can be withdrawn: cached tokens are rejected one minute after the keys were refreshed', async () => {
    const { outcome } = await start();
    const seen = newToken();
    await outcome(seen);
    const old = issuer.key;
    issuer.rotate();
    issuer.withdraw(old);
    advance(COOLDOWN);
    expect(await outcome(newToken())).toBe('200');
    expect(await outcome(newToken({ key: old }))).toBe('401 TOKEN_INVALID');
    advance(60_000);
    expect(await outcome(seen)).toBe('401 TOKEN_INVALID');
  });

  const madeUpIds = (i: number) => `made-up-${i}`;
  it.each<[string, kidOf: (i: number) => string, KeysBehavior, refusal: string, warnings: number]>([
    ['unknown key id', madeUpIds, 'published', '401 TOKEN_INVALID', 0],
    ['unknown key id', madeUpIds, 'reset', '503 SIGN_IN_UNAVAILABLE', 1],
    ['wrong signature', () => issuer.key.kid, 'published', '401 TOKEN_INVALID', 0],
    ['wrong signature', () => issuer.key.kid, 'reset', '503 SIGN_IN_UNAVAILABLE', 1],
  ])(
    'are not requested for every %s while the behavior of the issuer is $2',
    async (_, kidOf, behavior, refusal, count) => {
      const { outcome, warnings } = await start();
      await outcome(newToken());
      const strange = createTestKey();
      const forge = (_: unknown, i: number) => outcome(newToken({ key: { ...strange, kid: kidOf(i) } }));
      const refused = Array(50).fill('401 TOKEN_INVALID');
      expect(await Promise.all(Array.from(refused, forge))).toEqual(refused);
      expect(issuer.keyRequests).toBe(1);
      issuer.behavior = behavior;
      advance(COOLDOWN);
      for (let i = 50; i < 100; i += 1) {
        expect(await forge(undefined, i)).toBe(refusal);
        expect(await outcome(newToken())).toBe('200');
      }
      expect(issuer.keyRequests).toBe(2);
      expect(warnings()).toHaveLength(count);
    },
  );

  it('are tried once for a forged token, as long as they are the same', async () => {
    const { outcome } = await start();
    await outcome(newToken());
    const verify = vi.spyOn(crypto.subtle, 'verify');
    onTestFinished(() => verify.mockRestore());
    expect(await outcome(newToken({ key: createTestKey('ES256', issuer.key.kid) }))).toBe('401 TOKEN_INVALID');
    expect(verify).toHaveBeenCalledTimes(1);
  });

  it('R50: are each tried if several have the same id, and a forged token is rejected', async () => {
    const { outcome } = await start();
    const { kid } = issuer.key;
    const [second, stranger] = [createTestKey('ES256', kid), createTestKey('ES256', kid)];
    issuer.published = [second.jwk, issuer.key.jwk, { ...createTestKey().jwk, kid, x: 'no point of the curve' }];
    for (const key of [issuer.key, second]) {
      expect(await outcome(newToken({ key }))).toBe('200');
      expect(await outcome(newToken({ key, header: { kid: undefined } }))).toBe('200');
    }
    expect(await outcome(newToken({ key: stranger }))).toBe('401 TOKEN_INVALID');
    expect(await outcome(newToken({ key: { ...second, kid: 'unknown' } }))).toBe('401 TOKEN_INVALID');
    expect(issuer.keyRequests).toBe(1);
  });

  it('R51: stay in use while the issuer publishes none, which is one warning, and another when it has ended', async () => {
    const { outcome, warnings } = await start();
    await outcome(newToken());
    for (const none of ['{"keys":[]}', '{"keys":[null,"canary"]}']) {
      issuer.behavior = (response) => response.end(none);
      for (let i = 0; i < 3; i += 1) {
        advance(MAX_AGE);
        expect(await outcome(newToken())).toBe('200');
        expect(await outcome(newToken({ key: createTestKey() }))).toBe('503 SIGN_IN_UNAVAILABLE');
      }
    }
    expect(issuer.keyRequests).toBe(7);
    issuer.behavior = 'published';
    advance(MAX_AGE);
    expect(await outcome(newToken())).toBe('200');
    expect(warnings()).toMatchObject([
      { level: 40, cause: 'an empty key set', msg: "an issuer's signing keys are unavailable" },
      { level: 40, cause: 'not a key set', msg: "an issuer's signing keys are unavailable" },
      { level: 40, issuerKeys: issuer.url, msg: "an issuer's signing keys are available again" },
    ]);
    expect(await outcome(newToken({ key: createTestKey() }))).toBe('401 TOKEN_INVALID');
  });

  it('R52: are requested once more after a wrong signature, because a new key can have the id of the old one', async () => {
    const { outcome } = await start();
    await outcome(newToken());
    const old = issuer.key;
    issuer.withdraw(old);
    issuer.rotate(old.kid);
    expect(await outcome(newToken())).toBe('401 TOKEN_INVALID'); // They were requested less than ten seconds ago.
    advance(COOLDOWN);
    expect(await Promise.all(Array.from({ length: 20 }, () => outcome(newToken())))).toEqual(Array(20).fill('200'));
    expect(await outcome(newToken({ key: old }))).toBe('401 TOKEN_INVALID');
    expect(issuer.keyRequests).toBe(2);
  });

  it.each(['another id', 'the same id'])(
    'can be rotated to one with %s while the issuer is unavailable: its tokens are 503 until it has been fetched',
    async (id) => {
      const { gateway, outcome, warnings } = await start();
      await outcome(newToken());
      const old = issuer.key;
      issuer.behavior = (response) => response.writeHead(500).end();
      issuer.rotate(id === 'the same id' ? old.kid : undefined);
      advance(COOLDOWN);
      for (let i = 0; i < 3; i += 1) {
        expect(await outcome(newToken())).toBe('503 SIGN_IN_UNAVAILABLE');
        expect(await outcome(newToken({ key: old }))).toBe('200');
        expect(await outcome(issuer.sign({ exp: 1 }, { key: old }))).toBe('401 TOKEN_EXPIRED');
        advance(RETRY_DELAY);
      }
      expect(await metricValues(await gateway.metrics(), /^notigraph_operations_total.*(?:SIGN_IN|UNAUTH)/)).toEqual({
        'notigraph_operations_total{type="none",code="SIGN_IN_UNAVAILABLE"}': 3, // It has an alert.
        'notigraph_operations_total{type="none",code="UNAUTHENTICATED"}': 3,
      });
      issuer.behavior = 'published';
      expect(await outcome(newToken())).toBe('200');
      expect(issuer.keyRequests).toBe(5);
      expect(warnings().map(({ cause }) => cause)).toEqual(['status 500', undefined]);
    },
  );

  it('are used if other entries of the set are no objects', async () => {
    const { outcome, warnings } = await start();
    const [key = {}] = issuer.published;
    issuer.behavior = (response) => response.end(JSON.stringify({ keys: [null, 'canary', 7, [key], key] }));
    expect(await outcome(newToken())).toBe('200');
    expect(warnings()).toEqual([]);
  });

  it('are used only for signatures and only with their own algorithm', async () => {
    const { outcome } = await start();
    const { jwk } = issuer.key;
    for (const published of [
      { ...jwk, use: 'enc' },
      { ...jwk, key_ops: ['sign'] },
      { ...jwk, alg: 'ES384' },
      { ...jwk, alg: 'HS256' },
      { ...jwk, kty: 'oct', k: 'c2VjcmV0' },
      { ...issuer.key.privateKey.export({ format: 'jwk' }), kid: issuer.key.kid },
      { kty: 'EC', kid: issuer.key.kid },
    ]) {
      issuer.published = [published];
      advance(MAX_AGE);
      expect([published, await outcome(newToken())]).toEqual([published, '401 TOKEN_INVALID']);
    }
    issuer.published = [jwk];
    advance(MAX_AGE);
    expect(await outcome(newToken())).toBe('200');
  });
});

describe('an issuer that is unavailable', () => {
  it('at startup fails only its own tokens with 503, and is retried after five seconds', async () => {
    const { gateway, outcome, warnings } = await start();
    issuer.behavior = 'reset';
    expect(await Promise.all(Array.from({ length: 20 }, () => outcome(newToken())))).toEqual(
      Array(20).fill('503 SIGN_IN_UNAVAILABLE'),
    );
    advance(RETRY_DELAY - 1);
    expect(await outcome(newToken())).toBe('503 SIGN_IN_UNAVAILABLE');
    expect(issuer.keyRequests).toBe(1);
    expect((await gateway.send(GROUPS, {}, { authorization: 'ApiKey key-of-a-server' })).status).toBe(200);
    expect(warnings()).toMatchObject([
      { level: 40, issuerKeys: issuer.url, cause: expect.stringMatching(/^(?:ECONNRESET|UND_ERR_SOCKET)$/) },
    ]);

    issuer.behavior = 'published';
    advance(1);
    expect(await outcome(newToken())).toBe('200');
    expect(issuer.keyRequests).toBe(2);
  });

  it('later does not affect tokens for an hour, because its previous keys stay in use', async () => {
    const { outcome } = await start();
    await outcome(newToken());
    issuer.behavior = 'reset';
    advance(MAX_AGE);
    expect(await outcome(newToken())).toBe('200');
    // The issuer may have published their keys since.
    expect(await outcome(newToken({ key: createTestKey('ES256', 'unknown') }))).toBe('503 SIGN_IN_UNAVAILABLE');
    expect(await outcome(newToken({ key: createTestKey('ES256', issuer.key.kid) }))).toBe('503 SIGN_IN_UNAVAILABLE');
    expect(issuer.keyRequests).toBe(2);
    advance(MAX_STALE - MAX_AGE);
    expect(await outcome(newToken())).toBe('200');
    expect(issuer.keyRequests).toBe(3);
    advance(RETRY_DELAY);
    expect(await outcome(newToken())).toBe('503 SIGN_IN_UNAVAILABLE');
    issuer.behavior = 'published';
    advance(RETRY_DELAY);
    expect(await outcome(newToken())).toBe('200');
  });

  it('because it hangs delays tokens with unknown keys for five seconds at most, and others not at all', async () => {
    const { outcome, warnings } = await start();
    await outcome(newToken());
    const unaware = await start({ maxInFlightRequests: 8 }); // It has no keys yet.
    issuer.behavior = 'hang';
    advance(COOLDOWN);
    const startedAt = process.hrtime.bigint();
    const unknown = Array.from({ length: 10 }, () => outcome(newToken({ key: createTestKey('ES256', 'unknown') })));
    await issuer.waitForKeyRequests(2);
    expect(await outcome(newToken())).toBe('200');

    // Requests that wait take half of the requests in flight at most.
    const waiting = Array.from({ length: 4 }, () => unaware.outcome(newToken()));
    await issuer.waitForKeyRequests(3);
    await expect.poll(() => unaware.gateway.running()).toBe(4);
    const beyond = await unaware.gateway.send(GROUPS, {}, { authorization: `Bearer ${newToken()}` });
    expect(beyond.codes).toEqual(['SIGN_IN_UNAVAILABLE']);
    expect((await unaware.gateway.send(GROUPS)).status).toBe(200);

    expect(Number(process.hrtime.bigint() - startedAt) / 1e6).toBeLessThan(4_500);
    expect(await Promise.all(unknown)).toEqual(Array(10).fill('503 SIGN_IN_UNAVAILABLE'));
    expect(await Promise.all(waiting)).toEqual(Array(4).fill('503 SIGN_IN_UNAVAILABLE'));
    expect(Number(process.hrtime.bigint() - startedAt) / 1e6).toBeLessThan(9_900);
    expect(issuer.keyRequests).toBe(3);
    expect(warnings()).toMatchObject([{ cause: 'TimeoutError' }]);
    expect(await unaware.outcome(newToken())).toBe('503 SIGN_IN_UNAVAILABLE');
  });

  it('because it is slow makes only its share of tokens with unknown keys wait: further ones are 503 at once', async () => {
    const { gateway, outcome } = await start({ maxInFlightRequests: 8 }); // So 4 may wait.
    await outcome(newToken());
    const next = issuer.rotate();
    const { promise: request, resolve: received } = Promise.withResolvers<ServerResponse>();
    issuer.behavior = received;
    advance(COOLDOWN);
    const ofEach = (_: unknown, i: number) => outcome(issuer.sign({ sub: `user-${i}` }, { key: next }));
    const waiting = Array.from({ length: 4 }, ofEach);
    const response = await request;
    await expect.poll(() => gateway.running()).toBe(4);
    expect(await outcome(newToken({ key: next }))).toBe('503 SIGN_IN_UNAVAILABLE');
    response.end(JSON.stringify({ keys: issuer.published }));
    expect(await Promise.all(waiting)).toEqual(Array(4).fill('200'));
    expect(await outcome(newToken({ key: next }))).toBe('200');
    expect(await outcome(newToken({ key: createTestKey() }))).toBe('401 TOKEN_INVALID');
    expect(issuer.keyRequests).toBe(2);
  });

  it('because it hangs takes only its own share of the requests that wait, and none of what needs no wait', async () => {
    await using other = await startTestIssuer({ claims: { aud: AUDIENCE, tenant: 'acme', scope: 'groups:read' } });
    const local = createTestKey();
    const common = { audience: AUDIENCE, algorithms: ['ES256' as const] };
    const { gateway, outcome } = await start({
      issuers: [
        { issuer: issuer.url, jwks: issuer.jwks, ...common },
        { issuer: other.url, jwks: other.jwks, ...common },
        { issuer: 'local', publicKey: local.pem, ...common },
      ],
      maxInFlightRequests: 16, // So 4 per issuer with remote keys.
    });
    issuer.behavior = 'hang';
    const waiting = Array.from({ length: 4 }, () => outcome(newToken()));
    await issuer.waitForKeyRequests(1);
    await expect.poll(() => gateway.running()).toBe(4);
    const startedAt = process.hrtime.bigint();
    expect([await outcome(newToken()), await outcome(newToken())]).toEqual(Array(2).fill('503 SIGN_IN_UNAVAILABLE'));
    expect(Number(process.hrtime.bigint() - startedAt) / 1e6).toBeLessThan(4_500); // They did not wait.

    // The other one's keys are fetched for four tokens at once. Known keys need no wait, so any number is verified.
    const subjects = Array.from({ length: 8 }, (_, i) => ({ sub: `user-${i}` }));
    const together = (sign: TestIssuer['sign']) =>
      Promise.all(subjects.map((claims) => outcome(sign({ jti: 'a', ...claims }))));
    expect(await Promise.all(subjects.slice(0, 4).map((claims) => outcome(other.sign(claims))))).toEqual(
      Array(4).fill('200'),
    );
    expect(await together(other.sign)).toEqual(Array(8).fill('200'));
    expect(await together((claims) => issuer.sign({ iss: 'local', ...claims }, { key: local }))).toEqual(
      Array(8).fill('200'),
    );
    expect([issuer.keyRequests, other.keyRequests]).toEqual([1, 1]);
    expect(gateway.running()).toBe(4);
    expect(await Promise.all(waiting)).toEqual(Array(4).fill('503 SIGN_IN_UNAVAILABLE'));
    issuer.behavior = 'published';
    advance(RETRY_DELAY);
    expect(await outcome(newToken())).toBe('200'); // Those that have waited don't count any more.
  });

  const json = (value: unknown) => (response: ServerResponse) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));
  };
  it.each<[string, KeysBehavior, string]>([
    ['500', (response) => response.writeHead(500).end('canary'), 'status 500'],
    ['an empty response', (response) => response.writeHead(204).end(), 'status 204'],
    ['text that is not JSON', (response) => response.writeHead(200).end('{"keys":[canary'), 'not a key set'],
    ['another object', json({ error: 'canary' }), 'not a key set'],
    ['invalid keys', json({ keys: ['canary'] }), 'not a key set'],
    ['null', json(null), 'not a key set'],
    ['no keys', json({ keys: [] }), 'an empty key set'],
    ['a deeply nested key', (response) => response.end(`{"keys":[{"kty":"EC","x":${DEEP}}]}`), 'not a key set'],
    ['a deeply nested list', (response) => response.end(DEEP), 'not a key set'],
    [
      'an incomplete response',
      (response) => void response.writeHead(200, { 'content-length': 99 }).write('{', () => response.destroy()),
      'UND_ERR_SOCKET',
    ],
  ])('because it responds with %s fails its tokens with 503', async (_, behavior, cause) => {
    const { gateway, outcome, warnings } = await start();
    issuer.behavior = behavior;
    expect(await outcome(newToken())).toBe('503 SIGN_IN_UNAVAILABLE');
    expect(warnings()).toMatchObject([{ cause }]);
    expect(JSON.stringify(gateway.log)).not.toMatch(/canary|jwk|JSON Web/i);
  });

  it('because its response is endless is disconnected after 256 KiB', async () => {
    const { outcome, warnings } = await start();
    const { promise: closed, resolve: close } = Promise.withResolvers<number>();
    issuer.behavior = (response) => {
      let sent = 0;
      const chunk = Buffer.alloc(16 * 1024, ' ');
      const send = () => {
        while (!response.destroyed && response.write(chunk)) {
          sent += chunk.length;
        }
      };
      response
        .on('drain', send)
        .on('close', () => close(sent))
        .on('error', () => {});
      response.writeHead(200, { 'content-type': 'application/json' });
      send();
    };
    expect(await outcome(newToken())).toBe('503 SIGN_IN_UNAVAILABLE');
    expect(await closed).toBeLessThan(64 * 1024 * 1024); // Socket buffers take more than the gateway reads.
    expect(warnings()).toMatchObject([{ cause: 'more than 262144 bytes' }]);
  });

  it('because it redirects is not followed', async () => {
    await using elsewhere = await startTestIssuer();
    elsewhere.published = issuer.published;
    const { outcome, warnings } = await start();
    for (const status of [302, 307]) {
      issuer.behavior = (response) => response.writeHead(status, { location: elsewhere.jwks }).end();
      expect(await outcome(newToken())).toBe('503 SIGN_IN_UNAVAILABLE');
      expect(warnings().at(-1)).toMatchObject({ cause: `status ${status}` });
      advance(RETRY_DELAY);
    }
    expect(elsewhere.keyRequests).toBe(0);
  });
});

it.each([
  ['PEM', ({ privateKey }: TestKey) => String(privateKey.export({ format: 'pem', type: 'pkcs8' }))],
  ['JWK', ({ privateKey }: TestKey) => JSON.stringify(privateKey.export({ format: 'jwk' }))],
])(
  'a public key in a file is replaced without a restart, and kept while the file has a private key as %s',
  async (_, privateText) => {
    await using folder = await createTemporaryFolder();
    const file = folder.path('login.pem');
    await writeFile(file, issuer.key.pem);
    const { gateway, outcome } = await start({
      issuers: [{ issuer: issuer.url, audience: AUDIENCE, publicKey: { file }, algorithms: ['ES256'] }],
      reloadSeconds: 0.05,
    });
    const problems = () => gateway.log.filter(({ problem }) => problem !== undefined);
    expect(await outcome(newToken())).toBe('200');

    const old = issuer.key;
    const next = issuer.rotate();
    const draft = folder.path('draft.pem');
    await writeFile(draft, privateText(next));
    await rename(draft, file); // Renaming keeps the gateway from reading a partial file.
    await vi.waitUntil(() => problems().length > 0, { timeout: 20_000 });
    expect(problems()).toMatchObject([{ problem: expect.stringContaining('private') }]);
    expect(await outcome(newToken({ key: old }))).toBe('200');

    await writeFile(file, next.pem);
    await vi.waitUntil(async () => (await outcome(newToken({ key: next }))) === '200', { timeout: 20_000 });
    expect(await outcome(newToken({ key: old }))).toBe('401 TOKEN_INVALID');
    expect(issuer.keyRequests).toBe(0);
  },
);
