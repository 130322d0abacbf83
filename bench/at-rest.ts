import { setTimeout as sleep } from 'node:timers/promises';
import { type RunningSubject, startSubject } from './processes.ts';
import { median } from './statistics.ts';
import type { Subject } from './subjects.ts';

const SETTLE_MS = 2_000;
const IDLE_MS = 3_000;

/** What a subject takes when nobody asks it anything, after it was under load. */
export interface RestFigures {
  /** Memory that is resident two seconds after the last answer, in bytes. */
  settledRss: number;
  /** The most that was resident since it started, in bytes. */
  peakRss: number;
  /** CPU time over three seconds, as a share of one core. */
  idleCpu: number;
}

/** Lets all of them rest at the same time. */
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

/** How long it takes from the start of the process to its first answer, in milliseconds: the median of three starts. */
export async function measureStart(subject: Subject, upstream: string, folder: string): Promise<number> {
  const times = [];
  for (let start = 0; start < 3; start += 1) {
    await using running = await startSubject(subject, upstream, folder);
    times.push(running.startMs);
  }
  return median(times);
}
