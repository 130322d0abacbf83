import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { type CryptoKey, calculateJwkThumbprint, exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose';
import { DEMO_PEOPLE, type Person } from './people.ts';

/** The `aud` of its tokens. */
export const TOKEN_AUDIENCE = 'notigraph-dashboard';

export interface IssuerOptions {
  /** Exact origins of the app, such as `http://localhost:5173`. Others get no tokens. */
  origins: readonly string[];
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
  body?: unknown;
}

/**
 * Starts the development issuer. FOR DEVELOPMENT ONLY: it signs in ANYBODY as any person of its list, without a password. It stands in for
 * your identity provider, so that you can try the app and the gateway with real tokens. It listens on the loopback interface, creates its
 * key at startup, and only the app's pages can read its responses.
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
  origins,
  port = 0,
  tokenSeconds = 300,
  people = DEMO_PEOPLE,
  now = () => new Date(),
}: IssuerOptions): Promise<Issuer> {
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
      .setSubject(person.id)
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
        return request.method === 'OPTIONS' ? { status: 204 } : { status: 404, body: { message: 'Not found.' } };
    }
  }

  const server = createServer(async (request, response) => {
    const { origin } = request.headers;
    if (origin !== undefined && !origins.includes(origin)) {
      send(response, { status: 403, body: { message: 'This origin is not the app.' } });
      return;
    }
    send(response, await answer(request), origin);
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

/** @param origin the app's, when one of its pages asks */
function send(response: ServerResponse, { status, body }: Answer, origin?: string): void {
  response.writeHead(status, {
    vary: 'Origin',
    'cache-control': 'no-store',
    ...(body !== undefined && { 'content-type': 'application/json' }),
    ...(origin !== undefined && {
      'access-control-allow-origin': origin,
      'access-control-allow-headers': 'content-type',
      'access-control-max-age': '600',
    }),
  });
  response.end(body === undefined ? undefined : JSON.stringify(body));
}
