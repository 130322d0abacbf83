import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MEMORY_SPAN } from './amounts.ts';
import { heapBytes, withHeapReport } from './heap.ts';
import { drive } from './load.ts';
import { createMix, MIX_CONNECTIONS } from './mix.ts';
import { buildPackage } from './package-build.ts';
import { type RunningSubject, startSubject, startUpstream } from './processes.ts';
import { createProgress } from './progress.ts';
import { mean } from './statistics.ts';
import { FLOOR, PACKAGED } from './subjects.ts';

/** Number of requests per turn. */
const BATCH = 20_000;

/** Number of requests per turn that may be refused, because other load on the machine delays the process. */
const MAX_REFUSED = BATCH / 10;

/** Number of turns whose resident memory is averaged, because it goes up and down with garbage collections. */
const AVERAGED_BATCHES = 3;

/** Resident memory under load after a number of requests, in bytes. */
export interface MemorySample {
  requests: number;
  ours: number;
  floor: number;
}

/** Results of the memory run. */
export interface MemoryFigures {
  early: MemorySample;
  late: MemorySample;
  /** Heap in use at the end, after a garbage collection. */
  heap: number;
  peak: { ours: number; floor: number };
}

/** Sends mixed requests to the packaged gateway and the floor in turns, and measures their memory at the end of each turn. */
export async function measureMemory(report: (line: string) => void): Promise<MemoryFigures> {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'notigraph-memory-'));
  await using upstream = await startUpstream();
  await using floor = await startSubject(FLOOR, upstream.url, folder.path);
  await using ours = await startSubject(withHeapReport(PACKAGED), upstream.url, folder.path);
  const samples: MemorySample[] = [];
  const sendBatch = { floor: createSender(floor), ours: createSender(ours) };
  for (let requests = BATCH; requests <= MEMORY_SPAN.late; requests += BATCH) {
    const sample = { requests, floor: await sendBatch.floor(), ours: await sendBatch.ours() };
    samples.push(sample);
    report(`memory: ${requests} requests, floor ${toMb(sample.floor)} MB, ours ${toMb(sample.ours)} MB resident`);
  }
  return {
    early: averageAt(samples, MEMORY_SPAN.early),
    late: averageAt(samples, MEMORY_SPAN.late),
    heap: await heapBytes(ours, 'collect garbage'),
    peak: { ours: ours.peakRssBytes(), floor: floor.peakRssBytes() },
  };
}

/** Returns a function that sends the next batch. It returns the resident memory right after the last response. */
function createSender(running: RunningSubject): () => Promise<number> {
  const next = createMix(running.url, running.subject);
  return async () => {
    running.emptyLog();
    const { failed, refused } = await drive(running.url, { connections: MIX_CONNECTIONS, requests: BATCH, next });
    if (failed > 0 || refused > MAX_REFUSED) {
      throw new Error(`${running.subject.title}: ${failed} of ${BATCH} responses were wrong, ${refused} refused`);
    }
    return running.rssBytes();
  };
}

/** Returns the mean of the last samples up to this number of requests. */
function averageAt(samples: readonly MemorySample[], requests: number): MemorySample {
  const last = samples.filter((sample) => sample.requests <= requests).slice(-AVERAGED_BATCHES);
  return { requests, ours: mean(last.map(({ ours }) => ours)), floor: mean(last.map(({ floor }) => floor)) };
}

const toMb = (bytes: number): string => (bytes / 1e6).toFixed(0);

if (import.meta.main) {
  const { report } = createProgress();
  buildPackage(report);
  const { early, late, heap, peak } = await measureMemory(report);
  for (const { requests, ours, floor } of [early, late]) {
    report(`after ${requests} requests: ${toMb(ours)} MB resident, the floor ${toMb(floor)} MB`);
  }
  report(`${toMb(heap)} MB of live heap, at most ${toMb(peak.ours)} MB resident, the floor ${toMb(peak.floor)} MB`);
}
