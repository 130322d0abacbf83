// Counts what depends neither on the machine nor on its load: upstream requests, and allocated bytes.

import { heapBytes, withHeapReport } from './heap.ts';
import { load } from './load.ts';
import { type RunningUpstream, startSubject } from './processes.ts';
import { createRequests } from './requests.ts';
import { median } from './statistics.ts';
import { OURS, variantOf } from './subjects.ts';
import { H1_OWN, WORKLOADS, type Workload, type WorkloadName } from './workloads.ts';

// Refuses no requests when other load on the machine delays it.
const SUBJECT = variantOf(OURS, { env: { NOTIGRAPH_MAX_EVENT_LOOP_DELAY_MS: '60000' } });

const COUNTED: readonly WorkloadName[] = ['q1', 'q2', 'q3', 'q4', 'm1'];
const REQUESTS = 20;

/** Response time of the upstream: long enough for all clients to send their request before the first response. */
const COALESCING_LATENCY_MS = 2_000;

/** Counts upstream requests: per request of each workload, and for concurrent requests of all clients of the hot query. */
export async function countCalls(upstream: RunningUpstream, folder: string): Promise<Record<string, number>> {
  await using running = await startSubject(SUBJECT, upstream.url, folder);
  async function count(workload: Workload, connections: number, requests: number): Promise<number> {
    const before = await upstream.count();
    const next = createRequests(running.url, OURS, workload);
    const { failed, refused } = await load(running.url, { connections, next, requests });
    if (failed + refused > 0) {
      throw new Error(`${failed + refused} of ${requests} responses to ${workload.name} were wrong.`);
    }
    return (await upstream.count()) - before;
  }
  const calls: Record<string, number> = {};
  await upstream.setLatency();
  for (const name of COUNTED) {
    calls[name] = (await count(WORKLOADS[name], 1, REQUESTS)) / REQUESTS;
  }
  await upstream.setLatency(COALESCING_LATENCY_MS);
  for (const [key, workload] of Object.entries({ h1: WORKLOADS.h1, 'h1-own': H1_OWN })) {
    calls[key] = await count(workload, workload.connections, workload.connections);
  }
  return calls;
}

const ALLOCATING: readonly WorkloadName[] = ['q1', 'q2', 'm1'];
const CONNECTIONS = 16;
const WARM_UP = 2_000;
const BATCH = 200;
const BATCHES = 7;

/** Size of the young generation in megabytes: large enough that garbage is rarely collected between two heap measurements. */
const YOUNG_GENERATION = ['--min-semi-space-size=512', '--max-semi-space-size=512'];

/** Measures heap bytes allocated per request, by workload. The median excludes batches in which garbage was collected. */
export async function measureAllocations(upstream: RunningUpstream, folder: string): Promise<Record<string, number>> {
  await upstream.setLatency();
  await using running = await startSubject(withHeapReport(SUBJECT, YOUNG_GENERATION), upstream.url, folder);
  const allocated: Record<string, number> = {};
  for (const name of ALLOCATING) {
    const next = createRequests(running.url, OURS, WORKLOADS[name]);
    const send = (requests: number) => load(running.url, { connections: CONNECTIONS, next, requests });
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
