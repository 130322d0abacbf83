import { MIN_LATENCY_ROUNDS } from './amounts.ts';
import { measureRest } from './at-rest.ts';
import { measureDocuments } from './documents.ts';
import { type RoundsOfStart, summarize, voidFigures, type WorkloadFigures } from './figures.ts';
import { countInstructions } from './instructions.ts';
import { LATENCY_WORKLOADS, type LatencyFigures, measureLatency } from './latency.ts';
import { describeMachine, describeRevision } from './machine.ts';
import { type MeasureOptions, measureWorkload, warmUp } from './measure.ts';
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
import { DEFAULT_SETTINGS } from './upstream/settings.ts';
import { MEASURED } from './workloads.ts';

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
  const instructions = options.hasAllTargets
    ? await attempt('instructions', () => countInstructions(upstream, report))
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
    settings: { starts: options.starts, rounds, seconds },
    ...underLoad,
    ...(starts && { starts }),
    ...(instructions && { instructions }),
    ...(documents && { documents }),
    ...(mixed && { mixed }),
    faults,
  };
}

type UnderLoad = Pick<Results, 'subjects' | 'skipped' | 'workloads' | 'latency' | 'rest'>;

/** Measures the workloads with each start of all subjects, then latency and rest while those of the last start are running. */
async function measureUnderLoad(
  options: Options,
  folder: string,
  upstream: RunningUpstream,
  measureOptions: MeasureOptions,
): Promise<UnderLoad> {
  const selected = Object.entries(MEASURED).filter(([key]) => options.workloads.includes(key));
  const starts = new Map(selected.map(([key]) => [key, [] as Record<string, RoundsOfStart>[]]));
  const faults = new Map<string, string>();
  for (let start = 1; ; start += 1) {
    const report = (line: string) => measureOptions.report(`start ${start} of ${options.starts}: ${line}`);
    await using stack = new AsyncDisposableStack();
    const { running, skipped } = await startSubjects(options, upstream.url, folder, report);
    await upstream.apply(DEFAULT_SETTINGS);
    for (const started of running) {
      stack.use(started);
    }
    for (const started of running) {
      await warmUp(started, report).catch((error) => report(`${started.subject.title}: ${messageOf(error)}`));
    }
    for (const [key, workload] of selected) {
      const measured = running.filter(({ subject }) => !options.onlyTargets || takesPart(subject.name, key));
      try {
        const rounds = await measureWorkload(key, workload, measured, upstream, { ...measureOptions, report });
        starts.get(key)?.push(rounds);
      } catch (error) {
        faults.set(key, messageOf(error));
        report(`${key} void: ${messageOf(error)}`);
      }
    }
    if (start < options.starts) {
      continue;
    }
    const names = running.map(({ subject }) => subject.name);
    const workloads = selected.map(([key, workload]) => {
      const fault = faults.get(key);
      return fault === undefined
        ? summarize(key, workload, starts.get(key) ?? [])
        : voidFigures(key, workload, names, fault);
    });
    const rounds = options.hasAllTargets ? Math.max(options.rounds, MIN_LATENCY_ROUNDS) : options.rounds;
    return {
      subjects: running.map(({ subject: { name, title }, startMs }) => ({ name, title, ...versionOf(name), startMs })),
      skipped,
      workloads,
      latency: await measureLatencies(running, workloads, upstream, { ...measureOptions, rounds }),
      rest: await measureRest(running),
    };
  }
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
