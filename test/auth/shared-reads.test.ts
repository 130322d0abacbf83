import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { digestOf, echoKeyDigest } from '../support/concurrent-load.ts';
import { startScriptedGateway } from '../support/gateway.ts';
import { startTestIssuer, type TestIssuer } from '../support/issuer.ts';
import type { Connection, ServiceRequest } from '../support/service.ts';

const AUDIENCE = 'dashboard';
const SCOPES = ['workflows:read', 'groups:read', 'subscribers:read', 'subscribers:write', 'feeds:write'] as const;

let issuer: TestIssuer;

beforeAll(async () => {
  issuer = await startTestIssuer({ claims: { aud: AUDIENCE, scope: SCOPES.join(' ') } });
});

afterAll(async () => {
  await issuer[Symbol.asyncDispose]();
});

const READ = '{ workflow(idOrIdentifier: "w1") { id name } }';

const browser = (tenant: string, sub: string) => `Bearer ${issuer.sign({ tenant, sub })}`;

describe('reads of the same record at the same time', () => {
  /** Returns the keys of the upstream calls when several callers send the same read and none has a response yet. */
  async function callsFor(callers: readonly string[]): Promise<string[]> {
    const pending: [ServiceRequest, Connection][] = [];
    await using gateway = await startScriptedGateway(
      (request, connection) => void pending.push([request, connection]),
      {
        clients: {
          browser: {
            issuers: [{ issuer: issuer.url, audience: AUDIENCE, publicKey: issuer.key.pem, algorithms: ['ES256'] }],
            scopes: SCOPES,
            tenants: { acme: 'key-of-acme', globex: 'key-of-globex' },
          },
        },
      },
    );
    for (const authorization of callers) {
      await gateway.send('{ __typename }', {}, { authorization }); // Caches the token.
    }
    const responses = Promise.all(callers.map((authorization) => gateway.send(READ, {}, { authorization })));
    const calls = new Set(callers.map((authorization) => keyOf(authorization))).size;
    await gateway.service.arrived(calls);
    await expect.poll(gateway.running).toBe(callers.length);
    for (let i = 0; i < calls; i += 1) {
      const [request, connection] = pending[i] ?? [];
      if (request !== undefined) {
        connection?.answer(echoKeyDigest(request));
      }
    }
    const names = (await responses).map(({ body }) => JSON.stringify(body));
    expect(names).toEqual(callers.map((caller) => expect.stringContaining(digestOf(`ApiKey ${keyOf(caller)}`))));
    return gateway.service.requests.map(({ headers }) => headers.authorization ?? '').toSorted();
  }

  const keyOf = (authorization: string): string =>
    authorization.startsWith('ApiKey ')
      ? authorization.slice('ApiKey '.length)
      : `key-of-${JSON.parse(Buffer.from(authorization.split('.')[1] ?? '', 'base64url').toString()).tenant}`;

  it('are never shared between tenants, or between a tenant and a server with another key', async () => {
    const callers = [browser('acme', 'ada'), browser('globex', 'ada'), 'ApiKey key-of-a-server'];
    expect(await callsFor(callers)).toEqual(['ApiKey key-of-a-server', 'ApiKey key-of-acme', 'ApiKey key-of-globex']);
  });

  it('are shared by users of a tenant and a server with its key', async () => {
    expect(await callsFor([browser('acme', 'ada'), browser('acme', 'bob'), 'ApiKey key-of-acme'])).toEqual([
      'ApiKey key-of-acme',
    ]);
  });
});
