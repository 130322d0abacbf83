import { describe, expect, it } from 'vitest';
import type { GatewayOptions } from '../../src/gateway.ts';
import { type StartedGateway, startGateway, type TestResponse } from '../support/gateway.ts';
import { guards } from '../support/guards.ts';
import { connectRaw, postHead } from '../support/raw-client.ts';
import { group } from '../support/records.ts';
import { startService } from '../support/service.ts';

guards('src/http/adapters/node-adapter.ts', 'NodeRequest.body');

const READ = '{ notificationGroups { name } }';

const respond = () => ({ body: { data: [group()] } });

/** Starts a gateway with an upstream that hangs until `release()`, at `/held`, and a healthy one. */
async function setUp(options: Partial<GatewayOptions> = {}) {
  const [held, healthy] = [await startService(respond), await startService(respond)];
  const gateway = await startGateway({
    upstreams: { held: { url: held.url, pathPrefix: '/held' }, healthy: { url: healthy.url, default: true } },
    maxInFlightRequests: 8, // So 2 per caller and 4 per upstream.
    ...options,
  });
  const post = (path: string, key: string | undefined, query = READ, signal?: AbortSignal) =>
    gateway.send(query, {}, { path, authorization: key ? `ApiKey ${key}` : null, ...(signal && { signal }) });
  for (const key of ['a', 'b', 'c', 'd', 'e']) {
    await post('/held/graphql', key); // The services accept the keys.
    await post('/graphql', key);
  }
  held.forget();
  gateway.log.length = 0;
  const { release } = held.hold(undefined, Infinity);
  return {
    gateway,
    held,
    healthy,
    /** Sends requests that wait, once they are in flight. */
    async hold(keys: readonly string[], signal?: AbortSignal, path = '/held/graphql') {
      const before = gateway.running();
      const responses = keys.map((key) => post(path, key, READ, signal));
      await expect.poll(() => gateway.running()).toBe(before + keys.length);
      return responses;
    },
    /** Sends a request to the upstream that hangs, which is expected to be rejected. */
    ask: (key: string) => outcomeOf(post('/held/graphql', key)),
    /** Sends a request to the healthy upstream. */
    askHealthy: (key: string | undefined, query = READ) => outcomeOf(post('/graphql', key, query)),
    release,
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]();
      await held[Symbol.asyncDispose]();
      await healthy[Symbol.asyncDispose]();
    },
  };
}

async function outcomeOf(sent: Promise<TestResponse>) {
  const { status, codes, headers } = await sent;
  return [status, codes[0], headers.get('retry-after')];
}

const OK = [200, undefined, null];
const CALLER_FULL = [429, 'RATE_LIMITED', '1'];
const UPSTREAM_FULL = [503, 'OVERLOADED', '1'];

const linesOf = ({ log }: StartedGateway) => log.filter(({ msg }) => /in flight/.test(String(msg)));

