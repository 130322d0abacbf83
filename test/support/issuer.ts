// Issues tokens in tests, and publishes their keys.

import {
  constants,
  createHmac,
  generateKeyPairSync,
  type JsonWebKey,
  type KeyObject,
  sign as signBytes,
} from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { listen } from './listen.ts';

/** Signature algorithms of the test issuer. */
export type TestAlgorithm = 'ES256' | 'ES384' | 'RS256' | 'PS256' | 'EdDSA';

/** Key pair of the issuer. */
export interface TestKey {
  kid: string;
  alg: TestAlgorithm;
  privateKey: KeyObject;
  publicKey: KeyObject;
  /** Public key, as published. */
  jwk: JsonWebKey;
  /** Public key as PEM. */
  pem: string;
}

/** Claims of a token; undefined omits a claim. */
export type Claims = Readonly<Record<string, unknown>>;

/** Behavior of the JWKS endpoint. */
export type KeysBehavior = 'published' | 'reset' | 'hang' | ((response: ServerResponse) => void);

/** Token issuer that publishes real keys on its own port. */
export type TestIssuer = Awaited<ReturnType<typeof startTestIssuer>>;

let keyCount = 0;

/** Creates a unique key pair. */
export function createTestKey(alg: TestAlgorithm = 'ES256', kid?: string): TestKey {
  keyCount += 1;
  const { publicKey, privateKey } = generate(alg);
  const name = kid ?? `key-${keyCount}`;
  const jwk = { ...publicKey.export({ format: 'jwk' }), kid: name, alg, use: 'sig' };
  return { kid: name, alg, privateKey, publicKey, jwk, pem: String(publicKey.export({ format: 'pem', type: 'spki' })) };
}

/** @param options `claims`: those of every token; `now`: returns the current time, in milliseconds since 1970 */
export async function startTestIssuer({
  alg = 'ES256',
  claims: always = {},
  now = Date.now,
}: {
  alg?: TestAlgorithm;
  claims?: Claims;
  now?: () => number;
} = {}) {
  const changes = new EventEmitter();
  let keyRequests = 0;
  let key = createTestKey(alg);

  const server = createServer((_request, response) => {
    keyRequests += 1;
    changes.emit('asked');
    const { behavior, published } = issuer;
    if (behavior === 'published') {
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ keys: published }));
    } else if (behavior === 'reset') {
      response.destroy();
    } else if (behavior !== 'hang') {
      behavior(response);
    }
  });
  const { url, close } = await listen(server);

  const issuer = {
    /** `iss` claim of its tokens. */
    url,
    /** URL of the JWKS. */
    jwks: `${url}/.well-known/jwks.json`,
    /** Number of requests for the JWKS. */
    get keyRequests(): number {
      return keyRequests;
    },
    /** Newest key. */
    get key(): TestKey {
      return key;
    },
    /** Behavior of the JWKS endpoint for subsequent requests. */
    behavior: 'published' as KeysBehavior,
    /** Published keys; tests may change the list. */
    published: [key.jwk],
    /** Creates a key, publishes it in addition to the others, and uses it for subsequent tokens. */
    rotate(kid?: string): TestKey {
      key = createTestKey(alg, kid);
      issuer.published = [...issuer.published, key.jwk];
      return key;
    },
    /** Removes a key from the published ones. */
    withdraw({ jwk }: TestKey): void {
      issuer.published = issuer.published.filter((other) => other !== jwk);
    },
    /** Waits until the JWKS was requested this many times. */
    async waitForKeyRequests(times: number): Promise<void> {
      const signal = AbortSignal.timeout(10_000);
      while (keyRequests < times) {
        await once(changes, 'asked', { signal });
      }
    },
    /** Signs a valid token with the given changes, by default with the newest key. Undefined omits a claim or a field of the header. */
    sign(claims?: Claims, { key: chosen = key, header }: { key?: TestKey; header?: Claims } = {}): string {
      const seconds = Math.floor(now() / 1000);
      const payload = { iss: url, iat: seconds, exp: seconds + 300, ...always, ...claims };
      return signToken({ alg: chosen.alg, kid: chosen.kid, typ: 'JWT', ...header }, payload, chosen);
    },
    [Symbol.asyncDispose]: close,
  };
  return issuer;
}

/** Signs any header and payload (an object or text) with the key. */
export function signToken(header: Claims, payload: Claims | string, key: TestKey): string {
  const signed = signingInput(header, payload);
  return `${signed}.${signBytes(HASHES[key.alg], Buffer.from(signed), signingOptions(key)).toString('base64url')}`;
}

/** Signs any header and payload with an HMAC. */
export function signWithSecret(header: Claims, payload: Claims | string, secret: string | Buffer): string {
  const signed = signingInput(header, payload);
  return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`;
}

/** Returns the encoded header and payload of a token, joined with a dot. */
export const signingInput = (header: Claims, payload: Claims | string): string =>
  `${encode(JSON.stringify(header))}.${encode(typeof payload === 'string' ? payload : JSON.stringify(payload))}`;

/** Replaces one part of a token: 0 is the header, 1 the payload, 2 the signature. */
export const replacePart = (token: string, index: number, part: string): string =>
  token
    .split('.')
    .map((own, i) => (i === index ? part : own))
    .join('.');

export const encode = (text: string): string => Buffer.from(text).toString('base64url');

const HASHES = { ES256: 'sha256', ES384: 'sha384', RS256: 'sha256', PS256: 'sha256', EdDSA: null } as const;

function generate(alg: TestAlgorithm): { publicKey: KeyObject; privateKey: KeyObject } {
  switch (alg) {
    case 'ES256':
      return generateKeyPairSync('ec', { namedCurve: 'P-256' });
    case 'ES384':
      return generateKeyPairSync('ec', { namedCurve: 'P-384' });
    case 'EdDSA':
      return generateKeyPairSync('ed25519');
    default:
      return generateKeyPairSync('rsa', { modulusLength: 2048 });
  }
}

const signingOptions = ({ alg, privateKey }: TestKey) => ({
  key: privateKey,
  ...(alg.startsWith('ES') && { dsaEncoding: 'ieee-p1363' as const }),
  ...(alg === 'PS256' && { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 32 }),
});
