import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { digestOf, echoKeyDigest } from '../support/concurrent-load.ts';
import { startGateway } from '../support/gateway.ts';
import { startTestIssuer, type TestIssuer } from '../support/issuer.ts';
import { type RawConnection, type RawRequest, startRawUpstream } from '../support/raw-upstream.ts';

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
  /** Returns the keys of the calls for a read by several callers, all of which are waiting before the first one is answered. */
  async function callsFor(askers: readonly string[]): Promise<string[]> {
    const held: [RawRequest, RawConnection][] = [];
    await using upstream = await startRawUpstream((request, connection) => held.push([request, connection]));
    await using gateway = await startGateway({
      upstream: upstream.url,
      clients: {
        browser: {
          issuers: [{ issuer: issuer.url, audience: AUDIENCE, publicKey: issuer.key.pem, algorithms: ['ES256'] }],
          scopes: SCOPES,
          tenants: { acme: 'key-of-acme', globex: 'key-of-globex' },
        },
      },
    });
    for (const authorization of askers) {
      await gateway.send('{ __typename }', {}, { authorization }); // From now on the gateway knows their tokens.
    }
    const answers = Promise.all(askers.map((authorization) => gateway.send(READ, {}, { authorization })));
    const calls = new Set(askers.map((authorization) => keyOf(authorization))).size;
    await upstream.arrived(calls);
    await expect.poll(gateway.running).toBe(askers.length);
    for (let answered = 0; answered < calls; answered += 1) {
      const [request, connection] = held[answered] ?? [];
      if (request !== undefined) {
        connection?.answer(echoKeyDigest(request));
      }
    }
    const names = (await answers).map(({ body }) => JSON.stringify(body));
    expect(names).toEqual(askers.map((asker) => expect.stringContaining(digestOf(`ApiKey ${keyOf(asker)}`))));
    return upstream.requests.map(({ headers }) => headers.authorization ?? '').toSorted();
  }

  const keyOf = (authorization: string): string =>
    authorization.startsWith('ApiKey ')
      ? authorization.slice('ApiKey '.length)
      : `key-of-${JSON.parse(Buffer.from(authorization.split('.')[1] ?? '', 'base64url').toString()).tenant}`;

  it('are never one call for two tenants, nor for a tenant and a server with another key', async () => {
    const askers = [browser('acme', 'ada'), browser('globex', 'ada'), 'ApiKey key-of-a-server'];
    expect(await callsFor(askers)).toEqual(['ApiKey key-of-a-server', 'ApiKey key-of-acme', 'ApiKey key-of-globex']);
  });

  it('may be one call for two people of a tenant, and for its server', async () => {
    expect(await callsFor([browser('acme', 'ada'), browser('acme', 'bob'), 'ApiKey key-of-acme'])).toEqual([
      'ApiKey key-of-acme',
    ]);
  });
});
