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

export interface SignOptions {
  /** Signing key. @default the newest key of the issuer */
  key?: TestKey;
  /** Header fields that override or extend `alg`, `kid` and `typ`; undefined omits a field. */
  header?: Claims;
}

/** Behavior of the JWKS endpoint. */
export type KeysBehavior = 'published' | 'reset' | 'hang' | ((response: ServerResponse) => void);

/** Token issuer that publishes real keys on its own port. */
export interface TestIssuer extends AsyncDisposable {
  /** `iss` claim of its tokens. */
  readonly url: string;
  /** URL of the JWKS. */
  readonly jwks: string;
  /** Number of requests for the JWKS. */
  readonly keyRequests: number;
  /** Behavior of the JWKS endpoint for subsequent requests. */
  behavior: KeysBehavior;
  /** Published keys; tests may change the list. */
  published: JsonWebKey[];
  /** Newest key. */
  readonly key: TestKey;
  /** Creates a key, publishes it in addition to the others, and uses it for subsequent tokens. */
  rotate(kid?: string): TestKey;
  /** Removes a key from the published ones. */
  withdraw(key: TestKey): void;
  /** Waits until the JWKS was requested this many times. */
  waitForKeyRequests(times: number): Promise<void>;
  /** Signs a valid token with the given changes. */
  sign(claims?: Claims, options?: SignOptions): string;
}

export interface TestIssuerOptions {
  alg?: TestAlgorithm;
  /** Claims of every token. */
  claims?: Claims;
  /** Returns the current time, in milliseconds since 1970. */
  now?: () => number;
}

let keyCount = 0;

/** Creates a unique key pair. */
export function createTestKey(alg: TestAlgorithm = 'ES256', kid?: string): TestKey {
  keyCount += 1;
  const { publicKey, privateKey } = generate(alg);
  const name = kid ?? `key-${keyCount}`;
  const jwk = { ...publicKey.export({ format: 'jwk' }), kid: name, alg, use: 'sig' };
  return { kid: name, alg, privateKey, publicKey, jwk, pem: String(publicKey.export({ format: 'pem', type: 'spki' })) };
}

export async function startTestIssuer({
  alg = 'ES256',
  claims: always = {},
  now = Date.now,
}: TestIssuerOptions = {}): Promise<TestIssuer> {
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

  const issuer: TestIssuer = {
    url,
    jwks: `${url}/.well-known/jwks.json`,
    get keyRequests() {
      return keyRequests;
    },
    get key() {
      return key;
    },
    behavior: 'published',
    published: [key.jwk],
    rotate(kid) {
      key = createTestKey(alg, kid);
      issuer.published = [...issuer.published, key.jwk];
      return key;
    },
    withdraw({ jwk }) {
      issuer.published = issuer.published.filter((other) => other !== jwk);
    },
    async waitForKeyRequests(times) {
      const signal = AbortSignal.timeout(10_000);
      while (keyRequests < times) {
        await once(changes, 'asked', { signal });
      }
    },
    sign(claims, { key: chosen = key, header } = {}) {
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
