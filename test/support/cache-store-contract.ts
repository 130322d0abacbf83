// Tests what every store of a cache promises.

import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { CachedKind, CacheStore, EntryAddress, Lookup, Owner } from '../../src/upstream/cache/store.ts';
import type { UpstreamResult } from '../../src/upstream/calls.ts';
import { checkHistory, type History } from './cache-history.ts';
import { sampleSize } from './samples.ts';

/** Time for which a write with an unknown outcome stays in progress in these tests: longer than a few commands take on a busy machine. */
export const UNKNOWN_MS = 2_500;

/** Store under test, with control over time. */
export interface StoreSetup extends AsyncDisposable {
  store: CacheStore;
  /** Another store with the same entries, if processes can share them. */
  sharedStore?: CacheStore;
  /** Advances or waits for the time. */
  pass(milliseconds: number): Promise<void>;
}

/** Waits for real time to pass. */
export const passRealTime = async (milliseconds: number): Promise<void> => void (await sleep(milliseconds));

/** Seeds of the random histories that every store passes. */
export const SEEDS = Array.from({ length: sampleSize(1, 3) }, (_, i) => i + 1);

let owners = 0;

/** Returns an owner that no other test uses. */
export const newOwner = (): Owner => {
  owners += 1;
  return { address: 'http://127.0.0.1:1', credential: `ApiKey credential-${owners}` };
};

/** Returns a result of a read. */
export const resultOf = (body: unknown, bytes = 100): UpstreamResult => ({
  status: 200,
  body,
  bytes,
  replayed: false,
  rateLimit: undefined,
});

/** Reads and writes of one owner. */
export function cacheOf(store: CacheStore, owner: Owner = newOwner()) {
  const addressOf = (path: string, kind: CachedKind): EntryAddress => ({ owner, kind, read: path });
  const find = async (path: string, kind: CachedKind = 'workflows') => store.find(addressOf(path, kind));
  const body = async (path: string, kind?: CachedKind) => (await find(path, kind)).entry?.result.body;
  const put = async (path: string, lookup: Lookup, content: unknown = 1, kind: CachedKind = 'workflows') =>
    store.put(addressOf(path, kind), lookup, resultOf(content), 60_000);
  return {
    owner,
    find,
    /** Returns the body of the stored response. */
    body,
    /** Returns the version of the reads of a kind. */
    version: async (kind?: CachedKind) => (await find('/version', kind)).version,
    /** Stores the response of a read that started after a lookup. */
    put,
    /** Reads and stores a response: twice if the first one isn't stored, because the store had no state. */
    async load(path: string, content: unknown = 1, kind?: CachedKind) {
      await put(path, await find(path, kind), content, kind);
      if (JSON.stringify(await body(path, kind)) !== JSON.stringify(content)) {
        await put(path, await find(path, kind), content, kind);
      }
    },
    begin: async (kinds: readonly CachedKind[] = ['workflows'], maxMs = 60_000) =>
      store.beginWrite(owner, kinds, maxMs),
    async write(kinds: readonly CachedKind[] = ['workflows'], isUnknown = false) {
      await (await store.beginWrite(owner, kinds, 60_000)).end(isUnknown ? UNKNOWN_MS : 0);
    },
    drop: async (kinds: readonly CachedKind[] = ['workflows', 'statistics']) => store.drop(owner, kinds),
  };
}

