import { randomUUID } from 'node:crypto';
import { rename, writeFile } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { startGateway } from '../support/gateway.ts';
import { createTestKey, type KeysBehaviour, startTestIssuer, type TestIssuer } from '../support/issuer.ts';
import { listen } from '../support/listen.ts';
import { createTemporaryFolder } from '../support/sandbox-files.ts';
import { startScriptedUpstream } from '../support/scripted-upstream.ts';
import type { BrowserOptions } from '../support/tokens.ts';

const GROUPS = '{ notificationGroups { name } }';
const AUDIENCE = 'dashboard';

/** How long the gateway goes by the keys that it has, in milliseconds. */
const MAX_AGE = 5 * 60_000;
/** How long it does so where the issuer cannot be reached. */
const MAX_STALE = 60 * 60_000;
/** An unknown key id is asked for this often. */
const COOLDOWN = 10_000;
/** How long it leaves an issuer in peace that has failed. */
const PAUSE = 5_000;

let issuer: TestIssuer;

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['Date', 'performance'] }); // Time passes when a test says so; connections live in real time.
  issuer = await startTestIssuer({ claims: { aud: AUDIENCE, tenant: 'acme', scope: 'groups:read' } });
});

afterEach(async () => {
  vi.useRealTimers();
  await issuer[Symbol.asyncDispose]();
});

interface Setting {
  issuers?: NonNullable<BrowserOptions['issuers']>;
  reloadSeconds?: number;
}

