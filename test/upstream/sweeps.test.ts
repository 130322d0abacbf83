import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createMemoryRateLimiter } from '../../src/rate-limits/memory-rate-limiter.ts';
import { type Endpoint, throttled } from '../../src/upstream/errors.ts';
import { createCoalescing } from '../../src/upstream/policies/coalescing.ts';
import { limitConcurrency } from '../../src/upstream/policies/concurrency.ts';
import { createThrottle } from '../../src/upstream/policies/throttle.ts';

// What is kept per credential is swept once there are many of them, which anybody can cause with invented keys. In these tests, a sweep follows every
// step of random histories.

const GET: Endpoint = { method: 'GET', route: '/v1/feeds' };
const alive = new AbortController().signal;
const RUNS = { numRuns: 150 };

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

/** Runs all callbacks of settled promises. */
const settle = () => new Promise<void>((resolve) => setImmediate(resolve));

const credential = fc.constantFrom('a', 'b');
/** Selects one of the things that are in progress. */
const pick = fc.nat({ max: 7 });
const pickOf = <T>(list: readonly T[], index: number): T | undefined => list[index % Math.max(1, list.length)];
const remove = <T>(list: T[], item: T): void => void list.splice(list.indexOf(item), 1);

describe('a sweep at every point', () => {
  it('lets no read join one from before a write, and keeps none from joining one that it can', async () => {
    const step = fc.oneof(
      fc.record({ kind: fc.constant('read' as const), credential, path: fc.constantFrom('/1', '/2') }),
      fc.record({ kind: fc.constant('write' as const), credential }),
      fc.record({ kind: fc.constant('end write' as const), pick }),
      fc.record({ kind: fc.constantFrom('end read' as const, 'store' as const, 'leave' as const), pick }),
    );
    const history = fc.asyncProperty(fc.array(step, { maxLength: 14, size: 'max' }), async (steps) => {
      const coalescing = createCoalescing<number>();
      const calls: { name: string; id: number; isOpen: boolean; end(): void; stored(): void; readers: Set<unknown> }[] =
        [];
      const readers: { call: (typeof calls)[number] | undefined; abort: AbortController }[] = [];
      const writes: { credential: string; end: () => void }[] = [];
      const results: Promise<unknown>[] = [];

      function read(credential: string, path: string): void {
        const name = `${credential} ${path}`;
        const expected = calls.find((call) => call.name === name && call.isOpen);
        const abort = new AbortController();
        let started: (typeof calls)[number] | undefined;
        const result = coalescing.read(credential, path, abort.signal, () => {
          const response = Promise.withResolvers<number>();
          const storing = Promise.withResolvers<void>();
          const id = calls.length;
          started = {
            name,
            id,
            isOpen: true,
            readers: new Set(),
            stored: storing.resolve,
            end: () => response.resolve(id),
          };
          calls.push(started);
          return { result: response.promise, stored: storing.promise };
        });
        const call = started ?? expected;
        expect(started === undefined).toBe(expected !== undefined);
        const reader = { call, abort };
        call?.readers.add(reader);
        readers.push(reader);
        results.push(
          result.then(
            (id) => expect(id).toBe(call?.id),
            () => expect(abort.signal.aborted).toBe(true),
          ),
        );
      }

      function close(credential: string): void {
        for (const call of calls) {
          call.isOpen &&= !call.name.startsWith(`${credential} `);
        }
      }

      for (const next of steps) {
        if (next.kind === 'read') {
          read(next.credential, next.path);
        } else if (next.kind === 'write') {
          const { promise, resolve } = Promise.withResolvers<number>();
          results.push(coalescing.write(next.credential, () => promise));
          close(next.credential);
          writes.push({ credential: next.credential, end: () => resolve(0) });
        } else if (next.kind === 'end write') {
          const write = pickOf(writes, next.pick);
          if (write !== undefined) {
            remove(writes, write);
            write.end();
            await settle();
            close(write.credential);
          }
        } else if (next.kind === 'leave') {
          const reader = pickOf(readers, next.pick);
          if (reader !== undefined) {
            remove(readers, reader);
            reader.abort.abort();
            reader.call?.readers.delete(reader);
            if (reader.call?.readers.size === 0) {
              reader.call.isOpen = false;
            }
          }
        } else {
          const call = pickOf(calls, next.pick);
          call?.end();
          await settle();
          call?.readers.add('ended');
          if (next.kind === 'store' && call !== undefined) {
            call.stored();
            await settle();
            call.isOpen = false;
          }
        }
        visitStrangers((stranger) => coalescing.isReading(stranger, '/'));
      }
      for (const { end, stored } of calls) {
        end();
        stored();
      }
      for (const { end } of writes) {
        end();
      }
      await Promise.all(results);
    });
    await fc.assert(history, RUNS);
  });

  it('neither exceeds the concurrency of a credential nor forgets a call that waits', async () => {
    const step = fc.oneof(
      fc.record({ kind: fc.constant('start' as const), credential }),
      fc.record({ kind: fc.constantFrom('end' as const, 'leave' as const), pick }),
    );
    const history = fc.asyncProperty(fc.array(step, { maxLength: 14, size: 'max' }), async (steps) => {
      const concurrency = limitConcurrency({ maxConcurrentCallsPerKey: 2, maxQueuedCallsPerKey: 2 });
      const running: string[] = [];
      const waiting: { credential: string; abort: AbortController }[] = [];
      const count = (credential: string) => ({
        running: running.filter((other) => other === credential).length,
        waiting: waiting.filter((call) => call.credential === credential).length,
      });

      async function start(credential: string): Promise<void> {
        const call = { credential, abort: new AbortController() };
        const queued = concurrency.take(credential, GET, call.abort.signal);
        if (queued !== undefined) {
          waiting.push(call);
          await queued.finally(() => remove(waiting, call));
        }
        running.push(credential);
      }

      for (const next of steps) {
        if (next.kind === 'start') {
          start(next.credential).catch(() => {});
        } else if (next.kind === 'leave') {
          pickOf(waiting, next.pick)?.abort.abort();
        } else {
          const ended = pickOf(running, next.pick);
          if (ended !== undefined) {
            remove(running, ended);
            concurrency.release(ended);
          }
        }
        visitStrangers((stranger) => {
          void concurrency.take(stranger, GET, alive);
          concurrency.release(stranger);
        });
        await settle();
        for (const credential of ['a', 'b']) {
          const { running, waiting } = count(credential);
          expect(running).toBeLessThanOrEqual(2);
          expect(waiting).toBeLessThanOrEqual(running === 2 ? 2 : 0);
        }
        expect(concurrency.waiting()).toBe(waiting.length);
      }
    });
    await fc.assert(history, RUNS);
  });

  it('refills no rate limit', () => {
    const limit = { calls: 1, perSeconds: 3_600, burst: 10 };
    const history = fc.property(fc.array(fc.record({ credential, cost: fc.integer({ min: -3, max: 3 }) })), (steps) => {
      const limiter = createMemoryRateLimiter({ now: () => 0 });
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
    const throttle = createThrottle({ maxRetryAfterSeconds: 2 }, () => time);
    const pause = (credential: string) => throttle.note(credential, { limit: 10, remaining: 0, resetSeconds: 600 });
    pause('a');
    time += 60_000;
    const probe = throttle.enter('a', GET);
    expect(probe).toBeDefined();
    visitStrangers(pause, 20_000);
    expect(throttle.enter('a', GET)).toBeUndefined(); // It was forgotten, which costs one rejected call.
    pause('a');
    throttle.leave('a', probe, undefined);
    expect(() => throttle.enter('a', GET)).toThrow(
      throttled(GET, { limit: 10, remaining: 0, resetSeconds: 60 }).message,
    );
  });
});
