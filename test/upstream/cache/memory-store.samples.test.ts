import { describe, expect, it } from 'vitest';
import { MemoryStore } from '../../../src/upstream/cache/memory-store.ts';
import { cacheOf, testCacheStore } from '../../support/cache-store-contract.ts';
import { guards } from '../../support/guards.ts';

guards('src/upstream/cache/memory-store.ts', 'MemoryStore.#keyOf');
guards('src/upstream/cache/memory-store.ts', 'MemoryStore.#endWrite');
guards('src/upstream/cache/memory-store.ts', 'MemoryStore.find');
guards('src/upstream/cache/memory-store.ts', 'MemoryStore.put');
guards('src/upstream/cache/memory-store.ts', 'MemoryStore.#replaceVersions');
guards('src/upstream/cache/store.ts', 'OpenWrites.begin');

const MIB = 1024 * 1024;

describe('a cache store in memory', () => {
  testCacheStore(
    async () => {
      let time = 0;
      const store = new MemoryStore({ maxBytes: 64 * MIB, now: () => time });
      return {
        store,
        async pass(milliseconds) {
          time += milliseconds;
        },
        [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
      };
    },
    async () => {
      const store = new MemoryStore({ maxBytes: 64 * MIB });
      return { stores: [store], [Symbol.asyncDispose]: () => store[Symbol.asyncDispose]() };
    },
  );

  it('keeps an entry whose read started later than the one that ends later', async () => {
    let time = 0;
    const { body, find, load, put } = cacheOf(new MemoryStore({ maxBytes: MIB, now: () => time }));
    await load('/a', 'first');
    const earlier = await find('/a');
    time = 1;
    await load('/a', 'later');
    await put('/a', earlier, 'earlier');
    expect(await body('/a')).toBe('later');
  });
});