describe('requests in flight', () => {
  it('of one caller take at most a quarter, although all share one call, and others are served', async () => {
    await using setup = await setUp();
    const running = await setup.hold(['a', 'a']);
    await setup.held.arrived(1);
    expect(setup.held.requests).toHaveLength(1);
    expect(await setup.ask('a')).toEqual(CALLER_FULL);
    expect(await setup.ask('a')).toEqual(CALLER_FULL);
    // The same key at another upstream is another caller.
    expect([await setup.askHealthy('a'), await setup.askHealthy('b')]).toEqual([OK, OK]);
    setup.release();
    expect(await Promise.all(running.map(outcomeOf))).toEqual([OK, OK]);
    expect(await setup.ask('a')).toEqual(OK);
    expect(linesOf(setup.gateway)).toEqual([
      expect.objectContaining({
        level: 40,
        limitOf: 'caller',
        limit: 2,
        upstream: 'held',
        tenant: expect.stringMatching(/^[0-9a-f]{8}$/),
      }),
    ]);
  });

  it('for one upstream take at most half, and another one is served', async () => {
    await using setup = await setUp();
    const running = await setup.hold(['a', 'b', 'c', 'd']);
    expect(await setup.ask('e')).toEqual(UPSTREAM_FULL);
    expect(await setup.askHealthy('e')).toEqual(OK);
    setup.release();
    expect(await Promise.all(running.map(outcomeOf))).toEqual([OK, OK, OK, OK]);
    expect(await setup.ask('e')).toEqual(OK);
    expect(linesOf(setup.gateway)).toEqual([
      expect.objectContaining({ level: 40, limitOf: 'upstream', limit: 4, upstream: 'held' }),
    ]);
  });

  it('have a limit in total, also behind another server', async () => {
    await using setup = await setUp();
    const { release } = setup.healthy.hold(undefined, Infinity);
    await setup.hold(['a', 'a', 'b', 'b']);
    await setup.hold(['a', 'a', 'b', 'b'], undefined, '/graphql');
    expect([await setup.ask('c'), await setup.askHealthy('c')]).toEqual([UPSTREAM_FULL, UPSTREAM_FULL]);
    setup.release();
    release();
    await expect.poll(() => setup.gateway.running()).toBe(0);
    expect(await setup.askHealthy('c')).toEqual(OK);
    expect(linesOf(setup.gateway).map(({ limitOf }) => limitOf)).toEqual(['total', 'total']); // One per upstream.
  });

  it('without a credential are those of one caller, and take no room of an upstream', async () => {
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    let executed: number | undefined;
    const holdFirst = {
      onExecute: () => {
        executed = executed === undefined ? undefined : executed + 1;
        return executed === undefined || executed > 4 ? undefined : released;
      },
    };
    await using setup = await setUp({ maxInFlightRequests: 16, plugins: [holdFirst] });
    executed = 0;
    const waiting = Array.from({ length: 4 }, () => setup.askHealthy(undefined, '{ __typename }'));
    await expect.poll(() => executed).toBe(4);
    expect(await setup.askHealthy(undefined, '{ __typename }')).toEqual(CALLER_FULL);
    expect(await setup.askHealthy('a')).toEqual(OK);
    release();
    expect(await Promise.all(waiting)).toEqual([OK, OK, OK, OK]);
  });

  it('no longer count when their clients have disconnected', async () => {
    await using setup = await setUp();
    const clients = new AbortController();
    const running = await setup.hold(['a', 'a', 'b', 'c'], clients.signal);
    expect([await setup.ask('a'), await setup.ask('d')]).toEqual([CALLER_FULL, UPSTREAM_FULL]);
    clients.abort();
    await Promise.allSettled(running);
    await expect.poll(() => setup.gateway.log.filter(({ httpStatus }) => httpStatus === 499)).toHaveLength(4);
    setup.release();
    expect([await setup.ask('a'), await setup.ask('d')]).toEqual([OK, OK]);
  });

  it('no longer count when they were rejected or have failed', async () => {
    await using setup = await setUp();
    for (let i = 0; i < 10; i += 1) {
      expect((await setup.askHealthy('a', '{ unknown }'))[0]).toBe(400);
      expect((await setup.askHealthy('a', '{ workflow(idOrIdentifier: "..") { name } }'))[1]).toBe('BAD_USER_INPUT');
      expect((await setup.askHealthy(undefined))[1]).toBe('UNAUTHENTICATED');
    }
    expect([await setup.askHealthy('a'), await setup.askHealthy(undefined, '{ __typename }')]).toEqual([OK, OK]);
  });

  it('do not count before their bodies have arrived', async () => {
    await using setup = await setUp();
    const head = postHead('/held/graphql', 'Authorization: ApiKey a', 'Expect: 100-continue', 'Content-Length: 40');
    const clients = await Promise.all(Array.from({ length: 8 }, () => connectRaw(setup.gateway.url)));
    for (const client of clients) {
      await client.send(`${head}{`);
      await client.receives(/100 Continue/); // The gateway reads the body.
    }
    setup.release();
    expect([await setup.ask('a'), await setup.ask('b')]).toEqual([OK, OK]);
    for (const { socket } of clients) {
      socket.destroy();
    }
  });

  it('with keys that a service may not know take at most half of its room, and others are served', async () => {
    await using setup = await setUp({ maxInFlightRequests: 16 });
    await setup.hold(['invented-1', 'invented-2', 'invented-3', 'invented-4']);
    expect(await setup.ask('invented-5')).toEqual(UPSTREAM_FULL);
    const known = await setup.hold(['a', 'b', 'c', 'd']);
    expect(await setup.askHealthy('invented-5')).toEqual(OK);
    setup.release();
    expect(await Promise.all(known.map(outcomeOf))).toEqual([OK, OK, OK, OK]);
    expect(linesOf(setup.gateway)).toEqual([
      expect.objectContaining({ level: 40, limitOf: 'unknown keys', limit: 4, upstream: 'held' }),
    ]);
  });

  it('of a single upstream have no share of it', async () => {
    await using gateway = await startGateway({ service: () => {}, operationTimeoutMs: 400, maxInFlightRequests: 8 });
    const keys = ['a', 'a', 'a', 'b', 'b', 'c', 'c', 'd', 'd', 'e'];
    for (const key of new Set(keys)) {
      await gateway.accept(key);
    }
    const all = await Promise.all(keys.map((key) => gateway.send(READ, {}, { authorization: `ApiKey ${key}` })));
    expect(all.map(({ status }) => status)).toEqual([200, 200, 429, 200, 200, 200, 200, 200, 200, 503]);
  });
});
