import { describe } from 'vitest';
import { MemoryStore } from '../../../src/upstream/cache/memory-store.ts';
import { testCacheStore, UNKNOWN_MS } from '../../support/cache-store-contract.ts';

const MIB = 1024 * 1024;

describe('a cache store in memory', () => {
  testCacheStore(async () => {
    let time = 0;
    const store = new MemoryStore({ maxBytes: 64 * MIB, now: () => time, unknownWriteMs: UNKNOWN_MS });
    return {
      store,
      async pass(milliseconds) {
        time += milliseconds;
      },
      [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
    };
  });
});
