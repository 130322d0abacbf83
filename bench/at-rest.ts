import { setTimeout as sleep } from 'node:timers/promises';
import { type RunningSubject, startSubject } from './processes.ts';
import { median } from './statistics.ts';
import type { Subject } from './subjects.ts';

const SETTLE_MS = 2_000;
const IDLE_MS = 3_000;

/** Resource usage of an idle subject after the load. */
export interface RestFigures {
  /** Resident memory two seconds after the last response, in bytes. */
  settledRss: number;
  /** Peak resident memory, in bytes. */
  peakRss: number;
  /** CPU time over three seconds, as a share of one core. */
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

/** Measures the time from process start to first response, in milliseconds. Returns the median of three starts. */
export async function measureStart(subject: Subject, upstream: string, folder: string): Promise<number> {
  const times = [];
  for (let start = 0; start < 3; start += 1) {
    await using running = await startSubject(subject, upstream, folder);
    times.push(running.startMs);
  }
  return median(times);
}
