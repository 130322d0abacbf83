import { MIN_LATENCY_ROUNDS } from './amounts.ts';
import { measureRest } from './at-rest.ts';
import { measureDocuments } from './documents.ts';
import { voidFigures, type WorkloadFigures } from './figures.ts';
import { LATENCY_WORKLOADS, type LatencyFigures, measureLatency } from './latency.ts';
import { describeMachine, describeRevision } from './machine.ts';
import { type MeasureOptions, measureWorkload } from './measure.ts';
import { measureMemory } from './memory.ts';
import { messageOf } from './message-of.ts';
import type { Options } from './options.ts';
import { buildPackage } from './package-build.ts';
import { versionOf } from './peer-packages.ts';
import { PEERS } from './peers/index.ts';
import { type RunningSubject, type RunningUpstream, startSubject, startUpstream } from './processes.ts';
import type { Results, SectionName } from './results.ts';
import { measureStarts } from './starts.ts';
import { CACHED, FLOOR, OURS } from './subjects.ts';
import { comparesPeer } from './targets.ts';
import { MEASURED } from './workloads.ts';

/** Longer for the first workload, because code that all workloads share is compiled then. */
const FIRST_WARM_UP_SECONDS = 6;

/** Runs the benchmark. @param folder folder for the subjects' logs */
export async function runBenchmark(
  options: Options,
  folder: string,
  report: (line: string) => void,
): Promise<Omit<Results, 'minutes'>> {
  const { rounds, seconds } = options;
  const faults: { section: SectionName; reason: string }[] = [];
  /** Measures a section. If it fails, the rest of the run still counts. */
  async function attempt<T>(section: SectionName, measure: () => Promise<T>): Promise<T | undefined> {
    try {
      return await measure();
    } catch (error) {
      const reason = messageOf(error);
      faults.push({ section, reason });
      report(`${section} void: ${reason}`);
      return undefined;
    }
  }
  await using upstream = await startUpstream();
  const measureOptions: MeasureOptions = { rounds, seconds, report };
  const starts = options.hasAllTargets
    ? await attempt('start', () => {
        buildPackage(report);
        return measureStarts(upstream.url, folder, report);
      })
    : undefined;
  const underLoad = await measureUnderLoad(options, folder, upstream, measureOptions);
  const documents = options.hasAllTargets
    ? await attempt('documents', () => measureDocuments(upstream, folder, measureOptions))
    : undefined;
  const mixed = options.hasAllTargets ? await attempt('memory', () => measureMemory(report)) : undefined;
  return {
    takenAt: new Date().toISOString(),
    machine: describeMachine(),
    revision: describeRevision(),
    settings: { rounds, seconds },
    ...underLoad,
    ...(starts && { starts }),
    ...(documents && { documents }),
    ...(mixed && { mixed }),
    faults,
  };
}

type UnderLoad = Pick<Results, 'subjects' | 'skipped' | 'workloads' | 'latency' | 'rest'>;

/** Measures workloads, latency and rest while all subjects are running. */
async function measureUnderLoad(
  options: Options,
  folder: string,
  upstream: RunningUpstream,
  measureOptions: MeasureOptions,
): Promise<UnderLoad> {
  const { report } = measureOptions;
  await using stack = new AsyncDisposableStack();
  const { running, skipped } = await startSubjects(options, upstream.url, folder, report);
  for (const subject of running) {
    stack.use(subject);
  }
  const workloads: WorkloadFigures[] = [];
  for (const [key, workload] of Object.entries(MEASURED).filter(([key]) => options.workloads.includes(key))) {
    const isFirst = workloads.length === 0;
    const measured = running.filter(({ subject }) => !options.onlyTargets || takesPart(subject.name, key));
    try {
      workloads.push(
        await measureWorkload(key, workload, measured, upstream, {
          ...measureOptions,
          ...(isFirst && { warmUpSeconds: FIRST_WARM_UP_SECONDS }),
        }),
      );
    } catch (error) {
      report(`${key} void: ${messageOf(error)}`);
      const names = measured.map(({ subject }) => subject.name);
      workloads.push(voidFigures(key, workload, names, messageOf(error)));
    }
  }
  const { rounds } = options;
  const latencyRounds = options.hasAllTargets ? Math.max(rounds, MIN_LATENCY_ROUNDS) : rounds;
  return {
    subjects: running.map(({ subject: { name, title }, startMs }) => ({ name, title, ...versionOf(name), startMs })),
    skipped,
    workloads,
    latency: await measureLatencies(running, workloads, upstream, { ...measureOptions, rounds: latencyRounds }),
    rest: await measureRest(running),
  };
}

/** Returns whether a target needs the result of a subject with a workload. */
const takesPart = (subject: string, key: string): boolean =>
  PEERS.every(({ name }) => name !== subject) || comparesPeer(subject, key);

/** Starts the chosen subjects that can run, and always the floor, which comes first. */
async function startSubjects(
  { subjects: chosen }: Options,
  upstream: string,
  folder: string,
  report: (line: string) => void,
): Promise<{ running: RunningSubject[]; skipped: Results['skipped'] }> {
  const running: RunningSubject[] = [];
  const skipped: Results['skipped'] = [];
  for (const subject of [FLOOR, OURS, CACHED, ...PEERS]) {
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
      const reason = messageOf(error);
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
