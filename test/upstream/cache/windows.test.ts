import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { type CachedGateway, READ_WORKFLOW, startCachedGateway } from '../../support/cached-gateway.ts';
import { guards } from '../../support/guards.ts';
import type { Script } from '../../support/service.ts';

guards('src/upstream/calls/cached-service.ts', 'CachedService.#refresh.isRetried');
guards('src/upstream/calls/cached-service.ts', 'CachedService.#refreshOrUse');
guards('src/upstream/calls/call.ts', 'Call.#attemptEnded');

const nameOf = (version: number) => ({ workflow: { name: `v${version}` } });

/** Waits until the refresh in the background has ended: another read then joins none. */
async function refreshed(cached: CachedGateway, calls: number): Promise<void> {
  await expect.poll(() => cached.service.calls().length).toBe(calls);
  await nextTurn();
}

it('a stored response is used for 30 seconds, for 30 more with a refresh in the background, then the service is asked', async () => {
  await using cached = await startCachedGateway();
  expect(await cached.run(READ_WORKFLOW)).toEqual(nameOf(0));
  cached.change();
  cached.advance(30);
  expect(await cached.run(READ_WORKFLOW)).toEqual(nameOf(0));
  expect(cached.service.calls()).toHaveLength(1);
  cached.advance(30);
  expect(await cached.run(READ_WORKFLOW)).toEqual(nameOf(0));
  await refreshed(cached, 2);
  await expect.poll(() => cached.run(READ_WORKFLOW)).toEqual(nameOf(1));
  cached.change();
  cached.advance(60.001);
  expect(await cached.run(READ_WORKFLOW)).toEqual(nameOf(2));
  expect(cached.service.calls()).toHaveLength(3);
});

const FAILURES: Record<string, Script> = {
  'a 500': () => ({ status: 500, body: {} }),
  'a 503': () => ({ status: 503, body: {} }),
  'a broken connection': (_, { end }) => end(),
};

describe('after its windows, a stored response is used for 10 minutes', () => {
  it.each(Object.entries(FAILURES))('after %s, without retries', async (_, fail) => {
    await using cached = await startCachedGateway();
    await cached.run(READ_WORKFLOW);
    cached.advance(629.999);
    cached.service.script = fail;
    expect(await cached.run(READ_WORKFLOW)).toEqual(nameOf(0));
    expect(cached.service.calls()).toHaveLength(2);
    cached.advance(0.001);
    expect(await cached.run(READ_WORKFLOW)).toEqual([expect.stringMatching(/^UPSTREAM_/)]);
  });

  it('but not after 429, an invalid response or 404', async () => {
    await using cached = await startCachedGateway({ maxRetries: 0 });
    for (const [fail, expected] of [
      [() => ({ status: 429, body: {} }), ['RATE_LIMITED']],
      [() => ({ body: 'text' }), ['UPSTREAM_BAD_RESPONSE']],
      [() => ({ status: 404, body: { statusCode: 404 } }), { workflow: null }],
      [FAILURES['a 503'], ['UPSTREAM_UNAVAILABLE']], // The 404 has removed it.
    ] as const) {
      if (cached.service.calls().length === 0) {
        await cached.run(READ_WORKFLOW);
        cached.advance(61);
      }
      cached.service.script = fail ?? (() => ({}));
      expect(await cached.run(READ_WORKFLOW)).toEqual(expected);
    }
  });
});
