import { createHmac } from 'node:crypto';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { GatewayOptions } from '../../src/gateway.ts';
import { startGateway } from '../support/gateway.ts';
import { sendToBoth, startGatewayPair, type WireResponse } from '../support/gateway-pair.ts';
import { guards } from '../support/guards.ts';
import {
  createTestKey,
  encode,
  replacePart,
  signingInput,
  signToken,
  signWithSecret,
  startTestIssuer,
} from '../support/issuer.ts';
import { ofFile } from '../support/lifetime.ts';
import { group } from '../support/records.ts';

guards('src/auth/authenticate.ts', 'createAuth.identifyNow');
guards('src/auth/tokens/browser-access.ts', 'trust.tenantOf');
guards('src/auth/tokens/token-verifier.ts', 'mismatchOf');
guards('src/auth/tokens/token-verifier.ts', 'readIssuer');
guards('src/auth/tokens/token-verifier.ts', 'readText');
guards('src/auth/tokens/token-verifier.ts', 'toTexts');
guards('src/auth/tokens/token-verifier.ts', 'verify.verifyWith.algorithms');
guards('src/auth/tokens/token-verifier.ts', 'verify.verifyWith.audience');
guards('src/auth/tokens/token-verifier.ts', 'verify.verifyWith.clockTolerance');
guards('src/auth/tokens/token-verifier.ts', 'verify.verifyWith.requiredClaims');
guards('src/auth/authenticate.ts', 'toRefusal');

const GROUPS = { query: '{ notificationGroups { name } }' };
const AUDIENCE = 'dashboard';
const SUBJECT = 'canary-subject';
const SECRET = 'canary-secret-of-client-tokens-0123456789';
const KEYS = { acme: 'canary-key-acme', globex: 'canary-key-globex', fixed: 'canary-key-fixed' };

/** Words that occur only in error messages of libraries. */
const LIBRARY_WORDS = /"?\b(?:jws|jwks?|jose|signature verification|claim|unexpected "|ERR_|Unsupported|alg)\b/i;

const CLAIMS = { aud: AUDIENCE, tenant: 'acme', scope: 'groups:read', sub: SUBJECT };

const issuer = ofFile(await startTestIssuer({ claims: CLAIMS }));
/** Issuer whose public key is configured, with a fixed tenant for all of its tokens. */
const second = ofFile(await startTestIssuer({ alg: 'RS256', claims: { ...CLAIMS, tenant: undefined } }));
/** Issuer that the gateway does not trust. */
const stranger = ofFile(await startTestIssuer({ claims: CLAIMS }));
const gateways = ofFile(
  await startGatewayPair(({ headers }) => ({ body: { data: [group({ name: headers.authorization ?? '' })] } }), {
    clients: {
      browser: {
        issuers: [
          {
            issuer: issuer.url,
            audience: [AUDIENCE, 'other-dashboard'],
            jwks: issuer.jwks,
            algorithms: ['ES256'],
            tenantClaim: 'tenant',
            tenants: ['acme', 'globex', 'without-key'],
          },
          {
            issuer: second.url,
            audience: AUDIENCE,
            publicKey: second.key.pem,
            algorithms: ['RS256'],
            tenant: 'fixed',
          },
        ],
        scopes: ['groups:read', 'groups:write'],
        tenants: KEYS,
      },
    },
    clientTokens: { secrets: [SECRET] },
  }),
);

/** Sends a request to both gateways and expects the same response. */
const send = (authorization: string, body: object = GROUPS): Promise<WireResponse> =>
  sendToBoth(gateways, { headers: { authorization }, body });

/** Returns the keys of the upstream calls. */
const keysOf = ({ upstream }: WireResponse) => upstream.map(({ headers }) => headers.authorization);

/** Expects the token to be rejected before any upstream call, without revealing any part of it. */
async function expectRefusal(token: string, reason: string, given = token): Promise<void> {
  const from = gateways.listener.log.length;
  const response = await send(`Bearer ${given}`);
  expect(response.upstream).toEqual([]);
  expect(response.status).toBe(401);
  expect(response.body).toEqual({
    errors: [
      {
        message: expect.stringMatching(/^The token .+\.$/),
        extensions: { code: 'UNAUTHENTICATED', reason, retryable: false, requestId: 'r1' },
      },
    ],
  });
  expect(response.headers['www-authenticate']).toMatch(
    /^ApiKey realm="notigraph", Bearer realm="notigraph", error="invalid_token", error_description="The token [^"]+\."$/,
  );
  const told = JSON.stringify([response, gateways.listener.log.slice(from)]);
  const secrets = [...Object.values(KEYS), SECRET, SUBJECT, ...token.split('.').filter((part) => part.length > 20)];
  expect(secrets.filter((secret) => told.includes(secret))).toEqual([]);
  expect(JSON.stringify(response.body)).not.toMatch(LIBRARY_WORDS);
}

