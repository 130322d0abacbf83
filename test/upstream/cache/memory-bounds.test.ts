import { describe, expect, it } from 'vitest';
import { MemoryStore } from '../../../src/upstream/cache/memory-store.ts';
import type { EntryAddress } from '../../../src/upstream/cache/store.ts';
import { cacheOf, resultOf } from '../../support/cache-store-contract.ts';
import { guards } from '../../support/guards.ts';
import { bytesInUse, settledBytes } from '../../support/heap.ts';

guards('src/upstream/cache/store.ts', 'OpenWrites.begin');

const MIB = 1024 * 1024;

const addressOf = (owner: number, i: number): EntryAddress => ({
  owner: { address: 'http://127.0.0.1:1', credential: `ApiKey ${owner}` },
  kind: 'workflows',
  read: `/v1/workflows/${String(i).padStart(24, '0')}`,
});

/** Stores a response of a size, as a read would. */
function load(memory: MemoryStore, i: number, bytes: number): void {
  const address = addressOf(0, i);
  memory.put(address, memory.find(address), resultOf(i, bytes), 60_000);
}

const isStored = (memory: MemoryStore, i: number) => memory.find(addressOf(0, i)).entry !== undefined;

describe('a store in memory', () => {
  it('keeps the most recently used entries that fit, each counted twice', () => {
    const memory = new MemoryStore({ maxBytes: MIB });
    for (let i = 0; i < 500; i += 1) {
      load(memory, i, 10_000);
      isStored(memory, 0);
    }
    const { entries = 0, bytes = 0, evictions } = memory.stats();
    expect(entries).toBeGreaterThan(45);
    expect(entries).toBeLessThan(MIB / 20_000);
    expect(evictions).toBe(500 - entries);
    expect(bytes).toBeLessThanOrEqual(MIB);
    expect(bytes).toBeGreaterThan(0.9 * MIB);
    expect([0, 1, 499].map((i) => isStored(memory, i))).toEqual([true, false, true]);
  });

  it('does not store an entry that would take more than an eighth of it', () => {
    const memory = new MemoryStore({ maxBytes: MIB });
    load(memory, 1, MIB / 16);
    expect(memory.stats()).toEqual({ entries: 0, bytes: 0, evictions: 0 });
    expect(isStored(memory, 1)).toBe(false);
  });

  it('keeps nothing of credentials that loaded nothing', async () => {
    const memory = new MemoryStore({ maxBytes: MIB });
    memory.find(addressOf(0, 0));
    const before = await settledBytes();
    for (let i = 1; i < 10_000; i += 1) {
      memory.find(addressOf(i, i));
      memory.drop(addressOf(i, i).owner, ['workflows', 'statistics']);
    }
    expect(bytesInUse() - before).toBeLessThan(MIB); // All of them would take more than 2 MiB.
  });

  it('hides what is being written, although versions of many others were set since', async () => {
    const memory = new MemoryStore({ maxBytes: MIB });
    const { begin, body, find, load: read, put } = cacheOf(memory);
    await read('/a');
    const before = await find('/a');
    const write = await begin();
    for (let i = 0; i < 21_000; i += 1) {
      const { owner } = addressOf(i, 0);
      memory.put(addressOf(i, 0), memory.find(addressOf(i, 0)), resultOf(i), 60_000);
      memory.beginWrite(owner, ['workflows'], 1_000).end(0);
    }
    const during = await find('/a');
    for (const lookup of [before, during]) {
      await put('/a', lookup);
      expect(await body('/a')).toBeUndefined();
    }
    await write.end(0);
    expect(await body('/a')).toBeUndefined();
    await read('/a', 2);
    expect(await body('/a')).toBe(2);
  });

  it('keeps the entries of others, whatever number of keys write that never read', () => {
    const memory = new MemoryStore({ maxBytes: MIB });
    load(memory, 1, 100);
    for (let i = 1; i < 21_000; i += 1) {
      memory.beginWrite(addressOf(i, 0).owner, ['workflows', 'statistics'], 15_000).end(30_000);
    }
    expect(isStored(memory, 1)).toBe(true);
    memory.beginWrite(addressOf(0, 0).owner, ['workflows'], 15_000).end(0);
    expect(isStored(memory, 1)).toBe(false);
  });

  it('forgets writes once they are over, also those that nobody ends', async () => {
    let time = 0;
    const memory = new MemoryStore({ maxBytes: MIB, now: () => time });
    const write = (i: number) => memory.beginWrite(addressOf(i, 0).owner, ['workflows', 'statistics'], 15_000);
    write(0).end(30_000); // The oldest, and written again below.
    const before = await settledBytes();
    for (let i = 1; i < 10_000; i += 1) {
      if (i % 2 === 0) {
        write(i);
      } else {
        write(i).end(30_000);
      }
    }
    expect(await settledBytes()).toBeGreaterThan(before + 2 * MIB);
    time = 30_001;
    write(0).end(0);
    expect((await settledBytes()) - before).toBeLessThan(MIB);
  });

  /** Uses of many callers, several times as many as fit. */
  const USES: Record<string, (memory: MemoryStore, i: number) => void> = {
    'reads of one key': (memory, i) => load(memory, i, 50),
    'keys with the same read twice': (memory, i) => {
      memory.put(addressOf(i, i), memory.find(addressOf(i, i)), resultOf(i, 50), 600_000);
      memory.put(addressOf(i, i), memory.find(addressOf(i, i)), resultOf(i, 50), 600_000);
    },
    'writes of one key with unknown outcomes': (memory) =>
      memory.beginWrite(addressOf(0, 0).owner, ['workflows', 'statistics'], 1_000).end(30_000),
    'keys with a read and a write': (memory, i) => {
      memory.put(addressOf(i, i), memory.find(addressOf(i, i)), resultOf(i, 50), 600_000);
      memory.beginWrite(addressOf(i, 0).owner, ['workflows', 'statistics'], 1_000).end(0);
    },
  };

  it.each(Object.entries(USES))('takes no more of the heap than its bound with %s', (_, use) => {
    const maxBytes = 8 * MIB;
    const memory = new MemoryStore({ maxBytes });
    const before = bytesInUse();
    for (let i = 1; i <= 50_000; i += 1) {
      use(memory, i);
    }
    expect(memory.stats().bytes).toBeLessThanOrEqual(maxBytes);
    expect(bytesInUse() - before).toBeLessThan(1.2 * maxBytes);
  });
});