/** A gateway that trusts the issuer, with what it does for a token. */
async function start({ issuers, reloadSeconds }: Setting = {}) {
  const upstream = await startScriptedUpstream(() => ({ body: { data: [] } }));
  const gateway = await startGateway({
    upstream: upstream.url,
    ...(reloadSeconds !== undefined && { reloadSeconds }),
    clients: {
      browser: {
        issuers: issuers ?? [
          { issuer: issuer.url, audience: AUDIENCE, jwks: issuer.jwks, algorithms: ['ES256', 'RS256'] },
        ],
        scopes: ['groups:read'],
        tenants: { acme: 'key-of-acme' },
      },
    },
  });
  onTestFinished(async () => {
    await gateway[Symbol.asyncDispose]();
    await upstream[Symbol.asyncDispose]();
  });

  /** The status, with the reason or code where there is one, such as `401 TOKEN_INVALID`. */
  async function outcome(token: string): Promise<string> {
    const id = randomUUID();
    const { status, headers, body } = await gateway.send(
      GROUPS,
      {},
      { authorization: `Bearer ${token}`, headers: { 'x-request-id': id } },
    );
    const { code, reason, retryable, retryAfterSeconds } = body.errors?.[0]?.extensions ?? {};
    if (status !== 200) {
      expect(upstream.requests.filter((request) => request.headers['x-request-id'] === id)).toEqual([]);
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
  return { gateway, upstream, outcome, warnings };
}

/** A token that was not seen before. */
let count = 0;
const fresh = (options?: Parameters<TestIssuer['sign']>[1]) => {
  count += 1;
  return issuer.sign({ jti: String(count), exp: Math.floor(Date.now() / 1000) + 86_400 }, options);
};

const pass = (ms: number) => vi.advanceTimersByTime(ms);

describe('the keys that an issuer publishes', () => {
  it('are asked for once, when the first token comes', async () => {
    const { outcome } = await start();
    expect(issuer.keyRequests).toBe(0);
    expect(await Promise.all(Array.from({ length: 20 }, () => outcome(fresh())))).toEqual(Array(20).fill('200'));
    pass(MAX_AGE - 1_000);
    expect(await outcome(fresh())).toBe('200');
    expect(issuer.keyRequests).toBe(1);
  });

  it('may be replaced: a new one is fetched when a token names it', async () => {
    const { outcome } = await start();
    await outcome(fresh());
    pass(COOLDOWN);
    const old = issuer.key;
    issuer.rotate();
    expect(await outcome(fresh())).toBe('200');
    expect(await outcome(fresh({ key: old }))).toBe('200');
    expect(issuer.keyRequests).toBe(2);
  });

  it('may be withdrawn: tokens of an old one are refused when the keys are five minutes old', async () => {
    const { outcome } = await start();
    const seen = fresh();
    await outcome(seen);
    const old = issuer.key;
    issuer.rotate();
    issuer.withdraw(old);
    expect(await outcome(fresh({ key: old }))).toBe('200');
    pass(MAX_AGE);
    expect(await outcome(fresh({ key: old }))).toBe('401 TOKEN_INVALID');
    expect(await outcome(seen)).toBe('401 TOKEN_INVALID');
    expect(await outcome(fresh())).toBe('200');
  });

  it('may be withdrawn: tokens that were seen before are refused a minute after the keys were fetched anew', async () => {
    const { outcome } = await start();
    const seen = fresh();
    await outcome(seen);
    const old = issuer.key;
    issuer.rotate();
    issuer.withdraw(old);
    pass(COOLDOWN);
    expect(await outcome(fresh())).toBe('200');
    expect(await outcome(fresh({ key: old }))).toBe('401 TOKEN_INVALID');
    pass(60_000);
    expect(await outcome(seen)).toBe('401 TOKEN_INVALID');
  });

  it('are not asked for by everybody who makes up a key id', async () => {
    const { outcome } = await start();
    await outcome(fresh());
    const strange = createTestKey();
    const forge = () => outcome(fresh({ key: { ...strange, kid: `made-up-${count}` } }));
    expect(new Set(await Promise.all(Array.from({ length: 50 }, forge)))).toEqual(new Set(['401 TOKEN_INVALID']));
    expect(issuer.keyRequests).toBe(1);
    pass(COOLDOWN);
    for (let i = 0; i < 50; i += 1) {
      expect(await forge()).toBe('401 TOKEN_INVALID');
    }
    expect(issuer.keyRequests).toBe(2);
  });

  it('are not asked for by everybody who makes up a key id while the issuer is down either', async () => {
    const { outcome, warnings } = await start();
    await outcome(fresh());
    issuer.behaviour = 'reset';
    pass(COOLDOWN);
    const strange = createTestKey();
    for (let i = 0; i < 50; i += 1) {
      expect(await outcome(fresh({ key: { ...strange, kid: `made-up-${count}` } }))).toBe('401 TOKEN_INVALID');
      expect(await outcome(fresh())).toBe('200');
    }
    expect(issuer.keyRequests).toBe(2);
    expect(warnings()).toHaveLength(1);
  });

  it('may have one id twice, and then neither of the two is taken', async () => {
    const { outcome } = await start();
    issuer.published.push({ ...createTestKey().jwk, kid: issuer.key.kid });
    expect(await outcome(fresh())).toBe('401 TOKEN_INVALID');
    expect(await outcome(fresh({ header: { kid: undefined } }))).toBe('401 TOKEN_INVALID');
  });

  it('are used for signatures alone, by their own algorithm', async () => {
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
      pass(MAX_AGE);
      expect([published, await outcome(fresh())]).toEqual([published, '401 TOKEN_INVALID']);
    }
    issuer.published = [jwk];
    pass(MAX_AGE);
    expect(await outcome(fresh())).toBe('200');
  });
});

describe('an issuer that cannot be reached', () => {
  it('at the start makes 503 of its tokens alone, once in five seconds', async () => {
    const { gateway, outcome, warnings } = await start();
    issuer.behaviour = 'reset';
    expect(await Promise.all(Array.from({ length: 20 }, () => outcome(fresh())))).toEqual(
      Array(20).fill('503 SIGN_IN_UNAVAILABLE'),
    );
    pass(PAUSE - 1);
    expect(await outcome(fresh())).toBe('503 SIGN_IN_UNAVAILABLE');
    expect(issuer.keyRequests).toBe(1);
    expect((await gateway.send(GROUPS, {}, { authorization: 'ApiKey key-of-a-server' })).status).toBe(200);
    expect(warnings()).toMatchObject([
      { level: 40, issuerKeys: issuer.url, cause: expect.stringMatching(/^(?:ECONNRESET|UND_ERR_SOCKET)$/) },
    ]);

    issuer.behaviour = 'published';
    pass(1);
    expect(await outcome(fresh())).toBe('200');
    expect(issuer.keyRequests).toBe(2);
  });

  it('because nothing listens there makes 503 of its tokens', async () => {
    const gone = await listen(createServer());
    await gone.close();
    const { outcome, warnings } = await start({
      issuers: [{ issuer: issuer.url, audience: AUDIENCE, jwks: `${gone.url}/keys` }],
    });
    expect(await outcome(fresh())).toBe('503 SIGN_IN_UNAVAILABLE');
    expect(warnings()).toMatchObject([{ issuerKeys: gone.url, cause: 'ECONNREFUSED' }]);
  });

  it('later is done without for an hour, by the keys that it had', async () => {
    const { outcome } = await start();
    await outcome(fresh());
    issuer.behaviour = 'reset';
    pass(MAX_AGE);
    expect(await outcome(fresh())).toBe('200');
    expect(await outcome(fresh({ key: createTestKey('ES256', 'unknown') }))).toBe('401 TOKEN_INVALID');
    expect(await outcome(fresh({ key: createTestKey('ES256', issuer.key.kid) }))).toBe('401 TOKEN_INVALID');
    expect(issuer.keyRequests).toBe(2);
    pass(MAX_STALE - MAX_AGE);
    expect(await outcome(fresh())).toBe('200');
    expect(issuer.keyRequests).toBe(3);
    pass(PAUSE);
    expect(await outcome(fresh())).toBe('503 SIGN_IN_UNAVAILABLE');
    issuer.behaviour = 'published';
    pass(PAUSE);
    expect(await outcome(fresh())).toBe('200');
  });

  it('because it hangs is waited for five seconds, together, and holds up nobody whose key is known', async () => {
    const { outcome, warnings } = await start();
    await outcome(fresh());
    issuer.behaviour = 'hang';
    pass(COOLDOWN);
    const startedAt = process.hrtime.bigint();
    const unknown = Array.from({ length: 10 }, () => outcome(fresh({ key: createTestKey('ES256', 'unknown') })));
    await issuer.waitForKeyRequests(2);
    expect(await outcome(fresh())).toBe('200');
    expect(Number(process.hrtime.bigint() - startedAt) / 1e6).toBeLessThan(3_000);
    expect(await Promise.all(unknown)).toEqual(Array(10).fill('401 TOKEN_INVALID'));
    expect(Number(process.hrtime.bigint() - startedAt) / 1e6).toBeLessThan(8_000);
    expect(issuer.keyRequests).toBe(2);
    expect(warnings()).toMatchObject([{ cause: 'TimeoutError' }]);
  });

  const json = (value: unknown) => (response: ServerResponse) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));
  };
  it.each<[string, KeysBehaviour, string]>([
    ['500', (response) => response.writeHead(500).end('canary'), 'status 500'],
    ['404', (response) => response.writeHead(404).end('{"keys":[]}'), 'status 404'],
    ['nothing', (response) => response.writeHead(204).end(), 'status 204'],
    ['HTML', (response) => response.writeHead(200).end('<p>canary</p>'), 'not a key set'],
    ['no JSON', (response) => response.writeHead(200).end('{"keys":[canary'), 'not a key set'],
    ['another object', json({ error: 'canary' }), 'not a key set'],
    ['a list', json([{ kty: 'canary' }]), 'not a key set'],
    ['null', json(null), 'not a key set'],
    ['keys that are none', json({ keys: ['canary'] }), 'not a key set'],
    [
      'half an answer',
      (response) => void response.writeHead(200, { 'content-length': 99 }).write('{', () => response.destroy()),
      'UND_ERR_SOCKET',
    ],
  ])('because it answers %s makes 503 of its tokens', async (_, behaviour, cause) => {
    const { gateway, outcome, warnings } = await start();
    issuer.behaviour = behaviour;
    expect(await outcome(fresh())).toBe('503 SIGN_IN_UNAVAILABLE');
    expect(warnings()).toMatchObject([{ cause }]);
    expect(JSON.stringify(gateway.log)).not.toMatch(/canary|jwk|JSON Web/i);
  });

  it('because it sends without an end is left at 256 KiB', async () => {
    const { outcome, warnings } = await start();
    const { promise: closed, resolve: close } = Promise.withResolvers<number>();
    issuer.behaviour = (response) => {
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
    expect(await outcome(fresh())).toBe('503 SIGN_IN_UNAVAILABLE');
    expect(await closed).toBeLessThan(64 * 1024 * 1024); // What sockets buffer.
    expect(warnings()).toMatchObject([{ cause: 'more than 262144 bytes' }]);
  });

  it('because it sends elsewhere is not followed', async () => {
    await using elsewhere = await startTestIssuer();
    elsewhere.published = issuer.published;
    const { outcome, warnings } = await start();
    for (const status of [301, 302, 303, 307, 308]) {
      issuer.behaviour = (response) => response.writeHead(status, { location: elsewhere.jwks }).end();
      expect(await outcome(fresh())).toBe('503 SIGN_IN_UNAVAILABLE');
      expect(warnings().at(-1)).toMatchObject({ cause: `status ${status}` });
      pass(PAUSE);
    }
    expect(elsewhere.keyRequests).toBe(0);
  });
});