const now = () => Math.floor(Date.now() / 1000);

describe('a valid token', () => {
  it('is replaced by the key of its tenant in upstream calls', async () => {
    for (const tenant of ['acme', 'globex'] as const) {
      const token = issuer.sign({ tenant });
      const response = await send(`Bearer ${token}`);
      expect(response).toMatchObject({
        status: 200,
        body: { data: { notificationGroups: [{ name: `ApiKey ${KEYS[tenant]}` }] } },
      });
      expect(keysOf(response)).toEqual([`ApiKey ${KEYS[tenant]}`]);
      expect(JSON.stringify(response.upstream)).not.toContain(token.split('.')[2]);
    }
  });

  it('is accepted from every configured issuer, including one with a fixed tenant', async () => {
    const responses = [await send(`Bearer ${second.sign()}`), await send(`Bearer ${second.sign({ tenant: 'acme' })}`)];
    expect(responses.map(keysOf)).toEqual([[`ApiKey ${KEYS.fixed}`], [`ApiKey ${KEYS.fixed}`]]);
  });

  it.each([['other-dashboard'], [['somebody', 'dashboard']]])('is accepted with the audience %j', async (aud) => {
    expect((await send(`Bearer ${issuer.sign({ aud })}`)).status).toBe(200);
  });

  it('is accepted within the permitted clock skew', async () => {
    expect((await send(`Bearer ${issuer.sign({ exp: now() - 3 })}`)).status).toBe(200);
    expect((await send(`Bearer ${issuer.sign({ nbf: now() + 4 })}`)).status).toBe(200);
  });

  it('is accepted without a kid if the issuer has only one key, and with 12 KB of claims', async () => {
    expect((await send(`Bearer ${issuer.sign({}, { header: { kid: undefined } })}`)).status).toBe(200);
    expect((await send(`Bearer ${issuer.sign({ groups: 'x'.repeat(9_000) })}`)).status).toBe(200);
  });
});

