import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createPerCredential } from '../../src/lib/per-credential.ts';
import { Abort, Deadline } from '../../src/lib/signal.ts';
import { createMemoryRateLimiter } from '../../src/rate-limits/rate-limiter.ts';
import { Usage } from '../../src/telemetry/usage.ts';
import { Reader } from '../../src/upstream/calls/call.ts';
import { endpoint } from '../../src/upstream/endpoint.ts';
import type { Endpoint } from '../../src/upstream/errors.ts';
import { createThrottle } from '../../src/upstream/policies/throttle.ts';
import { guards } from '../support/guards.ts';
import { sampleSize } from '../support/samples.ts';
import type { Script } from '../support/service.ts';
import { codeOf, deferResponses, respondWithName, startClient } from '../support/upstream-client.ts';

guards('src/upstream/calls/call.ts', 'Call.#answer');

// What is kept per credential is swept once there are many of them, which anybody can cause with invented keys. In these tests, a sweep follows every
// step of random histories.

const GET: Endpoint = { method: 'GET', route: '/v1/feeds' };
const RUNS = { numRuns: sampleSize(15, 150) };

/** Number of new credentials that cause at least one sweep. */
const SWEEP = 1_000;

let strangers = 0;

/** Calls a function with credentials that no other call has had. */
function visitStrangers(visit: (credential: string) => void, count = SWEEP): void {
  for (let i = 0; i < count; i += 1) {
    strangers += 1;
    visit(`stranger ${strangers}`);
  }
}

/** Returns an item that a number selects; undefined if there is none. */
const pickOf = <T>(list: readonly T[], index: number): T | undefined => list[index % Math.max(1, list.length)];
const remove = <T>(list: T[], item: T): void => void list.splice(list.indexOf(item), 1);

const credential = fc.constantFrom('a', 'b');
const pick = fc.nat({ max: 7 });

