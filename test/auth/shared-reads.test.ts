import { describe, expect, it } from 'vitest';
import { digestOf, echoKeyDigest } from '../support/concurrent-load.ts';
import { startScriptedGateway } from '../support/gateway.ts';
import { clientsOf, createSigner, TENANT_KEYS } from '../support/tokens.ts';

const signer = createSigner();

const READ = '{ workflow(idOrIdentifier: "w1") { id name } }';

/** Caller: its credential, and the key of its upstream calls. */
type Caller = [authorization: string, key: string];

const browser = async (tenant: keyof typeof TENANT_KEYS, sub: string): Promise<Caller> => [
  await signer.bearer({ tenant, sub }),
  `ApiKey ${TENANT_KEYS[tenant]}`,
];
const server = (key: string): Caller => [`ApiKey ${key}`, `ApiKey ${key}`];

describe('reads of the same record at the same time', () => {
  /** Returns the keys of the upstream calls when several callers send the same read and none has a response yet. */
  async function callsFor(callers: readonly Caller[]): Promise<string[]> {
    await using gateway = await startScriptedGateway(echoKeyDigest, { clients: clientsOf(signer) });
    for (const [authorization] of callers) {
      await gateway.send('{ __typename }', {}, { authorization }); // Caches the token.
    }
    const held = gateway.service.hold(undefined, Infinity);
    const responses = Promise.all(callers.map(([authorization]) => gateway.send(READ, {}, { authorization })));
    await gateway.service.arrived(new Set(callers.map(([, key]) => key)).size);
    await expect.poll(gateway.running).toBe(callers.length);
    held.release();
    const names = (await responses).map(({ body }) => JSON.stringify(body));
    expect(names).toEqual(callers.map(([, key]) => expect.stringContaining(digestOf(key))));
    return gateway.service.requests.map(({ headers }) => headers.authorization ?? '').toSorted();
  }

  it('are never shared between tenants, or between a tenant and a server with another key', async () => {
    const callers = [await browser('acme', 'ada'), await browser('globex', 'ada'), server('key-of-a-server')];
    expect(await callsFor(callers)).toEqual(['ApiKey key-of-a-server', 'ApiKey key-of-acme', 'ApiKey key-of-globex']);
  });

  it('are shared by users of a tenant and a server with its key', async () => {
    const callers = [await browser('acme', 'ada'), await browser('acme', 'bob'), server(TENANT_KEYS.acme)];
    expect(await callsFor(callers)).toEqual(['ApiKey key-of-acme']);
  });
});
