import { heapBytes, withHeapReport } from './heap.ts';
import { load } from './load.ts';
import { type RunningSubject, type RunningUpstream, startSubject } from './processes.ts';
import { median } from './statistics.ts';
import { OURS } from './subjects.ts';
import { DEFAULT_SETTINGS } from './upstream/settings.ts';
import { H1_OWN, WORKLOADS, type Workload, type WorkloadName } from './workloads.ts';

// Measurements that don't depend on the machine or its load.

const COUNTED: readonly WorkloadName[] = ['q1', 'q2', 'q3', 'q4', 'm1'];
const REQUESTS = 20;

/** Response time of the upstream: long enough for all clients to send their request before the first response. */
const COALESCING_LATENCY_MS = 300;

/** Counts upstream requests: per request of each workload, and for concurrent requests of all clients of the hot query. */
export async function countCalls(running: RunningSubject, upstream: RunningUpstream): Promise<Record<string, number>> {
  async function count(workload: Workload, requests: number): Promise<number> {
    const before = await upstream.count();
    const { failed } = await load(running.url, workload, OURS.requests[workload.name] ?? {}, { requests });
    if (failed > 0) {
      throw new Error(`${failed} of ${requests} responses to ${workload.name} were wrong.`);
    }
    return (await upstream.count()) - before;
  }
  const calls: Record<string, number> = {};
  await upstream.apply(DEFAULT_SETTINGS);
  for (const name of COUNTED) {
    calls[name] = (await count({ ...WORKLOADS[name], connections: 1 }, REQUESTS)) / REQUESTS;
  }
  await upstream.apply({ ...DEFAULT_SETTINGS, latencyMs: COALESCING_LATENCY_MS });
  for (const [key, workload] of Object.entries({ h1: WORKLOADS.h1, 'h1-own': H1_OWN })) {
    calls[key] = await count(workload, workload.connections);
  }
  return calls;
}

const ALLOCATING: readonly WorkloadName[] = ['q1', 'q2', 'm1'];
const WARM_UP = 2_000;
const BATCH = 200;
const BATCHES = 7;

/** Size of the young generation in megabytes: large enough that garbage is rarely collected between two heap measurements. */
const YOUNG_GENERATION = ['--min-semi-space-size=512', '--max-semi-space-size=512'];

/** Measures heap bytes allocated per request, by workload. The median excludes batches in which garbage was collected. */
export async function measureAllocations(upstream: RunningUpstream, folder: string): Promise<Record<string, number>> {
  await upstream.apply(DEFAULT_SETTINGS);
  await using running = await startSubject(withHeapReport(OURS, YOUNG_GENERATION), upstream.url, folder);
  const allocated: Record<string, number> = {};
  for (const name of ALLOCATING) {
    const workload = { ...WORKLOADS[name], connections: 16 };
    const send = (requests: number) => load(running.url, workload, OURS.requests[name] ?? {}, { requests });
    await send(WARM_UP);
    const growths: number[] = [];
    let before = await heapBytes(running, 'collect garbage');
    for (let batch = 0; batch < BATCHES; batch += 1) {
      await send(BATCH);
      const after = await heapBytes(running, 'keep garbage');
      growths.push((after - before) / BATCH);
      before = after;
    }
    allocated[name] = Math.round(median(growths));
  }
  return allocated;
}
