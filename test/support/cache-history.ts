// Plays random reads and writes on the stores of caches.

import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import type { CachedKind, CacheStore, Owner } from '../../src/upstream/cache/store.ts';
import { createRandom } from './concurrent-load.ts';
import { sampleSize } from './samples.ts';

/** Time for which a write of a history whose outcome is unknown, or that is never ended, counts as being in progress. */
export const WINDOW_MS = 150;

/** Stores on which a random history is played in real time. */
export interface History extends AsyncDisposable {
  /** Stores with the same entries: one per process. */
  stores: readonly CacheStore[];
  /** Damages what the stores hold in one of several ways. @default nothing */
  damage?: (random: (below: number) => number) => Promise<void>;
}

/** Minimum hits, without which a history says nothing. */
const MIN_HITS = 50;

const OWNERS: readonly Owner[] = [1, 2].map((n) => ({ address: 'http://127.0.0.1:1', credential: `ApiKey ${n}` }));
const KINDS: readonly CachedKind[] = ['workflows', 'statistics'];
const PATHS = ['/a', '/b'];

/** Ages at which entries are removed, in milliseconds: less and more than writes take. */
const LIFETIMES = [20, 100, 1_000, 60_000];

const oneOf = <T>(values: readonly T[], random: (below: number) => number): T =>
  values[random(values.length)] ?? expect.unreachable();

/**
 * Plays reads and writes of several processes at once, with writes whose outcome is unknown or that never end. Fails if a read returns an entry
 * that is older than a write of its owner that had ended before, of another owner, or older than its lifetime.
 */
export async function checkHistory({ stores, damage }: History, seed: number): Promise<void> {
  const next = createRandom(4_711 * seed);
  const random = (below: number) => Math.floor(next() * below);
  /** Content of the service, by owner and kind: the number of the last write. */
  const content = new Map<string, number>();
  /** Number of the last write that readers must see, by store, owner and kind. */
  const required = new Map<string, number>();
  const left: Promise<void>[] = [];
  let [hits, writes, damages, isOver] = [0, 0, 0, false];
  const pause = async () => random(3) > 0 && (await sleep(random(random(8) === 0 ? 60 : 4)));

  /** Notes that readers must see a write: through all stores, or only through the one that sent it. */
  function require(slot: string, write: number, through: CacheStore | undefined): void {
    for (const [i, store] of stores.entries()) {
      if (through === undefined || through === store) {
        required.set(`${i} ${slot}`, Math.max(write, required.get(`${i} ${slot}`) ?? 0));
      }
    }
  }

  async function read(store: CacheStore): Promise<void> {
    const [owner, kind, path] = [oneOf(OWNERS, random), oneOf(KINDS, random), oneOf(PATHS, random)];
    const slot = `${owner.credential} ${kind}`;
    const least = required.get(`${stores.indexOf(store)} ${slot}`) ?? 0;
    const startedAt = performance.now();
    const lookup = await store.find({ owner, kind, read: path });
    const foundAt = performance.now();
    if (lookup.entry !== undefined) {
      hits += 1;
      const { result, ageMs } = lookup.entry;
      const numberOf = (name: string) => Number(Reflect.get(Object(result.body), name));
      expect(result.body).toMatchObject({ slot, path });
      expect(numberOf('write')).toBeGreaterThanOrEqual(least);
      const leastAge = startedAt - numberOf('foundAt');
      expect(leastAge).toBeLessThanOrEqual(numberOf('lifetimeMs') + 2); // Clocks of stores have milliseconds.
      expect(ageMs).toBeGreaterThanOrEqual(leastAge - 2);
    }
    if (lookup.version !== undefined && (lookup.entry === undefined || random(4) === 0)) {
      await pause();
      const body = { slot, path, write: content.get(slot) ?? 0, foundAt, lifetimeMs: oneOf(LIFETIMES, random) };
      await pause();
      const result = { status: 200, body, bytes: 100, replayed: false, rateLimit: undefined };
      await store.put({ owner, kind, read: path }, lookup, result, body.lifetimeMs);
    }
  }

  async function write(store: CacheStore): Promise<void> {
    const [owner, kind] = [oneOf(OWNERS, random), oneOf(KINDS, random)];
    const slot = `${owner.credential} ${kind}`;
    writes += 1;
    const number = writes;
    const apply = () => content.set(slot, Math.max(number, content.get(slot) ?? 0));
    const isUp = () => store.stats().problem === undefined;
    const outcome = oneOf(['known', 'known', 'known', 'unknown', 'never ends'] as const, random);
    const damagesBefore = damages;
    let startedAt = performance.now();
    const begun = await store.beginWrite(owner, [kind], outcome === 'never ends' ? WINDOW_MS : 60_000);
    let isNoted = isUp();
    await pause();
    if (outcome === 'known') {
      apply();
      await pause();
      await begun.end(0);
      isNoted &&= isUp();
      require(slot, number, isNoted ? undefined : store); // Other processes may not know if Redis didn't respond.
      return;
    }
    if (outcome === 'unknown') {
      startedAt = performance.now();
      await begun.end(WINDOW_MS);
      isNoted &&= isUp();
    }
    left.push(
      (async () => {
        await sleep(random(WINDOW_MS / 2));
        const isInTime = performance.now() < startedAt + WINDOW_MS; // A timer may be late.
        apply();
        await sleep(WINDOW_MS);
        if (isInTime && isNoted && damages === damagesBefore) {
          require(slot, number, undefined); // Damage can hide a write in progress, whose effects readers then see late.
        }
      })(),
    );
  }

  async function damageRepeatedly(): Promise<void> {
    while (!isOver && damage !== undefined) {
      damages += 1;
      await damage(random);
      damages += 1;
      await sleep(random(400));
    }
  }

  const damaging = damageRepeatedly();
  const operations = sampleSize(200, 1_000);
  try {
    await Promise.all(
      Array.from({ length: 8 }, async (_, client) => {
        for (let i = 0; !isOver && (i < operations || (hits < MIN_HITS && i < 100 * operations)); i += 1) {
          const store = stores[client % stores.length] ?? expect.unreachable();
          await (random(12) === 0 ? write(store) : read(store));
          await pause();
        }
      }),
    );
  } finally {
    isOver = true;
    await Promise.all([damaging, ...left]);
  }
  expect(hits).toBeGreaterThanOrEqual(MIN_HITS);
}
