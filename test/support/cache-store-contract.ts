import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type {
  CacheStore,
  EntryAddress,
  Moment,
  NewEntry,
  Owner,
  Tag,
  WriteEnd,
} from '../../src/upstream/cache/store.ts';

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

let owners = 0;

/** Returns a partition that no other test uses. */
export const newOwner = (): Owner => {
  owners += 1;
  return { upstream: 'http://127.0.0.1:1', credential: `ApiKey credential-${owners}` };
};

/** Returns an entry whose body has a version. */
export const entryOf = (moment: Moment | undefined, tags: readonly Tag[], version: unknown = 1): NewEntry => ({
  result: { status: 200, body: { version }, replayed: false, rateLimit: undefined },
  tags,
  moment: moment ?? 'unavailable.0',
  ageMs: 0,
  lifetimeMs: 60_000,
});

/** Reads and writes of one partition. */
export function partitionOf(store: CacheStore, owner: Owner = newOwner()) {
  const addressOf = (path: string): EntryAddress => ({ owner, path });
  const find = async (path: string) => store.find(addressOf(path));
  const version = async (path: string) => (await find(path)).entry?.result.body;
  async function moment(): Promise<Moment> {
    const { moment: found } = await find('/moment');
    return found ?? expect.unreachable('the store is unavailable');
  }
  /** Waits until earlier puts have taken effect. */
  async function settle(): Promise<void> {
    const other = { owner: { ...owner, credential: `${owner.credential} settle` }, path: `/settle-${Math.random()}` };
    await expect
      .poll(
        async () => {
          const found = await store.find(other);
          store.put(other, entryOf(found.moment, []));
          return found.entry;
        },
        { interval: 2 },
      )
      .toBeDefined();
  }
  return {
    owner,
    find,
    ageOf: async (path: string) => store.ageOf(addressOf(path)),
    moment,
    version,
    settle,
    /** Stores a read that started at a moment. */
    async put(path: string, tags: readonly Tag[], options: Partial<NewEntry> & { version?: unknown } = {}) {
      const { version: ofBody, ...rest } = options;
      store.put(addressOf(path), { ...entryOf(rest.moment ?? (await moment()), tags, ofBody), ...rest });
      await settle();
    },
    begin: async (tags: readonly Tag[], maxMs = 60_000) => store.beginWrite(owner, tags, maxMs),
    async write(tags: readonly Tag[], outcome: WriteEnd = 'applied', more?: readonly Tag[]) {
      await (await store.beginWrite(owner, tags, 60_000)).end(outcome, more);
    },
    drop: async () => store.drop(owner),
  };
}