/** Defines the tests that every store passes. */
export function testCacheStore(start: () => Promise<StoreSetup>, startHistory: () => Promise<History>): void {
  let setup: StoreSetup;
  beforeAll(async () => {
    setup = await start();
  });
  afterAll(() => setup[Symbol.asyncDispose]());
  const use = (owner?: Owner) => cacheOf(setup.store, owner);

  it('returns what was stored, with its age since the lookup before the read', async () => {
    const { owner, find, load } = use();
    await load('/version');
    const lookup = await find('/v1/groups?page=1');
    expect(lookup).toEqual({ entry: undefined, version: expect.any(String), state: 'current', at: expect.any(Number) });
    await setup.pass(100);
    const result = {
      ...resultOf([{ name: 'Grüße', nested: { list: [1, null, true] } }]),
      rateLimit: { remaining: 3, limit: 10 },
      etag: '"1"',
    };
    const address = { owner, kind: 'workflows', read: '/v1/groups?page=1' } as const;
    await setup.store.put(address, lookup, result, 60_000);
    const { entry, version } = await find('/v1/groups?page=1');
    expect(entry?.result).toEqual(result);
    expect(entry?.ageMs).toBeGreaterThanOrEqual(99); // Timers may be early by less than a millisecond.
    expect(version).toBe(lookup.version);
    expect((await find('/v1/groups?page=2')).entry).toBeUndefined();
  });

  it('returns an entry until its lifetime is over, however late it was stored', async () => {
    const { owner, body, find, load } = use();
    await load('/long');
    const lookup = await find('/short');
    await setup.store.put({ owner, kind: 'workflows', read: '/short' }, lookup, resultOf(1), 250);
    await setup.pass(300);
    expect(await body('/short')).toBeUndefined();
    await setup.store.put({ owner, kind: 'workflows', read: '/late' }, lookup, resultOf(1), 250);
    expect(await body('/late')).toBeUndefined();
    expect(await body('/long')).toBe(1);
  });

  it("never returns another credential's, upstream's or kind's entry", async () => {
    const mine = use();
    await mine.load('/v1/groups');
    const others = [
      { ...mine.owner, credential: `${mine.owner.credential}0` },
      { ...mine.owner, address: 'http://127.0.0.1:2' },
      { address: mine.owner.address + mine.owner.credential, credential: '' },
    ].map(use);
    for (const other of others) {
      expect(await other.body('/v1/groups')).toBeUndefined();
      await other.load('/v1/groups', 'theirs');
      expect(await other.body('/v1/groups')).toBe('theirs');
      await other.write();
      await other.drop();
    }
    expect(await mine.body('/v1/groups', 'statistics')).toBeUndefined();
    await mine.load('/v1/groups', 'statistics', 'statistics');
    expect(await mine.body('/v1/groups')).toBe(1);
  });

  it('empties the kinds of a write before it is sent and after it has ended, and stores nothing in between', async () => {
    const { begin, body, find, load, put, version } = use();
    await load('/a');
    await load('/stats', 2, 'statistics');
    const before = await find('/a');
    const versions = [before.version];
    const write = await begin(['workflows']);
    const during = await find('/a');
    versions.push(during.version);
    expect(during.entry).toBeUndefined();
    for (const lookup of [before, during]) {
      await put('/a', lookup);
      expect(await body('/a')).toBeUndefined();
    }
    await write.end(0);
    versions.push(await version());
    expect(new Set(versions).size).toBe(3);
    expect(await body('/a')).toBeUndefined();
    for (const lookup of [before, during]) {
      await put('/a', lookup);
      expect(await body('/a')).toBeUndefined();
    }
    expect(await body('/stats', 'statistics')).toBe(2);
    await load('/a', 3);
    expect(await body('/a')).toBe(3);
  });

  it('counts a write with an unknown outcome as being in progress for a while', async () => {
    const { body, find, load, put, write } = use();
    await load('/a');
    await write(['workflows', 'statistics'], true);
    const during = await find('/a');
    await load('/a');
    await load('/stats', 1, 'statistics');
    expect([await body('/a'), await body('/stats', 'statistics')]).toEqual([undefined, undefined]);
    await write(['workflows']); // Another write doesn't end it.
    await load('/a');
    expect(await body('/a')).toBeUndefined();
    await setup.pass(UNKNOWN_MS + 50);
    await put('/a', during);
    expect(await body('/a')).toBeUndefined();
    await load('/a', 2);
    await load('/stats', 2, 'statistics');
    expect([await body('/a'), await body('/stats', 'statistics')]).toEqual([2, 2]);
  });

  it('ends a write by itself that nobody ends', async () => {
    const { begin, body, find, load, put } = use();
    await load('/a');
    const before = await find('/a');
    await begin(['workflows'], 1_000);
    const during = await find('/a');
    expect(during.entry).toBeUndefined();
    await setup.pass(1_050);
    for (const lookup of [before, during]) {
      expect(await body('/a')).toBeUndefined();
      await put('/a', lookup);
    }
    expect(await body('/a')).toBeUndefined();
    await load('/a', 2);
    expect(await body('/a')).toBe(2);
  });

  it('waits for all writes of a kind', async () => {
    const { begin, body, load } = use();
    const [first, second] = [await begin(), await begin()];
    await first.end(0);
    await load('/a');
    expect(await body('/a')).toBeUndefined();
    await second.end(0);
    await load('/a');
    expect(await body('/a')).toBe(1);
  });

  it('stores no read in flight since before a write that took longer than its maximum', async () => {
    const { begin, body, find, load, put } = use();
    await load('/a');
    const write = await begin(['workflows'], 100);
    await setup.pass(150);
    await load('/a', 'before it was applied');
    const late = await find('/a');
    await write.end(0);
    await put('/a', late);
    expect(await body('/a')).toBeUndefined();
  });

  it('drops kinds with the reads in flight, and keeps writes in progress', async () => {
    const { begin, body, drop, find, load, put } = use();
    await load('/a');
    await load('/stats', 2, 'statistics');
    const before = await find('/b');
    await drop(['workflows']);
    const first = await find('/b');
    await drop(['workflows']);
    for (const lookup of [before, first]) {
      await put('/b', lookup);
      expect(await body('/b')).toBeUndefined();
    }
    expect([await body('/a'), await body('/stats', 'statistics')]).toEqual([undefined, 2]);
    const write = await begin();
    await drop();
    await load('/a');
    expect(await body('/a')).toBeUndefined();
    await write.end(0);
    await load('/a');
    expect(await body('/a')).toBe(1);
  });

  it('stores a first read of an owner unless it overlaps a write, and always the next one', async () => {
    const { body, find, load, put } = use();
    await use().write(); // There is an epoch.
    const unwritten = use();
    await unwritten.put('/a', await unwritten.find('/a'));
    expect(await unwritten.body('/a')).toBe(1);
    const lookup = await find('/a');
    await use().write();
    await put('/a', lookup);
    expect(await body('/a')).toBeUndefined();
    const next = await find('/a');
    await use().write(); // Not even if others write all the time.
    await put('/a', next, 2);
    expect(await body('/a')).toBe(2);
    const other = use();
    const first = await other.find('/a');
    await other.write();
    await other.drop(); // As an eviction of its version would.
    await other.put('/a', first);
    expect(await other.body('/a')).toBeUndefined();
    await load('/a', 3);
    expect(await body('/a')).toBe(3);
  });

  it('has the same version until a write begins or ends, or the kind is dropped', async () => {
    const { begin, drop, find, load, version } = use();
    await load('/a');
    const first = await version();
    expect((await find('/a')).version).toBe(first);
    await load('/b');
    const versions = [await version()];
    expect(versions).toEqual([first]);
    const write = await begin();
    versions.push(await version());
    await write.end(0);
    versions.push(await version());
    await drop();
    versions.push(await version());
    expect(new Set(versions).size).toBe(4);
  });

  it('shares entries, writes and drops with other processes, or has none', async () => {
    const { owner, begin, body, drop, find, load, put } = use();
    const other = cacheOf(setup.sharedStore ?? setup.store, owner);
    await load('/a');
    expect(await other.body('/a')).toBe(1);
    const write = await other.begin();
    expect(await body('/a')).toBeUndefined();
    await write.end(0);
    await load('/a', 2);
    const own = await begin();
    expect(await other.body('/a')).toBeUndefined();
    await own.end(0);
    expect([await body('/a'), await other.body('/a')]).toEqual([undefined, undefined]);
    await load('/a', 3);
    const inFlight = await find('/b');
    await other.drop();
    await put('/b', inFlight);
    expect([await body('/a'), await body('/b')]).toEqual([undefined, undefined]);
    await other.load('/a', 4);
    await drop();
    expect(await other.body('/a')).toBeUndefined();
  });

  it.each(SEEDS)(
    'returns nothing too old or of another owner, whatever happens (seed %i)',
    async (seed) => {
      await using history = await startHistory();
      await checkHistory(history, seed);
    },
    120_000,
  );
}
