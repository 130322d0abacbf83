import { describe, expect, it } from 'vitest';
import { SANDBOX_KEYS, startSandbox } from '../../../src/sandbox/sandbox.ts';
import { MemoryStore } from '../../../src/upstream/cache/memory-store.ts';
import type { Moment, Owner } from '../../../src/upstream/cache/store.ts';
import { bytesInUse, settledBytes } from '../../support/heap.ts';
import { sampleOf } from '../../support/samples.ts';

const MIB = 1024 * 1024;

const ownerOf = (i: number): Owner => ({ upstream: 'http://127.0.0.1:1', credential: `ApiKey ${i}` });

const pathOf = (i: number): string => `/v1/workflows/${String(i).padStart(24, '0')}`;

/** Stores a response, as a read would. */
function store(memory: MemoryStore, owner: Owner, i: number, body: unknown, moment?: Moment): void {
  const address = { owner, path: pathOf(i) };
  memory.put(address, {
    result: { status: 200, body, replayed: false, rateLimit: undefined },
    tags: ['workflows', `workflow:${String(i).padStart(24, '0')}`],
    moment: moment ?? memory.find(address).moment ?? '',
    ageMs: 0,
    lifetimeMs: 60_000,
  });
}

describe('the estimated size of entries', () => {
  const texts: Record<string, (i: number) => string> = {
    'a small record': () => '{ "_id": "507f1f77bcf86cd799439011", "name": "Welcome" }',
    'numbers and short lists': (i) =>
      JSON.stringify(
        Array.from({ length: 40 }, (_, day) => ({
          _id: `2026-${day}-${i}`,
          count: day * 1e9,
          templates: [`${day}-${i}`.padStart(24, 'a')],
        })),
      ),
    'two-byte texts': (i) => JSON.stringify({ name: `Привет ${i} `.repeat(100), list: [`ключ ${i}`, i * 1.5] }),
    'names that no other record has': (i) =>
      JSON.stringify(Object.fromEntries(Array.from({ length: 20 }, (_, j) => [`free-${i}-${j}`, j]))),
    'many names': (i) => JSON.stringify(Object.fromEntries(Array.from({ length: 200 }, (_, j) => [`n${i}-${j}`, j]))),
  };

  it('is what they hold on the heap, or more for names that clients choose', async () => {
    const sandbox = await startSandbox({});
    const real: typeof texts = {};
    for (const path of ['workflows/payment-failed', 'notification-groups', 'notifications/graph/stats?days=30']) {
      const response = await fetch(`${sandbox.url}/v1/${path}`, {
        headers: { authorization: `ApiKey ${SANDBOX_KEYS.development}` },
      });
      const text = await response.text();
      real[path] = () => text;
    }
    await sandbox.close();
    for (const [name, textOf] of sampleOf(Object.entries({ ...real, ...texts }), 3)) {
      const memory = new MemoryStore({ maxBytes: 1_024 * MIB });
      const count = Math.ceil((4 * MIB) / Math.max(textOf(0).length, 500));
      const before = await settledBytes();
      for (let i = 0; i < count; i += 1) {
        store(memory, ownerOf(i % 100), i, JSON.parse(textOf(i)));
      }
      const held = (await settledBytes()) - before;
      const ratio = (memory.stats().bytes ?? 0) / held;
      expect(memory.stats().entries).toBe(count);
      expect(ratio, `${name}: ${ratio}`).toBeGreaterThan(0.77);
      expect(ratio, `${name}: ${ratio}`).toBeLessThan(name.includes('names') ? 2 : 1.3);
      await memory[Symbol.asyncDispose]();
    }
  });
});

describe('a store in memory', () => {
  it('keeps the most recently used entries that fit', () => {
    const memory = new MemoryStore({ maxBytes: MIB });
    const body = { text: 'x'.repeat(10_000) };
    for (let i = 0; i < 500; i += 1) {
      store(memory, ownerOf(0), i, body);
      memory.find({ owner: ownerOf(0), path: pathOf(0) });
    }
    const { entries = 0, bytes, evictions } = memory.stats();
    expect(entries).toBeGreaterThan(80);
    expect(entries).toBeLessThan(105);
    expect(evictions).toBe(500 - entries);
    expect(bytes).toBeLessThanOrEqual(MIB);
    const isStored = (i: number) => memory.find({ owner: ownerOf(0), path: pathOf(i) }).entry !== undefined;
    expect([0, 1, 499].map(isStored)).toEqual([true, false, true]);
  });

  it('does not store an entry that would take more than an eighth of it', () => {
    const memory = new MemoryStore({ maxBytes: MIB });
    store(memory, ownerOf(0), 1, { text: 'x'.repeat(MIB / 8) });
    expect(memory.stats()).toEqual({ entries: 0, bytes: 0, evictions: 0 });
    expect(memory.find({ owner: ownerOf(0), path: pathOf(1) }).entry).toBeUndefined();
  });

  it('keeps nothing of credentials that loaded nothing, and none of their reads in flight', async () => {
    const memory = new MemoryStore({ maxBytes: MIB });
    const early = memory.find({ owner: ownerOf(0), path: pathOf(0) }).moment;
    const before = await settledBytes();
    for (let i = 1; i < 10_000; i += 1) {
      memory.find({ owner: ownerOf(i), path: pathOf(i) });
    }
    expect(bytesInUse() - before).toBeLessThan(1.5 * MIB); // All of them would take 8 MiB.
    store(memory, ownerOf(0), 0, {}, early);
    expect(memory.stats().entries).toBe(0);
  });

  it('forgets the oldest of many writes, and uses nothing from before it', () => {
    const memory = new MemoryStore({ maxBytes: MIB });
    store(memory, ownerOf(0), 1, {});
    for (let i = 0; i < 101; i += 1) {
      memory.beginWrite(ownerOf(0), [`group:${i}`], 1_000).end('applied');
    }
    expect(memory.find({ owner: ownerOf(0), path: pathOf(1) }).entry).toBeUndefined();
    store(memory, ownerOf(0), 1, {});
    expect(memory.find({ owner: ownerOf(0), path: pathOf(1) }).entry).toBeDefined();
  });

  it('notes a write that takes longer than its maximum, even if its partition was removed', () => {
    let time = 0;
    const memory = new MemoryStore({ maxBytes: MIB, now: () => time });
    const write = memory.beginWrite(ownerOf(0), [`workflow:${'1'.padStart(24, '0')}`], 1_000);
    time = 1_001;
    for (let i = 1; i < 2_000; i += 1) {
      memory.find({ owner: ownerOf(i), path: pathOf(i) });
    }
    store(memory, ownerOf(0), 1, {});
    write.end('applied');
    expect(memory.find({ owner: ownerOf(0), path: pathOf(1) }).entry).toBeUndefined();
  });

  it('marks everything if there are many writes whose outcome is unknown', () => {
    let time = 0;
    const memory = new MemoryStore({ maxBytes: MIB, now: () => time, unknownWriteMs: 1_000 });
    for (let i = 0; i < 600; i += 1) {
      memory.beginWrite(ownerOf(0), [`group:${i % 50}`], 1_000).end('unknown');
    }
    const isStored = () => {
      store(memory, ownerOf(0), 1, {});
      return memory.find({ owner: ownerOf(0), path: pathOf(1) }).entry !== undefined;
    };
    expect(isStored()).toBe(false);
    time = 1_001;
    expect(isStored()).toBe(true);
  });
});
