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

/** Signatures that the test issuer makes. */
export type TestAlgorithm = 'ES256' | 'ES384' | 'RS256' | 'PS256' | 'EdDSA';

/** A key pair of the issuer's. */
export interface TestKey {
  kid: string;
  alg: TestAlgorithm;
  privateKey: KeyObject;
  publicKey: KeyObject;
  /** The public half, as it is published. */
  jwk: JsonWebKey;
  /** The public half as PEM. */
  pem: string;
}

/** Claims of a token; undefined leaves one out. */
export type Claims = Readonly<Record<string, unknown>>;

export interface SignOptions {
  /** @default the issuer's newest key */
  key?: TestKey;
  /** Instead of `alg`, `kid` and `typ`, or besides them; undefined leaves one out. */
  header?: Claims;
}

/** What the address of the keys does. */
export type KeysBehaviour = 'published' | 'reset' | 'hang' | ((response: ServerResponse) => void);

/** An issuer of tokens with real keys, which it publishes on a port of its own. */
export interface TestIssuer extends AsyncDisposable {
  /** The `iss` of its tokens. */
  readonly url: string;
  /** Where its keys are. */
  readonly jwks: string;
  /** How often its keys were asked for. */
  readonly asked: number;
  /** What it does when it is asked for them. */
  behaviour: KeysBehaviour;
  /** The keys that are published; tests may change the list. */
  published: JsonWebKey[];
  /** The newest key. */
  readonly key: TestKey;
  /** Makes a new key, publishes it beside the others, and signs with it from now on. */
  rotate(kid?: string): TestKey;
  /** Publishes a key no longer. */
  withdraw(key: TestKey): void;
  /** Waits until the keys were asked for so often. */
  askedFor(times: number): Promise<void>;
  /** Signs a token that is in order but for what the claims and the options say. */
  sign(claims?: Claims, options?: SignOptions): string;
}

export interface TestIssuerOptions {
  alg?: TestAlgorithm;
  /** The claims that every token has. */
  claims?: Claims;
  /** The current time, in milliseconds since 1970. */
  now?: () => number;
}

let made = 0;

/** Makes a key pair that nothing else has. */
export function createTestKey(alg: TestAlgorithm = 'ES256', kid?: string): TestKey {
  made += 1;
  const { publicKey, privateKey } = generate(alg);
  const name = kid ?? `key-${made}`;
  const jwk = { ...publicKey.export({ format: 'jwk' }), kid: name, alg, use: 'sig' };
  return { kid: name, alg, privateKey, publicKey, jwk, pem: String(publicKey.export({ format: 'pem', type: 'spki' })) };
}

export async function startTestIssuer({
  alg = 'ES256',
  claims: always = {},
  now = Date.now,
}: TestIssuerOptions = {}): Promise<TestIssuer> {
  const changes = new EventEmitter();
  let asked = 0;
  let key = createTestKey(alg);

  const server = createServer((_request, response) => {
    asked += 1;
    changes.emit('asked');
    const { behaviour, published } = issuer;
    if (behaviour === 'published') {
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ keys: published }));
    } else if (behaviour === 'reset') {
      response.destroy();
    } else if (behaviour !== 'hang') {
      behaviour(response);
    }
  });
  const { url, close } = await listen(server);

  const issuer: TestIssuer = {
    url,
    jwks: `${url}/.well-known/jwks.json`,
    get asked() {
      return asked;
    },
    get key() {
      return key;
    },
    behaviour: 'published',
    published: [key.jwk],
    rotate(kid) {
      key = createTestKey(alg, kid);
      issuer.published = [...issuer.published, key.jwk];
      return key;
    },
    withdraw({ jwk }) {
      issuer.published = issuer.published.filter((other) => other !== jwk);
    },
    async askedFor(times) {
      const signal = AbortSignal.timeout(10_000);
      while (asked < times) {
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

/** A token of any header and payload (an object, or its text), truthfully signed with the key. */
export function signToken(header: Claims, payload: Claims | string, key: TestKey): string {
  const signed = signingInput(header, payload);
  return `${signed}.${signBytes(HASHES[key.alg], Buffer.from(signed), signingOptions(key)).toString('base64url')}`;
}

/** A token with an HMAC as its signature. */
export function signWithSecret(header: Claims, payload: Claims | string, secret: string | Buffer): string {
  const signed = signingInput(header, payload);
  return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`;
}

/** Header and payload of a token, with the dot between. */
export const signingInput = (header: Claims, payload: Claims | string): string =>
  `${encode(JSON.stringify(header))}.${encode(typeof payload === 'string' ? payload : JSON.stringify(payload))}`;

/** The same token with another part in place of one: 0 is the header, 1 the payload, 2 the signature. */
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
