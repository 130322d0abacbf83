// Issues tokens to anybody, for development only.

import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { type CryptoKey, calculateJwkThumbprint, exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose';
import { DEMO_PEOPLE, type Person } from './people.ts';

/** The `aud` of its tokens. */
export const TOKEN_AUDIENCE = 'notigraph-dashboard';

export interface IssuerOptions {
  /** 0 picks a free port. @default 0 */
  port?: number;
  /** Lifetime of a token, in seconds. @default 300 */
  tokenSeconds?: number;
  /** People who can sign in. @default DEMO_PEOPLE */
  people?: readonly Person[];
  /** The current time, for the tokens. @default () => new Date() */
  now?: () => Date;
}

/** A running issuer. */
export interface Issuer extends AsyncDisposable {
  /** The `iss` of its tokens, and its address. */
  readonly url: string;
  close(): Promise<void>;
}

interface Answer {
  status: number;
  body: unknown;
}

/**
 * Starts the development issuer. FOR DEVELOPMENT ONLY: it signs in ANYBODY as any person of its list, without a password. It stands in for
 * your identity provider, so that you can try the app and the gateway with real tokens. It listens on the loopback interface, creates its
 * key at startup, and serves no pages: only the app's server (dev/sessions.ts) and the gateway.
 *
 * | request | answer |
 * | --- | --- |
 * | `GET /.well-known/jwks.json` | the public key (ES256) |
 * | `GET /people` | who can sign in |
 * | `POST /token` with `{ "person": "ada" }` | `{ token, expiresAt, expiresInSeconds, person, name, tenant, scopes }` |
 *
 * @throws the listening error, such as EADDRINUSE
 */
export async function startIssuer({
  port = 0,
  tokenSeconds = 300,
  people = DEMO_PEOPLE,
  now = () => new Date(),
}: IssuerOptions = {}): Promise<Issuer> {
  const key = await createKey();

  async function issueToken(request: IncomingMessage): Promise<Answer> {
    const id = readPerson(await text(request));
    const person = people.find((candidate) => candidate.id === id);
    if (person === undefined) {
      return { status: 403, body: { message: 'This person gets no token.' } };
    }
    const { name, tenant, scopes } = person;
    const issuedAt = Math.floor(now().getTime() / 1000);
    const expiresAt = issuedAt + tokenSeconds;
    const token = await new SignJWT({ tenant, scope: scopes.join(' ') })
      .setProtectedHeader({ alg: 'ES256', kid: key.kid, typ: 'JWT' })
      .setIssuer(url)
      .setAudience(TOKEN_AUDIENCE)
      .setSubject(person.subscriberId)
      .setIssuedAt(issuedAt)
      .setExpirationTime(expiresAt)
      .sign(key.privateKey);
    return {
      status: 200,
      body: {
        token,
        expiresAt: new Date(expiresAt * 1000).toISOString(),
        expiresInSeconds: tokenSeconds,
        person: person.id,
        name,
        tenant,
        scopes,
      },
    };
  }

  async function answer(request: IncomingMessage): Promise<Answer> {
    switch (`${request.method} ${request.url}`) {
      case 'GET /.well-known/jwks.json':
        return { status: 200, body: { keys: [key.jwk] } };
      case 'GET /people':
        return { status: 200, body: people };
      case 'POST /token':
        return issueToken(request);
      default:
        return { status: 404, body: { message: 'Not found.' } };
    }
  }

  const server = createServer(async (request, response) => {
    const isFromPage = request.headers.origin !== undefined; // No server sends it.
    const { status, body } = isFromPage
      ? { status: 403, body: { message: 'The issuer serves no pages.' } }
      : await answer(request);
    response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' });
    response.end(JSON.stringify(body));
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  async function close(): Promise<void> {
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
  }

  return { url, close, [Symbol.asyncDispose]: close };
}

interface SigningKey {
  kid: string;
  privateKey: CryptoKey;
  /** The public half, as it is published. */
  jwk: JWK;
}

async function createKey(): Promise<SigningKey> {
  const { privateKey, publicKey } = await generateKeyPair('ES256');
  const jwk = await exportJWK(publicKey);
  const kid = await calculateJwkThumbprint(jwk);
  return { kid, privateKey, jwk: { ...jwk, kid, alg: 'ES256', use: 'sig' } };
}

function readPerson(body: string): unknown {
  try {
    return JSON.parse(body)?.person;
  } catch {
    return undefined;
  }
}