describe('a token is rejected with 401 before any upstream call', () => {
  it.each<[string, () => string, string]>([
    ['expired longer ago than the permitted clock skew', () => issuer.sign({ exp: now() - 7 }), 'TOKEN_EXPIRED'],
    [
      'is not valid yet, by more than the permitted clock skew',
      () => issuer.sign({ nbf: now() + 8 }),
      'TOKEN_NOT_YET_VALID',
    ],
    ['never expires', () => issuer.sign({ exp: undefined }), 'TOKEN_INVALID'],
    ['has a string as exp', () => issuer.sign({ exp: String(now() + 60) }), 'TOKEN_INVALID'],
    ['has a string as nbf', () => issuer.sign({ nbf: 'now' }), 'TOKEN_INVALID'],
    ['is from an unknown issuer', () => stranger.sign(), 'TOKEN_FOR_ANOTHER'],
    ['has no issuer', () => issuer.sign({ iss: undefined }), 'TOKEN_FOR_ANOTHER'],
    ['has an issuer with an additional slash', () => issuer.sign({ iss: `${issuer.url}/` }), 'TOKEN_FOR_ANOTHER'],
    ['is for another audience', () => issuer.sign({ aud: 'somebody' }), 'TOKEN_FOR_ANOTHER'],
    ['has no audience', () => issuer.sign({ aud: undefined }), 'TOKEN_FOR_ANOTHER'],
    ['is for an audience of another issuer', () => second.sign({ aud: 'other-dashboard' }), 'TOKEN_FOR_ANOTHER'],
  ])('when it %s', (_, sign, reason) => expectRefusal(sign(), reason));

  it.each<[string, unknown]>([
    ['missing', undefined],
    ['empty', ''],
    ['unknown', 'initech'],
    ['another issuer’s', 'fixed'],
    ['known but without a key', 'without-key'],
    ['with a null byte', 'acme\u0000'],
    ['__proto__', '__proto__'],
    ['constructor', 'constructor'],
    ['a path', '../tenants/acme'],
    ['very long', 'a'.repeat(5_000)],
  ])('when its tenant is %s', (_, tenant) => expectRefusal(issuer.sign({ tenant }), 'TENANT_UNKNOWN'));

  const WRONG: readonly unknown[] = [
    null,
    0,
    1,
    true,
    false,
    {},
    { toString: 'acme' },
    [1],
    [['acme']],
    ['acme', null],
    [{}],
  ];

  it.each(['iss', 'sub', 'jti', 'tenant'])('when its claim %s is not a string', async (claim) => {
    for (const value of [...WRONG, [], ['acme']]) {
      await expectRefusal(issuer.sign({ [claim]: value }), 'TOKEN_INVALID');
    }
  });

  it('when its scopes are neither a string nor a list of strings', async () => {
    for (const scope of [...WRONG, [null, 1, 'groups:read'], [['groups:read']], { 'groups:read': true }]) {
      await expectRefusal(issuer.sign({ scope }), 'TOKEN_INVALID');
    }
  });

  it('when it is a client token with claims of the wrong type', async () => {
    const claims = { iss: 'notigraph', aud: 'notigraph', tenant: 'acme', scope: 'groups:read', exp: now() + 60 };
    const kid = createHmac('sha256', SECRET).update('notigraph client token key').digest('hex').slice(0, 16);
    expect((await send(`Bearer ${signWithSecret({ alg: 'HS256', kid }, claims, SECRET)}`)).status).toBe(200);
    for (const wrong of [{ documents: 'x' }, { documents: [1] }, ...WRONG.map((documents) => ({ documents }))]) {
      await expectRefusal(signWithSecret({ alg: 'HS256', kid }, { ...claims, ...wrong }, SECRET), 'TOKEN_INVALID');
    }
    for (const wrong of [{ sub: {} }, { sub: 1 }, { jti: [] }, { scope: 1 }, { tenant: ['acme'] }]) {
      await expectRefusal(signWithSecret({ alg: 'HS256', kid }, { ...claims, ...wrong }, SECRET), 'TOKEN_INVALID');
    }
  });

  it('when its signature or payload was replaced', async () => {
    const token = issuer.sign();
    const [header = '', payload = '', signature = ''] = token.split('.');
    const claims = { iss: issuer.url, aud: AUDIENCE, tenant: 'globex', exp: now() + 300, scope: 'groups:read' };
    const forgeries = [
      replacePart(token, 1, encode(JSON.stringify(claims))),
      replacePart(token, 2, encode('no signature')),
      replacePart(token, 2, ''),
      replacePart(token, 2, `${signature.slice(0, -4)}AAAA`),
      replacePart(token, 2, Buffer.alloc(64).toString('base64url')), // r = s = 0 (CVE-2022-21449)
      replacePart(token, 2, issuer.sign({ tenant: 'globex' }).split('.')[2] ?? ''),
      replacePart(token, 1, encode(`${Buffer.from(payload, 'base64url')} `)),
      replacePart(token, 0, encode(`${Buffer.from(header, 'base64url')} `)),
      stranger.sign({ iss: issuer.url }),
      stranger.sign({ iss: issuer.url }, { header: { kid: issuer.key.kid } }),
      stranger.sign({ iss: second.url }),
    ];
    for (const forgery of forgeries) {
      await expectRefusal(forgery, 'TOKEN_INVALID');
    }
  });

  it('when its algorithm is none', async () => {
    const claims = { iss: issuer.url, aud: AUDIENCE, tenant: 'acme', exp: now() + 300, scope: 'groups:read' };
    for (const alg of ['none', 'nOnE', '', null, undefined, ['ES256'], 'es256']) {
      for (const kid of [undefined, issuer.key.kid]) {
        const unsigned = signingInput({ alg, kid, typ: 'JWT' }, claims);
        await expectRefusal(`${unsigned}.`, 'TOKEN_INVALID');
        await expectRefusal(`${unsigned}.${encode('anything that is long enough')}`, 'TOKEN_INVALID');
      }
    }
  });

  it('when it is signed with the public key as an HMAC secret', async () => {
    for (const { url, key } of [issuer, second]) {
      const claims = { iss: url, aud: AUDIENCE, tenant: 'acme', exp: now() + 300 };
      const der = key.publicKey.export({ format: 'der', type: 'spki' });
      const { pem, jwk } = key;
      for (const secret of [pem, pem.trimEnd(), JSON.stringify(jwk), der, '', jwk.x ?? jwk.n ?? '']) {
        for (const kid of [key.kid, undefined]) {
          await expectRefusal(signWithSecret({ alg: 'HS256', kid }, claims, secret), 'TOKEN_INVALID');
        }
      }
    }
  });

  it('when its algorithm is not allowed, even if the key matches it', async () => {
    const pss = { ...second.key, alg: 'PS256' as const };
    await expectRefusal(second.sign({}, { key: pss }), 'TOKEN_INVALID');
    const other = createTestKey('ES384');
    issuer.published.push({ ...other.jwk, alg: 'ES384' });
    onTestFinished(() => void issuer.published.pop());
    await expectRefusal(issuer.sign({}, { key: other }), 'TOKEN_INVALID');
    await expectRefusal(issuer.sign({}, { key: other, header: { alg: 'ES256' } }), 'TOKEN_INVALID');
  });

  it('when its header contains a key or a key URL, which is never requested', async () => {
    const own = stranger.key;
    const headers = [
      { jwk: own.jwk, kid: own.kid },
      { jku: stranger.jwks, kid: own.kid },
      { x5u: stranger.jwks, kid: own.kid },
      { x5c: [own.publicKey.export({ format: 'der', type: 'spki' }).toString('base64')] },
      { crit: ['exp'], exp: now() + 300 },
      { crit: [] },
      { crit: ['b64'], b64: false },
      { crit: ['unknown'], unknown: 1 },
    ];
    for (const header of headers) {
      await expectRefusal(
        stranger.sign({ iss: issuer.url }, { header: { kid: issuer.key.kid, ...header } }),
        'TOKEN_INVALID',
      );
    }
    // Unknown critical header fields are rejected even if the signature is valid.
    for (const header of [{ crit: ['unknown'], unknown: 1 }, { crit: [] }, { crit: ['b64'], b64: false }]) {
      await expectRefusal(issuer.sign({}, { header }), 'TOKEN_INVALID');
    }
    expect(stranger.keyRequests).toBe(0);
  });

  it('when its kid is an injection attempt', async () => {
    const { kid: known } = issuer.key;
    const kids = [
      '../../../../dev/null',
      "' OR 1=1 --",
      'x'.repeat(8_000),
      '',
      0,
      [known],
      '__proto__',
      stranger.jwks,
      `${known}\u0000`,
    ];
    for (const kid of kids) {
      await expectRefusal(stranger.sign({ iss: issuer.url }, { header: { kid } }), 'TOKEN_INVALID');
      await expectRefusal(stranger.sign({ iss: 'notigraph' }, { header: { kid } }), 'TOKEN_INVALID');
      await expectRefusal(
        signWithSecret(
          { alg: 'HS256', kid },
          { iss: 'notigraph', aud: 'notigraph', tenant: 'acme', exp: now() + 60 },
          '',
        ),
        'TOKEN_INVALID',
      );
    }
  });

  it('when its payload is not a claims object', async () => {
    for (const payload of ['', 'null', '[]', '"text"', '{', '{"iss":1}', `{"iss":"${issuer.url}"`]) {
      const token = signToken({ alg: 'ES256', kid: issuer.key.kid }, payload, issuer.key);
      const { status, body } = await send(`Bearer ${token}`);
      expect([payload, status, body]).toEqual([payload, 401, expect.objectContaining({ errors: [expect.anything()] })]);
    }
  });

  it('when a value in it is nested 5,000 levels deep', async () => {
    const deep = (object: object) =>
      JSON.stringify(object).replace('"deep"', `${'['.repeat(5_000)}${']'.repeat(5_000)}`);
    const claims = { iss: issuer.url, exp: now() + 300, ...CLAIMS };
    const { key } = issuer;
    const header = { alg: key.alg, kid: key.kid };
    for (const claim of ['iss', 'aud', 'exp', 'nbf', 'iat', 'sub', 'jti', 'tenant', 'scope']) {
      const payload = deep({ ...claims, [claim]: 'deep' });
      await expectRefusal(signToken(header, payload, key), 'TOKEN_INVALID');
      await expectRefusal(`${signingInput({ alg: 'none' }, payload)}.`, 'TOKEN_INVALID');
    }
    for (const member of [{ alg: 'deep' }, { kid: 'deep' }, { crit: 'deep' }, { crit: ['b64'], b64: 'deep' }]) {
      const forged = [deep({ ...header, ...member }), JSON.stringify(claims), 'no signature'].map(encode).join('.');
      await expectRefusal(forged, 'TOKEN_INVALID');
    }
    const accepted = signToken(header, deep({ ...claims, groups: 'deep' }), key);
    expect((await send(`Bearer ${accepted}`)).status).toBe(200);
  });

  it('when its audience is neither a string nor a list of strings', async () => {
    for (const aud of WRONG) {
      await expectRefusal(issuer.sign({ aud }), 'TOKEN_INVALID');
    }
  });

  it('when it is encrypted, nested or in another serialization', async () => {
    const token = issuer.sign();
    const nested = signToken({ alg: 'ES256', kid: issuer.key.kid, cty: 'JWT' }, `"${token}"`, issuer.key);
    const jwe = [encode('{"alg":"dir","enc":"A128GCM"}'), '', encode('iv'), encode('text'), encode('tag')].join('.');
    const [header, payload, signature] = token.split('.');
    const json = JSON.stringify({ payload, protected: header, signature });
    for (const form of [
      jwe,
      json,
      `${token}.`,
      `.${token}`,
      `${token}.${token}`,
      `${token}=`,
      `"${token}"`,
      `${token} x`,
    ]) {
      await expectRefusal(token, 'TOKEN_INVALID', form);
    }
    await expectRefusal(nested, 'TOKEN_INVALID');
  });
});

