import { measureRest, measureStart } from './at-rest.ts';
import type { WorkloadFigures } from './figures.ts';
import { LATENCY_WORKLOADS, type LatencyFigures, measureLatency } from './latency.ts';
import { describeMachine, describeRevision } from './machine.ts';
import { type MeasureOptions, measureWorkload } from './measure.ts';
import { measureMemory } from './memory.ts';
import type { Options } from './options.ts';
import { versionOf } from './peer-packages.ts';
import { PEERS } from './peers/index.ts';
import { type RunningSubject, type RunningUpstream, startSubject, startUpstream } from './processes.ts';
import type { Results } from './results.ts';
import { FLOOR, OURS } from './subjects.ts';
import { MEASURED } from './workloads.ts';

const MEMORY_REQUESTS = 300_000;

/** Longer for the first workload, because code that all workloads share is compiled then. */
const FIRST_WARM_UP_SECONDS = 6;

/** Runs the benchmark. @param folder folder for the subjects' logs */
export async function runBenchmark(
  options: Options,
  folder: string,
  report: (line: string) => void,
): Promise<Omit<Results, 'minutes'>> {
  await using upstream = await startUpstream();
  const underLoad = await measureUnderLoad(options, folder, upstream, report);
  const starts = new Map(underLoad.subjects.map(({ name, startMs }) => [name, startMs]));
  if (starts.has(OURS.name)) {
    starts.set(OURS.name, await measureStart(OURS, upstream.url, folder));
  }
  const { rounds, seconds } = options;
  return {
    takenAt: new Date().toISOString(),
    machine: describeMachine(),
    revision: describeRevision(),
    settings: { rounds, seconds },
    ...underLoad,
    subjects: underLoad.subjects.map((subject) => ({ ...subject, startMs: starts.get(subject.name) ?? 0 })),
    ...(options.isComplete && { memory: await measureMemory(MEMORY_REQUESTS, report) }),
  };
}

type UnderLoad = Pick<Results, 'subjects' | 'skipped' | 'workloads' | 'latency' | 'rest'>;

/** Measures workloads, latency and memory while all subjects are running. */
async function measureUnderLoad(
  options: Options,
  folder: string,
  upstream: RunningUpstream,
  report: (line: string) => void,
): Promise<UnderLoad> {
  await using stack = new AsyncDisposableStack();
  const { running, skipped } = await startSubjects(options, upstream.url, folder, report);
  for (const subject of running) {
    stack.use(subject);
  }
  const measureOptions: MeasureOptions = { rounds: options.rounds, seconds: options.seconds, report };
  const workloads: WorkloadFigures[] = [];
  for (const [key, workload] of Object.entries(MEASURED).filter(([key]) => options.workloads.includes(key))) {
    const isFirst = workloads.length === 0;
    workloads.push(
      await measureWorkload(key, workload, running, upstream, {
        ...measureOptions,
        ...(isFirst && { warmUpSeconds: FIRST_WARM_UP_SECONDS }),
      }),
    );
  }
  return {
    subjects: running.map(({ subject: { name, title }, startMs }) => ({ name, title, ...versionOf(name), startMs })),
    skipped,
    workloads,
    latency: await measureLatencies(running, workloads, upstream, measureOptions),
    rest: await measureRest(running),
  };
}

/** Starts the chosen subjects that can run, and always the floor, which comes first. */
async function startSubjects(
  { subjects: chosen }: Options,
  upstream: string,
  folder: string,
  report: (line: string) => void,
): Promise<{ running: RunningSubject[]; skipped: Results['skipped'] }> {
  const running: RunningSubject[] = [];
  const skipped: Results['skipped'] = [];
  for (const subject of [FLOOR, OURS, ...PEERS]) {
    const { name, title } = subject;
    if (name !== FLOOR.name && chosen?.includes(name) === false) {
      continue;
    }
    try {
      const obstacle = await subject.findObstacle?.();
      if (obstacle !== undefined) {
        throw new Error(obstacle);
      }
      const started = await startSubject(subject, upstream, folder);
      running.push(started);
      report(`${title} started in ${started.startMs.toFixed(0)} ms`);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      skipped.push({ title, reason });
      report(`${title} is skipped: ${reason}`);
    }
  }
  return { running, skipped };
}

/** Measures latency at half of the floor's throughput in this run. Workloads without a floor result are left out. */
async function measureLatencies(
  subjects: readonly RunningSubject[],
  workloads: readonly WorkloadFigures[],
  upstream: RunningUpstream,
  options: MeasureOptions,
): Promise<LatencyFigures[]> {
  const [floor, ours] = [FLOOR, OURS].map(({ name }) => subjects.find(({ subject }) => subject.name === name));
  const latency: LatencyFigures[] = [];
  for (const name of LATENCY_WORKLOADS) {
    const most = workloads.find(({ key }) => key === name)?.subjects[FLOOR.name]?.figures?.perSecond;
    if (floor !== undefined && ours !== undefined && most !== undefined) {
      latency.push(await measureLatency(name, Math.round(most / 2), [floor, ours], upstream, options));
    }
  }
  return latency;
}
