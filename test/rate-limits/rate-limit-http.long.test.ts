import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { GatewayOptions } from '../../src/gateway.ts';
import type { RateLimit } from '../../src/settings/settings.ts';
import { startGateway } from '../support/gateway.ts';
import {
  dataOf,
  errorOf,
  type GatewayPair,
  sendToBoth,
  startGatewayPair,
  type WireRequest,
  type WireResponse,
} from '../support/gateway-pair.ts';
import { guards } from '../support/guards.ts';
import { healthyService } from '../support/healthy-service.ts';
import { hasRedis, redisOnly, startRedis } from '../support/redis.ts';
import { type Script, startService } from '../support/service.ts';
import { clientsOf, createSigner } from '../support/tokens.ts';

guards('src/http/pipeline/pipeline.ts', 'createPipeline.handle');
guards('src/http/pipeline/admission.ts', 'requireAllowed');
guards('src/http/pipeline/respond.ts', 'createRespond');

const signer = createSigner();
const HOUR = 3_600;

/** Returns a limit that refills one call per hour, so that nothing is refilled during a test. */
const hourly = (burst: number): RateLimit => ({ calls: burst, perSeconds: burst * HOUR });

const ONE_CALL = '{ workflow(idOrIdentifier: "w1") { name } }';
const FIVE_CALLS = '{ workflows(idsOrIdentifiers: ["a", "b", "c", "d", "e"]) { name } }';
const NO_CALL = '{ __typename }';

const startLimited = (browser: RateLimit | undefined, server?: RateLimit, script: Script = healthyService) =>
  startGatewayPair(script, {
    clients: clientsOf(
      signer,
      { ...(browser && { rateLimit: browser }) },
      { server: { ...(server && { rateLimit: server }) } },
    ),
  });

async function ask(
  ways: GatewayPair,
  query: string,
  claims = {},
  request: Partial<WireRequest> = {},
): Promise<WireResponse> {
  const { headers, ...others } = request;
  const authorization = await signer.bearer(claims);
  return sendToBoth(ways, {
    headers: { authorization, ...headers },
    body: request.method === 'GET' ? '' : { query },
    ...others,
  });
}

const askAsServer = (ways: GatewayPair, query: string, key = 'a') =>
  sendToBoth(ways, { headers: { authorization: `ApiKey ${key}` }, body: { query } });

/** Returns the rate-limit headers of a response: limit, remaining calls and seconds until the full limit is available. */
const limitIn = ({ headers }: WireResponse) =>
  ['ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset'].map((name) =>
    headers[name] === undefined ? undefined : Number(headers[name]),
  );

