import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { GatewayOptions } from '../../src/gateway.ts';
import inbox from '../../src/modules/shipped/inbox.ts';
import { type GatewayWithService, startGateway } from '../support/gateway.ts';
import { guards } from '../support/guards.ts';
import { healthyService } from '../support/healthy-service.ts';
import type { Script } from '../support/service.ts';
import { clientsOf, createSigner } from '../support/tokens.ts';

guards('src/upstream/calls/lane.ts', 'Lane.#mayRun');
guards('src/upstream/calls/lane.ts', 'Lane.take');
guards('src/upstream/calls/lane.ts', 'Lane.refusal');
guards('src/upstream/transport/socket-pool.ts', 'SocketPool.#hasRoom');
guards('src/upstream/policies/fair-queue.ts', 'FairQueue.next');

// What people who share an API key wait for each other, and for clients with invented keys. Each case is compared with the same load without an attack.

const signer = createSigner();

/** Time that the service takes, in milliseconds. */
const LATENCY_MS = 250;

/** Responds to known keys, and rejects others. */
const slowService: Script = async (request, connection) => {
  await sleep(LATENCY_MS);
  return /invented/.test(request.headers.authorization ?? '')
    ? { status: 401, body: { statusCode: 401, message: 'API Key not found' } }
    : healthyService(request, connection);
};

const BADGE = '{ inbox { unseen { count } } }';
const WRITE = 'mutation { createFeed(input: { name: "n" }) { __typename } }';
const PAGES = `{ inbox { ${Array.from({ length: 28 }, (_, page) => `p${page}: messages(page: ${page}) { hasMore }`).join(' ')} } }`;
const LOOKUPS = `{ ${Array.from({ length: 20 }, (_, i) => `w${i}: workflow(idOrIdentifier: "w${i}") { id }`).join(' ')} }`;

const SCOPE = 'inbox:read';

type Send = GatewayWithService['send'];

/** Sends operations without end, some at a time by each client, until it is stopped. Returns the function that stops it. */
function attack(send: Send, document: string, authorizations: readonly string[], inFlight: number, pauseMs = 0) {
  const stop = new AbortController();
  const client = async (authorization: string) => {
    while (!stop.signal.aborted) {
      await send(document, {}, { authorization, signal: stop.signal }).catch(() => {}); // Aborted at the end.
      await sleep(pauseMs, undefined, { signal: stop.signal }).catch(() => {});
    }
  };
  const clients = authorizations.flatMap((authorization) =>
    Array.from({ length: inFlight }, () => client(authorization)),
  );
  return async () => {
    stop.abort();
    await Promise.all(clients);
  };
}

/** Sends operations one after the other has begun. Returns the codes of their errors, and the median time to the response. */
async function measure(send: Send, operations: readonly (readonly [document: string, authorization: string])[]) {
  const times: number[] = [];
  const codes: unknown[] = [];
  await Promise.all(
    operations.map(async ([document, authorization], i) => {
      await sleep(i * 50);
      const startedAt = performance.now();
      codes.push(...(await send(document, {}, { authorization })).codes);
      times.push(performance.now() - startedAt);
    }),
  );
  return { codes, median: times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0 };
}

const tokensOf = (name: string, count: number) =>
  Promise.all(Array.from({ length: count }, (_, i) => signer.bearer({ sub: `${name}-${i}`, scope: SCOPE })));

/** Operations of 40 people and of the servers of their tenant, who write ten times. */
async function victims(server: string) {
  const people = await tokensOf('victim', 40);
  return people.flatMap((token, i) => [[BADGE, token] as const, ...(i % 4 === 0 ? [[WRITE, server] as const] : [])]);
}

describe('people who share an API key', () => {
  const SERVER = 'ApiKey key-of-acme';

  it.each<[string, people: number, inFlight: number, options: Partial<GatewayOptions>]>([
    ['one person with 4 requests in flight', 1, 4, { clients: clientsOf(signer, { scopes: [SCOPE] }, { server: {} }) }],
    [
      'one person with 100 requests in flight and a rate limit',
      1,
      100,
      { clients: clientsOf(signer, { scopes: [SCOPE], rateLimit: { calls: 120, perSeconds: 60 } }, { server: {} }) },
    ],
    [
      'five people with 2 requests in flight',
      5,
      2,
      { clients: clientsOf(signer, { scopes: [SCOPE] }, { server: {} }) },
    ],
  ])('and their servers are answered beside %s', async (_, count, inFlight, options) => {
    await using gateway = await startGateway({ service: slowService, modules: [inbox], ...options });
    const operations = await victims(SERVER);
    const alone = await measure(gateway.send, operations);
    const stop = attack(gateway.send, PAGES, await tokensOf('attacker', count), inFlight);
    await gateway.service.arrived(operations.length + 5);
    const beside = await measure(gateway.send, operations);
    await stop();
    expect([alone.codes, beside.codes]).toEqual([[], []]);
    expect(beside.median).toBeLessThan(2 * alone.median);
  });
});

describe('clients with real keys', () => {
  it.each([64, 300])('and people are answered beside %i invented keys', async (count) => {
    await using gateway = await startGateway({
      service: slowService,
      modules: [inbox],
      clients: clientsOf(signer, { scopes: [SCOPE] }, { server: { rateLimit: { calls: 10_000, perSeconds: 60 } } }),
    });
    const operations = await victims('ApiKey real');
    const alone = await measure(gateway.send, operations);
    const keys = Array.from({ length: count }, (_, i) => `ApiKey invented-${i}`);
    const stop = attack(gateway.send, LOOKUPS, keys, 1, 1_000);
    await gateway.service.arrived(operations.length + 16);
    const beside = await measure(gateway.send, operations);
    await stop();
    expect([alone.codes, beside.codes]).toEqual([[], []]);
    expect(beside.median).toBeLessThan(2 * alone.median);
    const invented = gateway.service.requests.filter(({ headers }) => /invented/.test(headers.authorization ?? ''));
    expect(new Set(invented.map(({ path }) => path))).toEqual(new Set(['/v1/workflows/w0'])); // One call of each operation.
  });
});