it('documents of an issuer’s token restrict nothing, unlike those of a client token', async () => {
  expect((await send(`Bearer ${issuer.sign({ documents: [] })}`)).status).toBe(200);
});

it.each([
  '',
  'Bearer ',
  'bearer  TOKEN',
  'Bearer  TOKEN',
  'Token TOKEN',
  'Bearer,TOKEN',
  ' Bearer\t TOKEN',
  'ApiKey  TOKEN',
])('the malformed credential %j is rejected', async (credential) => {
  const token = issuer.sign();
  const { status, body, upstream } = await send(credential.replace('TOKEN', token));
  expect([status, upstream]).toEqual([401, []]);
  const reason = expect.stringMatching(/^(?:CREDENTIAL_MALFORMED|TOKEN_INVALID)$/);
  expect(body).toMatchObject({ errors: [{ extensions: { code: 'UNAUTHENTICATED', reason } }] });
  expect(JSON.stringify(body)).not.toContain(token.split('.')[2]);
});

describe('a gateway without a kind of client', () => {
  const sendTo = async (clients: NonNullable<GatewayOptions['clients']>, authorization: string) => {
    await using gateway = await startGateway({ service: () => ({ body: { data: [] } }), clients });
    const response = await gateway.send(GROUPS.query, {}, { authorization });
    return { ...response, calls: gateway.service.calls() };
  };

  const browser = () => ({
    issuers: [{ issuer: issuer.url, audience: AUDIENCE, jwks: issuer.jwks }],
    scopes: ['groups:read' as const],
    tenants: KEYS,
  });

  it('rejects tokens if browser clients are not configured', async () => {
    const { status, headers, body, calls } = await sendTo({}, `Bearer ${issuer.sign()}`);
    expect([status, headers.get('www-authenticate'), calls]).toEqual([401, 'ApiKey realm="notigraph"', []]);
    expect(body.errors?.[0]?.extensions).toMatchObject({ code: 'UNAUTHENTICATED', reason: 'CREDENTIAL_MALFORMED' });
  });

  it('rejects API keys if server clients are disabled, even those of tenants', async () => {
    const clients = { server: false as const, browser: browser() };
    for (const key of [KEYS.acme, 'another']) {
      const { status, headers, body, calls } = await sendTo(clients, `ApiKey ${key}`);
      expect([status, headers.get('www-authenticate'), calls]).toEqual([401, 'Bearer realm="notigraph"', []]);
      expect(body.errors?.[0]?.extensions).toMatchObject({
        code: 'UNAUTHENTICATED',
        reason: 'CREDENTIAL_NOT_ACCEPTED',
      });
    }
    expect((await sendTo(clients, `Bearer ${issuer.sign()}`)).status).toBe(200);
    expect((await sendTo({ ...clients, server: {} }, 'ApiKey another')).status).toBe(200);
  });

  it('rejects every credential if no clients are configured, and says so', async () => {
    const clients = { server: false as const };
    for (const authorization of ['ApiKey x', `Bearer ${issuer.sign()}`, 'x']) {
      const { status, headers, body } = await sendTo(clients, authorization);
      expect([status, headers.get('www-authenticate')]).toEqual([401, null]);
      expect(body.errors?.[0]?.message).toMatch(/^This gateway .+\.$/);
    }
  });
});