describe('a public key in a file', () => {
  it('is replaced without a restart, and kept while the file holds none', async () => {
    await using folder = await createTemporaryFolder();
    const file = folder.path('login.pem');
    await writeFile(file, issuer.key.pem);
    const { gateway, outcome } = await start({
      issuers: [{ issuer: issuer.url, audience: AUDIENCE, publicKey: { file }, algorithms: ['ES256'] }],
      reloadSeconds: 0.05,
    });
    const problems = () => gateway.log.filter(({ problem }) => problem !== undefined);
    expect(await outcome(fresh())).toBe('200');

    const old = issuer.key;
    const next = issuer.rotate();
    const draft = folder.path('draft.pem');
    await writeFile(draft, String(next.privateKey.export({ format: 'pem', type: 'pkcs8' })));
    await rename(draft, file); // The gateway must not see the file while it is written.
    await vi.waitUntil(() => problems().length > 0, { timeout: 10_000 });
    expect(problems()).toMatchObject([{ problem: expect.stringContaining('private') }]);
    expect(await outcome(fresh({ key: old }))).toBe('200');

    await writeFile(file, next.pem);
    await vi.waitUntil(async () => (await outcome(fresh({ key: next }))) === '200', { timeout: 10_000 });
    expect(await outcome(fresh({ key: old }))).toBe('401 TOKEN_INVALID');
    expect(issuer.keyRequests).toBe(0);
  });
});