/** Defines the tests that every store passes. Its writes with an unknown outcome stay in progress for `UNKNOWN_MS`. */
export function testCacheStore(start: () => Promise<StoreSetup>): void {
  let setup: StoreSetup;
  beforeAll(async () => {
    setup = await start();
  });
  afterAll(() => setup[Symbol.asyncDispose]());
  const partition = (owner?: Owner) => partitionOf(setup.store, owner);

  it('returns what was stored, with its age since the start of the read', async () => {
    const { find, ageOf, put, write } = partition();
    const { entry, moment } = await find('/v1/groups?page=1');
    expect(entry).toBeUndefined();
    expect(moment).toEqual(expect.any(String));
    const result = {
      status: 200,
      body: [{ name: 'Grüße', nested: { list: [1, null, true] } }],
      replayed: false,
      rateLimit: { remaining: 3, limit: 10 },
    };
    await put('/v1/groups?page=1', ['groups', 'group:a'], { result, ageMs: 5_000 });
    await setup.pass(20);
    const { entry: found } = await find('/v1/groups?page=1');
    expect(found).toMatchObject({ result, tags: ['groups', 'group:a'] });
    expect(found?.ageMs).toBeGreaterThanOrEqual(5_020);
    expect(found?.ageMs).toBeLessThan(10_000);
    expect((await find('/v1/groups?page=2')).entry).toBeUndefined();
    expect(await ageOf('/v1/groups?page=1')).toBeGreaterThanOrEqual(5_020);
    expect(await ageOf('/v1/groups?page=2')).toBeUndefined();
    await write(['group:a']);
    expect(await ageOf('/v1/groups?page=1')).toBeUndefined();
  });

  it('returns an entry until its lifetime is over', async () => {
    const { version, put } = partition();
    await put('/long', ['a']);
    await put('/short', ['a'], { ageMs: 9_800, lifetimeMs: 10_000 }); // It may be over at once on a busy machine.
    await put('/over', ['a'], { ageMs: 10_000, lifetimeMs: 10_000 });
    expect(await version('/over')).toBeUndefined();
    await setup.pass(250);
    expect(await version('/short')).toBeUndefined();
    expect(await version('/long')).toBeDefined();
  });

  it("never returns another credential's or upstream's entry", async () => {
    const mine = partition();
    await mine.put('/v1/groups', ['groups']);
    const others = [
      { ...mine.owner, credential: `${mine.owner.credential}0` },
      { ...mine.owner, upstream: 'http://127.0.0.1:2' },
      { upstream: mine.owner.upstream + mine.owner.credential, credential: '' },
    ].map(partition);
    for (const other of others) {
      expect(await other.version('/v1/groups')).toBeUndefined();
      await other.write(['groups']);
      await other.drop();
    }
    expect(await mine.version('/v1/groups')).toEqual({ version: 1 });
  });

  it('hides what a write changes while it is in progress, and removes it once it was applied', async () => {
    const { begin, put, version, moment } = partition();
    await put('/a', ['group:a', 'groups']);
    await put('/b', ['group:b']);
    const before = await moment();
    const write = await begin(['group:a', 'group:c']);
    const during = await moment();
    expect([await version('/a'), await version('/b')]).toEqual([undefined, { version: 1 }]);
    await write.end('applied');
    expect([await version('/a'), await version('/b')]).toEqual([undefined, { version: 1 }]);
    expect(new Set([before, during, await moment()]).size).toBe(3);
    await put('/a', ['group:a'], { version: 2 });
    expect(await version('/a')).toEqual({ version: 2 });
  });

  it('keeps entries if a write was certainly not applied', async () => {
    const { put, version, write } = partition();
    await put('/a', ['a']);
    await write(['a'], 'not applied');
    expect(await version('/a')).toEqual({ version: 1 });
  });

  it('stores no read that overlaps a write', async () => {
    const { begin, moment, put, version, settle } = partition();
    const before = await moment();
    const write = await begin(['a']);
    const during = await moment();
    await put('/a', ['x', 'a'], { moment: before });
    await put('/a', ['x', 'a'], { moment: during });
    await put('/other', ['b'], { moment: during });
    await write.end('applied');
    await put('/a', ['x', 'a'], { moment: before });
    await put('/a', ['x', 'a'], { moment: during });
    expect(await version('/a')).toBeUndefined();
    expect(await version('/other')).toEqual({ version: 1 });
    await settle();
    expect(await version('/a')).toBeUndefined();
  });

  it('counts a write with an unknown outcome as applied, and as being in progress for a while', async () => {
    const { put, version, write } = partition();
    await put('/a', ['a']);
    await put('/more', ['more']);
    await write(['a'], 'unknown', ['more']);
    await put('/a', ['a']);
    await put('/more', ['more']);
    expect([await version('/a'), await version('/more')]).toEqual([undefined, undefined]);
    await setup.pass(UNKNOWN_MS + 50);
    await put('/a', ['a'], { version: 2 }); // The first attempt after that time may be rejected.
    await put('/a', ['a'], { version: 2 });
    expect(await version('/a')).toEqual({ version: 2 });
  });

  it('removes also what a write is known to have changed only from its response', async () => {
    const { put, version, write } = partition();
    await put('/a', ['a']);
    await put('/b', ['b']);
    await write([], 'applied', ['a']);
    expect([await version('/a'), await version('/b')]).toEqual([undefined, { version: 1 }]);
  });

  it('ends a write by itself that nobody ends, and counts it as applied', async () => {
    const { begin, moment, put, version } = partition();
    await put('/a', ['a']);
    await begin(['a'], 2_000);
    const during = await moment();
    await setup.pass(2_050);
    expect(await version('/a')).toBeUndefined();
    await put('/a', ['a'], { moment: during });
    expect(await version('/a')).toBeUndefined();
    await put('/a', ['a'], { version: 2 });
    expect(await version('/a')).toEqual({ version: 2 });
  });

  it('waits for all writes of the same thing', async () => {
    const { begin, put, version } = partition();
    await put('/a', ['a']);
    const [first, second] = [await begin(['a']), await begin(['a'])];
    await first.end('not applied');
    expect(await version('/a')).toBeUndefined();
    await second.end('not applied');
    expect(await version('/a')).toEqual({ version: 1 });
  });

  it('drops a partition with the reads in flight, and keeps its writes in progress', async () => {
    const { begin, drop, moment, put, version } = partition();
    await put('/a', ['a']);
    await put('/b', ['b']);
    const write = await begin(['b']);
    const before = await moment();
    await drop();
    expect(await moment()).not.toBe(before);
    await put('/a', ['a'], { moment: before });
    expect(await version('/a')).toBeUndefined();
    await put('/a', ['a']);
    await put('/b', ['b']);
    expect([await version('/a'), await version('/b')]).toEqual([{ version: 1 }, undefined]);
    await write.end('applied');
    expect([await version('/a'), await version('/b')]).toEqual([{ version: 1 }, undefined]);
  });

  it('has the same moment until a write begins or ends', async () => {
    const { begin, drop, find, moment, put } = partition();
    const first = await moment();
    await put('/a', ['a']);
    expect([await moment(), (await find('/a')).moment]).toEqual([first, first]);
    const moments = new Set([first]);
    const write = await begin(['a']);
    moments.add(await moment());
    await write.end('applied');
    moments.add(await moment());
    await drop();
    moments.add(await moment());
    expect(moments.size).toBe(4);
  });

  it('shares entries and writes with other processes, or has none', async () => {
    const { owner, put, version, begin } = partition();
    const other = partitionOf(setup.sharedStore ?? setup.store, owner);
    await put('/a', ['a']);
    expect(await other.version('/a')).toEqual({ version: 1 });
    const write = await other.begin(['a']);
    expect(await version('/a')).toBeUndefined();
    await write.end('not applied');
    const own = await begin(['a']);
    expect(await other.version('/a')).toBeUndefined();
    await own.end('applied');
    expect([await version('/a'), await other.version('/a')]).toEqual([undefined, undefined]);
  });

  it('never returns an entry that is older than a finished write, in any order of reads and writes', async () => {
    const stores = [setup.store, setup.sharedStore ?? setup.store];
    const owner = newOwner();
    const things = ['a', 'b', 'c'];
    /** Versions in the service, and those that finished writes guarantee. */
    const current = new Map(things.map((thing) => [thing, 0]));
    const guaranteed = new Map(current);
    let seed = 4_711;
    const random = (below: number) => {
      seed = (seed * 16_807) % 2_147_483_647;
      return seed % below;
    };
    const turn = () => (random(2) === 0 ? Promise.resolve() : passRealTime(random(3)));
    let hits = 0;

    async function read(store: CacheStore): Promise<void> {
      const thing = things[random(things.length)] ?? '';
      const address = { owner, path: `/${thing}` };
      const atLeast = guaranteed.get(thing) ?? 0;
      const { entry, moment } = await store.find(address);
      if (entry !== undefined) {
        hits += 1;
        expect((entry.result.body as { version: number }).version).toBeGreaterThanOrEqual(atLeast);
        return;
      }
      await turn();
      const version = current.get(thing);
      await turn();
      store.put(address, entryOf(moment, [thing], version));
    }

    async function write(store: CacheStore): Promise<void> {
      const thing = things[random(things.length)] ?? '';
      const inProgress = await store.beginWrite(owner, [thing], 60_000);
      await turn();
      const version = (current.get(thing) ?? 0) + 1;
      current.set(thing, version);
      await turn();
      await inProgress.end('applied');
      guaranteed.set(thing, Math.max(version, guaranteed.get(thing) ?? 0));
    }

    await Promise.all(
      Array.from({ length: 8 }, async (_, client) => {
        for (let i = 0; i < 60; i += 1) {
          const store = stores[client % 2] ?? setup.store;
          await (random(6) === 0 ? write(store) : read(store));
          await turn();
        }
      }),
    );
    expect(hits).toBeGreaterThan(20);
  });
}