describe('a rate limit', () => {
  it('permits its number of calls and rejects the next request before any upstream call', async () => {
    await using ways = await startLimited(hourly(3));
    for (const remaining of [2, 1, 0]) {
      const answer = await ask(ways, ONE_CALL);
      expect(answer.status).toBe(200);
      expect(answer.upstream).toHaveLength(1);
      expect(limitIn(answer)).toEqual([3, remaining, (3 - remaining) * HOUR]);
    }
    const refused = await ask(ways, ONE_CALL);
    expect(refused).toMatchObject({ status: 429, upstream: [] });
    expect(errorOf(refused).extensions).toEqual({
      code: 'RATE_LIMITED',
      retryable: true,
      retryAfterSeconds: HOUR,
      requestId: 'r1',
    });
    expect(dataOf(refused)).toBeUndefined();
    expect(refused.headers['retry-after']).toBe(String(HOUR));
    expect(limitIn(refused)).toEqual([3, 0, 3 * HOUR]);
  });

  it('rejects requests of every form, mutations included, before any upstream call', async () => {
    await using ways = await startLimited(hourly(1));
    await ask(ways, ONE_CALL);
    const mutation = 'mutation { createFeed(input: { name: "a" }) { __typename } }';
    for (const request of [
      { body: { query: mutation } },
      { body: { query: NO_CALL } },
      { body: '{' },
      { body: [{ query: ONE_CALL }] },
      { body: { query: ONE_CALL, more: 1 } },
      { body: { documentId: 'unknown' } },
      { method: 'GET', path: `/graphql?query=${encodeURIComponent(ONE_CALL)}` },
      { headers: { accept: 'application/json' } },
    ]) {
      const { status, upstream } = await ask(ways, ONE_CALL, {}, request);
      expect([request, status, upstream]).toEqual([request, 429, []]);
    }
  });

  it('counts upstream calls, and the headers show the remaining calls after each operation', async () => {
    await using ways = await startLimited(hourly(20));
    const costs: [query: string, calls: number][] = [
      [ONE_CALL, 1],
      [FIVE_CALLS, 5],
      [NO_CALL, 0],
      ['{ __schema { queryType { name } } }', 0],
      ['{ notificationStats { workflows { name } } }', 3],
      ['{ a: workflow(idOrIdentifier: "w1") { name } b: workflow(idOrIdentifier: "w1") { id } }', 1],
      ['mutation { createFeed(input: { name: "a" }) { __typename } }', 1],
    ];
    let left = 20;
    for (const [query, calls] of costs) {
      const answer = await ask(ways, query);
      expect([query, answer.status, answer.upstream.length]).toEqual([query, 200, calls]);
      left -= calls;
      const [limit, remaining, reset = 0] = limitIn(answer);
      expect([limit, remaining]).toEqual([20, left]);
      expect(reset).toBe((20 - left) * HOUR);
    }
  });

  it('counts a read that joins a call as much as one with a call of its own', async () => {
    const options = { clients: { server: { rateLimit: hourly(10) } } };
    await using gateway = await startGateway({ service: () => ({ body: { data: [] } }), ...options });
    const held = gateway.service.hold(undefined, Infinity);
    const reads = Array.from({ length: 4 }, () => gateway.send('{ notificationGroups { name } }'));
    await expect.poll(() => gateway.running()).toBe(4);
    held.release();
    await Promise.all(reads);
    expect(gateway.service.requests).toHaveLength(1);
    const { headers } = await gateway.send(NO_CALL);
    expect(Number(headers.get('ratelimit-remaining'))).toBe(6);
  });

  it('is not charged for rejected requests', async () => {
    await using ways = await startLimited(hourly(2));
    for (const [status, request, claims] of [
      [400, { body: { query: '{ nothing }' } }, {}],
      [400, { body: { query: '{' } }, {}],
      [400, { body: '{' }, {}],
      [400, { body: [] }, {}],
      [400, { body: { documentId: 'unknown' } }, {}],
      [400, { body: { query: 'query Q($id: ID!) { workflow(idOrIdentifier: $id) { name } }' } }, {}],
      [403, { body: { query: ONE_CALL } }, { scope: '' }],
      [405, { method: 'GET', path: `/graphql?query=${encodeURIComponent('mutation { __typename }')}` }, {}],
      [415, { headers: { 'content-type': 'text/plain' } }, {}],
    ] as const) {
      for (let i = 0; i < 3; i += 1) {
        const answer = await ask(ways, ONE_CALL, claims, request);
        expect([request, answer.status, answer.upstream]).toEqual([request, status, []]);
      }
    }
    expect(limitIn(await ask(ways, ONE_CALL))).toEqual([2, 1, HOUR]);
  });

  it('permits an operation that costs more than remains, and rejects later ones until the debt is paid off', async () => {
    await using ways = await startLimited(hourly(3));
    const answer = await ask(ways, FIVE_CALLS);
    expect(answer.status).toBe(200);
    expect(limitIn(answer)).toEqual([3, 0, 5 * HOUR]);
    const refused = await ask(ways, NO_CALL);
    expect(refused).toMatchObject({ status: 429 });
    expect(refused.headers['retry-after']).toBe(String(3 * HOUR));
    expect(limitIn(refused)).toEqual([3, 0, 5 * HOUR]);
  });

  it('is separate for each identity: tenant, person, key', async () => {
    await using ways = await startLimited(hourly(1), hourly(1));
    const people = [
      { tenant: 'acme', sub: 'user-1' },
      { tenant: 'acme', sub: 'user-2' },
      { tenant: 'globex', sub: 'user-1' },
      { tenant: 'acme', sub: undefined },
      { tenant: 'globex', sub: undefined },
    ];
    for (const claims of people) {
      expect((await ask(ways, ONE_CALL, claims)).status).toBe(200);
    }
    for (const claims of people) {
      // A second token of the same person has the same identity.
      expect((await ask(ways, ONE_CALL, { ...claims, jti: 'another', scope: 'workflows:read' })).status).toBe(429);
    }
    for (const status of [200, 429]) {
      expect((await askAsServer(ways, ONE_CALL, 'a')).status).toBe(status);
      expect((await askAsServer(ways, ONE_CALL, 'b')).status).toBe(status);
    }
    expect((await askAsServer(ways, ONE_CALL, 'key-of-acme')).status).toBe(200); // It isn't that of the tenant.
  });

  it('is separate for each kind of client, and responses without a limit have no rate-limit headers', async () => {
    await using ways = await startLimited(hourly(1));
    await ask(ways, ONE_CALL);
    for (let i = 0; i < 3; i += 1) {
      const answer = await askAsServer(ways, FIVE_CALLS);
      expect(answer.status).toBe(200);
      expect(limitIn(answer)).toEqual([undefined, undefined, undefined]);
      expect(answer.headers).not.toHaveProperty('retry-after');
    }
  });

  it('does not apply to requests without a credential', async () => {
    await using ways = await startLimited(hourly(1), hourly(1));
    for (const gateway of [ways.listener, ways.fetch]) {
      for (let i = 0; i < 3; i += 1) {
        const { status, headers } = await gateway.send(NO_CALL, {}, { authorization: null });
        expect([status, headers.get('ratelimit-limit')]).toEqual([200, null]);
      }
    }
  });
});

