import { describe, expect, it } from 'vitest';
import { MemoryStore } from '../../src/upstream/cache/memory-store.ts';
import type { Owner } from '../../src/upstream/cache/store.ts';
import { bytesInUse } from '../support/heap.ts';

const MIB = 1024 * 1024;
const MAX_BYTES = 8 * MIB;

/** Heap that may be held besides what the store counts, as a share. */
const MARGIN = 0.2;

/** Number of each use: several times what the store can hold. */
const COUNT = 200_000;

const ownerOf = (i: number): Owner => ({ upstream: 'http://127.0.0.1:1', credential: `ApiKey ${i}` });

/** Reads a record, and stores the response. */
function read(memory: MemoryStore, owner: Owner, i: number): void {
  const address = { owner, kind: 'workflows', read: `/v1/workflows/${i}` } as const;
  const body = { _id: `id ${i}`, name: `Name ${i}` };
  const bytes = JSON.stringify(body).length;
  const result = { status: 200, body, bytes, replayed: false, rateLimit: undefined };
  memory.put(address, memory.find(address), result, 600_000);
}

const write = (memory: MemoryStore, owner: Owner, isUnknown = false) =>
  memory.beginWrite(owner, ['workflows', 'statistics'], 1_000).end(isUnknown);

/** Uses by callers. */
const USES: Record<string, (memory: MemoryStore, i: number) => void> = {
  'reads of one key': (memory, i) => read(memory, ownerOf(0), i),
  'keys with the same read twice': (memory, i) => {
    read(memory, ownerOf(i), i);
    read(memory, ownerOf(i), i);
  },
  'writes of one key with unknown outcomes': (memory) => write(memory, ownerOf(0), true),
  'keys with a read and a write': (memory, i) => {
    read(memory, ownerOf(i), i);
    write(memory, ownerOf(i));
  },
};

describe('the store in memory stays within its bounds with many different', () => {
  it.each(Object.entries(USES))('%s', (_, use) => {
    const memory = new MemoryStore({ maxBytes: MAX_BYTES });
    const before = bytesInUse();
    let most = 0;
    for (let i = 1; i <= COUNT; i += 1) {
      use(memory, i);
      if (i % (COUNT / 4) === 0) {
        most = Math.max(most, bytesInUse() - before);
      }
    }
    expect(memory.stats().bytes).toBeLessThanOrEqual(MAX_BYTES);
    expect(most).toBeLessThan(MAX_BYTES * (1 + MARGIN));
  });
});