describe('a sweep at every point', () => {
  it('keeps the values that are to be kept, unless there are more than 10,000', () => {
    const values = createPerCredential(
      () => ({ isKept: false }),
      ({ isKept }) => isKept,
    );
    const use = (key: string, isKept: boolean) => {
      values.enter(key).isKept = isKept;
      values.leave(key);
    };
    use('first', true);
    use('second', false);
    visitStrangers((stranger) => use(stranger, false));
    expect([values.find('first'), values.find('second')]).toEqual([{ isKept: true }, undefined]);
    for (let i = 0; i < 20_000; i += 1) {
      use(`accepted ${i}`, true);
    }
    expect(values.find('first')).toBeUndefined();
  });

  it('removes no value in use', () => {
    const step = fc.record({ kind: fc.constantFrom('enter' as const, 'leave' as const), credential });
    const history = fc.property(fc.array(step, { maxLength: 14, size: 'max' }), (steps) => {
      const values = createPerCredential(() => ({}));
      const used = new Map<string, { value: object; users: number }>();
      for (const { kind, credential } of steps) {
        const use = used.get(credential);
        if (kind === 'enter') {
          const value = values.enter(credential);
          expect(value).toBe(use?.value ?? value);
          used.set(credential, { value, users: (use?.users ?? 0) + 1 });
        } else if (use === undefined) {
          expect(() => values.leave(credential)).toThrow('more often');
        } else {
          expect(values.leave(credential)).toBe(use.value);
          use.users -= 1;
          if (use.users === 0) {
            used.delete(credential);
          }
        }
        visitStrangers((stranger) => {
          values.enter(stranger);
          values.leave(stranger);
        });
      }
    });
    fc.assert(history, RUNS);
  });

  it('lets no read return data from before the last write of its key, nor exceeds the slots of a key', async () => {
    const step = fc.oneof(
      { weight: 3, arbitrary: fc.record({ kind: fc.constant('read' as const), credential }) },
      { weight: 2, arbitrary: fc.record({ kind: fc.constant('write' as const), credential }) },
      { weight: 4, arbitrary: fc.record({ kind: fc.constant('respond' as const), pick }) },
      { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('fail' as const, 'leave' as const), pick }) },
    );
    const slots = 2;
    const { pending, script } = deferResponses();
    const listFeeds = endpoint('GET /v1/feeds', { expect: 'list' }).returns<unknown[]>();
    const respondToLists: Script = (request, connection) =>
      request.path === '/v1/feeds' ? connection.answer({ body: { data: [] } }) : script(request, connection);
    await using client = await startClient(respondToLists, {
      maxConcurrentCallsPerKey: slots,
      maxRetries: 0,
      sockets: 64,
    });
    let run = 0;

    const isOver = new Reader(new Deadline(new Abort(), 0), new Usage(), () => {});
    const request = {
      endpoint: listFeeds,
      path: '/v1/feeds',
      requestId: 'r',
      args: {},
      headers: undefined,
      body: undefined,
    };
    const sweep = () =>
      visitStrangers((credential) => client.service.read({ ...request, credential, callerId: credential }, isOver));

    const history = fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 30, size: 'max' }), async (steps) => {
      run += 1;
      /** Version of the service's record of each key, and the version that its next read must have at least. */
      const versions = new Map<string, number>();
      const written = new Map<string, number>();
      const leavers: AbortController[] = [];
      const results: Promise<unknown>[] = [];
      let left = 0;
      /** Version of each read, when it arrived. */
      const arrivals = new Map<object, number>();

      /** Lets the service receive what was sent. Writes are applied when it responds to them. */
      async function receive(): Promise<void> {
        let seen = -1;
        while (seen !== pending.length) {
          seen = pending.length;
          await client.operation(`sync-${run}`).read(listFeeds, {});
        }
        for (const { request } of pending) {
          if (!arrivals.has(request)) {
            const { authorization = '' } = request.headers;
            arrivals.set(request, versions.get(authorization) ?? 0);
          }
        }
        for (const key of ['a', 'b']) {
          const running = pending.filter(({ request }) => request.headers.authorization === `ApiKey ${key}-${run}`);
          expect(running.length).toBeLessThanOrEqual(slots + left); // Requests that were aborted remain pending.
        }
      }

      function respond(index: number, isFailure: boolean): void {
        const next = pickOf(pending, index);
        if (next !== undefined) {
          remove(pending, next);
          const { authorization = '' } = next.request.headers;
          if (isFailure) {
            next.connection.answer({ status: 500, body: {} });
          } else if (next.request.method === 'GET') {
            respondWithName(next, String(arrivals.get(next.request)));
          } else {
            const version = (versions.get(authorization) ?? 0) + 1;
            versions.set(authorization, version);
            respondWithName(next, String(version));
          }
        }
      }

      for (const key of ['a', 'b']) {
        await client.operation(`${key}-${run}`).read(listFeeds, {}); // The service accepts the keys.
      }
      for (const next of steps) {
        if (next.kind === 'read' || next.kind === 'write') {
          const authorization = `ApiKey ${next.credential}-${run}`;
          const leaver = new AbortController();
          const caller = client.caller(`${next.credential}-${run}`, { signal: leaver.signal, withinMs: 60_000 });
          if (next.kind === 'read') {
            leavers.push(leaver);
            const atLeast = written.get(authorization) ?? 0;
            results.push(
              caller.getWorkflow('w1').then((found) => {
                expect(Number(found?.name)).toBeGreaterThanOrEqual(atLeast);
              }, codeOf),
            );
          } else {
            results.push(
              caller.updateWorkflowStatus('w1', true).then(({ body }) => {
                written.set(authorization, Math.max(written.get(authorization) ?? 0, Number(body.name)));
              }, codeOf),
            );
          }
        } else if (next.kind === 'leave') {
          pickOf(leavers, next.pick)?.abort();
          left += 1;
        } else {
          respond(next.pick, next.kind === 'fail');
        }
        sweep();
        await receive();
        sweep();
      }
      for (let settled = false; !settled; ) {
        await receive();
        while (pending.length > 0) {
          respond(0, false);
        }
        settled = await Promise.race([Promise.all(results).then(() => true), receive().then(() => false)]);
      }
      expect(client.service.state().waiting).toBe(0);
    });
    await fc.assert(history, { numRuns: sampleSize(10, 100) });
  });

  it('refills no rate limit', () => {
    const limit = { calls: 10, perSeconds: 36_000 };
    const history = fc.property(fc.array(fc.record({ credential, cost: fc.integer({ min: -3, max: 3 }) })), (steps) => {
      const limiter = createMemoryRateLimiter(() => 0);
      const used = new Map<string, number>();
      for (const { credential, cost } of steps) {
        const before = used.get(credential) ?? 0;
        const expected = Math.max(0, before + cost);
        const { remaining } = limiter.charge(credential, limit, cost);
        expect(remaining).toBe(Math.max(0, 10 - expected));
        used.set(credential, expected);
        visitStrangers((stranger) => limiter.charge(stranger, limit, 0));
      }
    });
    fc.assert(history, RUNS);
  });

  it('lets the probe of a forgotten pause end no later one', () => {
    let time = 0;
    const throttle = createThrottle(() => time);
    const pause = (credential: string) =>
      throttle.note(credential, GET, { limit: 10, remaining: 0, resetSeconds: 600 });
    const [probe, other] = [{}, {}];
    const response = { status: 200, body: {}, replayed: false, rateLimit: undefined, bytes: 2 };
    pause('a');
    time += 60_000;
    expect(throttle.refusal(probe, 'a', GET)).toBeUndefined();
    expect(throttle.refusal(other, 'a', GET)).toBeDefined();
    visitStrangers(pause, 20_000);
    expect(throttle.refusal(other, 'a', GET)).toBeUndefined(); // It was forgotten, which costs one rejected call.
    pause('a');
    throttle.ended(probe, response);
    expect(throttle.refusal(other, 'a', GET)).toMatchObject({ code: 'RATE_LIMITED', retryAfterSeconds: 60 });
  });
});