it('an operation whose client disconnects is charged for the calls that it has made', async () => {
  await using gateway = await startGateway({
    service: 'healthy',
    maxRetries: 0,
    clients: { server: { rateLimit: hourly(10) } },
  });
  await gateway.accept('a');
  const held = gateway.service.hold(undefined, 5);
  const client = new AbortController();
  const operation = gateway.send(FIVE_CALLS, {}, { authorization: 'ApiKey a', signal: client.signal });
  await gateway.service.arrived(5);
  client.abort();
  await expect(operation).rejects.toThrow();
  const left = async () => {
    const { headers } = await gateway.send(NO_CALL, {}, { authorization: 'ApiKey a' });
    return Number(headers.get('ratelimit-remaining'));
  };
  await expect.poll(left).toBe(4); // Its five calls, and the one that made the key known.
  held.release();
});

describe('the rate limit of the service', () => {
  const limitedService: Script = async (request, connection) => ({
    ...(await healthyService(request, connection)),
    headers: { 'ratelimit-limit': '100', 'ratelimit-remaining': '2', 'ratelimit-reset': '30' },
  });

  it('is passed on', async () => {
    await using ways = await startLimited(undefined, undefined, limitedService);
    expect(limitIn(await ask(ways, ONE_CALL))).toEqual([100, 2, 30]);
    expect(limitIn(await askAsServer(ways, ONE_CALL))).toEqual([100, 2, 30]);
    expect(limitIn(await askAsServer(ways, NO_CALL))).toEqual([undefined, undefined, undefined]);
  });

  it("is passed on if it is closer than the gateway's own limit", async () => {
    await using ways = await startLimited(hourly(10), hourly(2), limitedService);
    expect(limitIn(await ask(ways, ONE_CALL))).toEqual([100, 2, 30]);
    expect(limitIn(await askAsServer(ways, ONE_CALL))).toEqual([2, 1, HOUR]);
  });

  it('is passed on with Retry-After if the service rejects a call', async () => {
    await using ways = await startLimited(hourly(10), undefined, () => ({
      status: 429,
      headers: { 'retry-after': '2', 'ratelimit-limit': '50', 'ratelimit-remaining': '0' },
      body: { message: 'slowly' },
    }));
    const answer = await ask(ways, ONE_CALL);
    expect(errorOf(answer).extensions).toMatchObject({ code: 'RATE_LIMITED', retryAfterSeconds: 2 });
    expect(answer.headers['retry-after']).toBe('2');
    expect(limitIn(answer)).toEqual([50, 0, 2]);
  });
});

