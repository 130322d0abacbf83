import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { heapBytes, withHeapReport } from './heap.ts';
import { drive } from './load.ts';
import { type RunningSubject, startSubject, startUpstream } from './processes.ts';
import { createRequests, type Outgoing } from './requests.ts';
import { OURS } from './subjects.ts';
import { WORKLOADS, type WorkloadName } from './workloads.ts';

/** Number of requests of each kind, of a hundred. */
const MIX: readonly [WorkloadName, number][] = [
  ['q1', 50],
  ['q2', 25],
  ['m1', 15],
  ['q4', 6],
  ['q3', 4],
];
const CONNECTIONS = 64;
const BATCH = 50_000;
const SETTLE_MS = 2_000;

/** Memory usage of the process, in bytes. */
export interface MemorySample {
  requests: number;
  /** Resident memory two seconds after the last response. */
  rss: number;
  /** Heap in use after garbage collection. */
  heap: number;
}

/** Results of the memory run. */
export interface MemoryFigures {
  early: MemorySample;
  late: MemorySample;
  peakRss: number;
}

/**
 * Sends mixed requests to the gateway, and measures its memory after a third of them and at the end. `node bench/memory.ts` prints the
 * results.
 */
export async function measureMemory(requests: number, report: (line: string) => void): Promise<MemoryFigures> {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'notigraph-memory-'));
  await using upstream = await startUpstream();
  await using running = await startSubject(withHeapReport(OURS), upstream.url, folder.path);
  await send(running, 0, requests / 3, report);
  const early = await takeSample(running, requests / 3);
  await send(running, requests / 3, requests, report);
  const late = await takeSample(running, requests);
  return { early, late, peakRss: running.peakRssBytes() };
}

async function send(running: RunningSubject, from: number, to: number, report: (line: string) => void): Promise<void> {
  const next = createMix(running.url);
  for (let sent = from; sent < to; ) {
    running.emptyLog();
    const requests = Math.min(BATCH, to - sent);
    const { failed } = await drive(running.url, { connections: CONNECTIONS, requests, next });
    if (failed > 0) {
      throw new Error(`${failed} of ${requests} responses of the memory run were wrong.`);
    }
    sent += requests;
    report(`memory: ${sent} requests, ${toMb(running.rssBytes())} MB resident`);
  }
}

/** Returns a function that creates mixed requests, always in the same order and with the kinds spread evenly. */
function createMix(url: string): (index: number, connection: number) => Outgoing {
  const kinds = MIX.flatMap(([name, share]) => {
    const nextOfKind = createRequests(url, WORKLOADS[name], OURS.requests[name] ?? {});
    return Array.from({ length: share }, () => nextOfKind);
  });
  const [first = () => ({ kind: '', bytes: Buffer.alloc(0) })] = kinds;
  return (index, connection) => (kinds[(index * 37) % kinds.length] ?? first)(index, connection);
}

/** Measures memory. Reads resident memory before collecting garbage, so that it is as in production. */
async function takeSample(running: RunningSubject, requests: number): Promise<MemorySample> {
  await sleep(SETTLE_MS);
  const rss = running.rssBytes();
  return { requests, rss, heap: await heapBytes(running, 'collect garbage') };
}

const toMb = (bytes: number): string => (bytes / 1e6).toFixed(0);

if (import.meta.main) {
  const { early, late, peakRss } = await measureMemory(300_000, console.log);
  for (const { requests, rss, heap } of [early, late]) {
    console.log(`after ${requests} requests: ${toMb(rss)} MB resident, ${toMb(heap)} MB of heap`);
  }
  console.log(`growth ${((late.rss / early.rss - 1) * 100).toFixed(1)} %, at most ${toMb(peakRss)} MB`);
}
