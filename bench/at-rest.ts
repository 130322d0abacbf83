import { setTimeout as sleep } from 'node:timers/promises';
import type { RunningSubject } from './processes.ts';

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