describe.skipIf(!hasRedis)(`with Redis${redisOnly}`, () => {
  it('a client that disconnects while it is being rejected gets no refund', async () => {
    await using redis = await startRedis();
    await using gateway = await startGateway({
      service: 'healthy',
      clients: clientsOf(signer, { rateLimit: hourly(3) }),
      rateLimits: { store: { redis: { url: redis.url } } },
    });
    const authorization = await signer.bearer();
    const send = async () => (await gateway.send(ONE_CALL, {}, { authorization })).status;
    expect([await send(), await send(), await send(), await send()]).toEqual([200, 200, 200, 429]);
    for (let i = 0; i < 3; i += 1) {
      redis.pause();
      const client = new AbortController();
      const rejected = gateway.send(ONE_CALL, {}, { authorization, signal: client.signal });
      await expect.poll(() => gateway.running()).toBe(1); // It waits for Redis.
      client.abort();
      await expect(rejected).rejects.toThrow();
      await sleep(20); // The gateway notices the disconnect first,
      redis.resume(); // and gets the response of Redis afterwards.
      await expect.poll(() => gateway.running()).toBe(0);
    }
    expect(await send()).toBe(429);
  });

  it('two gateways share one limit', async () => {
    await using redis = await startRedis();
    await using upstream = await startService(healthyService);
    const options: GatewayOptions = {
      upstream: upstream.url,
      clients: clientsOf(signer, { rateLimit: hourly(8) }, { server: { rateLimit: hourly(8) } }),
      rateLimits: { store: { redis: { url: redis.url } } },
    };
    await using one = await startGateway(options);
    await using other = await startGateway(options);
    const authorization = await signer.bearer();
    const send = async (gateway: typeof one, query: string, as = authorization) => {
      const { status, headers, codes } = await gateway.send(query, {}, { authorization: as });
      return [status, Number(headers.get('ratelimit-remaining')), codes[0]];
    };
    expect(await send(one, FIVE_CALLS)).toEqual([200, 3, undefined]);
    expect(await send(other, NO_CALL)).toEqual([200, 3, undefined]);
    expect(await send(other, ONE_CALL)).toEqual([200, 2, undefined]);
    expect(await send(one, FIVE_CALLS)).toEqual([200, 0, undefined]);
    const before = upstream.requests.length;
    for (const gateway of [one, other]) {
      expect(await send(gateway, ONE_CALL)).toEqual([429, 0, 'RATE_LIMITED']);
    }
    expect(upstream.requests).toHaveLength(before);
    expect(await send(other, ONE_CALL, 'ApiKey of-a-server')).toEqual([200, 7, undefined]);
    expect(await send(one, ONE_CALL, 'ApiKey of-a-server')).toEqual([200, 6, undefined]);
    const kept = JSON.stringify(await redis.command('KEYS', '*'));
    expect(kept).not.toMatch(/acme|user-1|of-a-server/);
    expect(JSON.stringify([one.log, other.log])).not.toMatch(/of-a-server|Redis is unavailable/);
  });
});
