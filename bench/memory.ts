// Measures memory under load and at rest, and how long starts take.

import { setTimeout as sleep } from 'node:timers/promises';
import { heapBytes, withHeapReport } from './heap.ts';
import { load } from './load.ts';
import { type RunningSubject, type RunningUpstream, startSubject } from './processes.ts';
import { createRequests } from './requests.ts';
import { mean, median } from './statistics.ts';
import { FLOOR, PACKAGED } from './subjects.ts';
import { MIX } from './workloads.ts';

/** Numbers of mixed requests after which memory is compared. */
export const MEMORY_SPAN = { early: 100_000, late: 300_000 };

/** Number of requests per turn. */
const BATCH = 20_000;

/** Number of requests per turn that may be refused, because other load on the machine delays the process. */
const MAX_REFUSED = BATCH / 10;

/** Number of turns whose resident memory is averaged, because it goes up and down with garbage collections. */
const AVERAGED_BATCHES = 3;

/** Resident memory under load after a number of requests, in bytes. */
interface MemorySample {
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
export async function measureMemory(
  upstream: RunningUpstream,
  folder: string,
  report: (line: string) => void,
): Promise<MemoryFigures> {
  await upstream.setLatency();
  await using floor = await startSubject(FLOOR, upstream.url, folder);
  await using ours = await startSubject(withHeapReport(PACKAGED), upstream.url, folder);
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
function createSender({ url, subject, emptyLog, rssBytes }: RunningSubject): () => Promise<number> {
  const next = createRequests(url, subject, MIX);
  return async () => {
    emptyLog();
    const { failed, refused } = await load(url, { connections: MIX.connections, requests: BATCH, next });
    if (failed > 0 || refused > MAX_REFUSED) {
      throw new Error(`${subject.title}: ${failed} of ${BATCH} responses were wrong, ${refused} refused`);
    }
    return rssBytes();
  };
}

/** Returns the mean of the last samples up to this number of requests. */
function averageAt(samples: readonly MemorySample[], requests: number): MemorySample {
  const last = samples.filter((sample) => sample.requests <= requests).slice(-AVERAGED_BATCHES);
  return { requests, ours: mean(last.map(({ ours }) => ours)), floor: mean(last.map(({ floor }) => floor)) };
}

const toMb = (bytes: number): string => (bytes / 1e6).toFixed(0);

const SETTLE_MS = 2_000;
/** Long enough for CPU time in hundredths of a second to show a tenth of a percent. */
const IDLE_MS = 10_000;

/** Resource usage of an idle subject after the load. */
export interface RestFigures {
  /** Resident memory two seconds after the last response, in bytes. */
  settledRss: number;
  /** Peak resident memory, in bytes. */
  peakRss: number;
  /** CPU time over ten seconds, as a share of one core. */
  idleCpu: number;
}

/** Measures all subjects while they are idle. */
export async function measureRest(subjects: readonly RunningSubject[]): Promise<Record<string, RestFigures>> {
  await sleep(SETTLE_MS);
  const before = subjects.map((running) => running.cpuUs());
  await sleep(IDLE_MS);
  return Object.fromEntries(
    subjects.map((running, index) => [
      running.subject.name,
      {
        settledRss: running.rssBytes(),
        peakRss: running.peakRssBytes(),
        idleCpu: (running.cpuUs() - (before[index] ?? 0)) / (IDLE_MS * 1_000),
      },
    ]),
  );
}

/** Number of starts. One more start before them fills the compile cache. */
const STARTS = 7;

/** Measures the time from the start of the package's process to its first response. */
export async function measureStarts(
  upstream: string,
  folder: string,
  report: (line: string) => void,
): Promise<{ packagedMs: number }> {
  const times: number[] = [];
  for (let start = 0; start <= STARTS; start += 1) {
    await using running = await startSubject(PACKAGED, upstream, folder);
    times.push(running.startMs);
    report(`start: ${running.startMs.toFixed(0)} ms`);
  }
  return { packagedMs: median(times.slice(1)) };
}
