// Runs the benchmark: starts the subjects, and measures its parts.

import { measureDocuments } from './documents.ts';
import { summarize, type WorkloadFigures } from './figures.ts';
import { countInstructions } from './instructions.ts';
import { LATENCY_WORKLOADS, type LatencyFigures, measureLatency } from './latency.ts';
import { measureMemory, measureRest, measureStarts } from './memory.ts';
import type { Options, Part } from './options.ts';
import { requirePackages, versionOf } from './peers/packages.ts';
import { type RunningSubject, type RunningUpstream, startSubject, startUpstream } from './processes.ts';
import { buildPackage, messageOf } from './progress.ts';
import { describeRun, type Results } from './results.ts';
import { type MeasureOptions, measureWorkload, type RoundsOfStart, warmUp } from './rounds.ts';
import { FLOOR, OURS, type Subject } from './subjects.ts';

/** @param folder folder for the subjects' logs */
export async function runBenchmark(
  options: Options,
  folder: string,
  report: (line: string) => void,
): Promise<Omit<Results, 'minutes'>> {
  const { starts, rounds, seconds, parts } = options;
  const faults: { section: Part; reason: string }[] = [];
  /** Measures a part. If it fails, the rest of the run still counts. */
  async function measurePart<T>(part: Part, measure: () => Promise<T>): Promise<T | undefined> {
    if (!parts.includes(part)) {
      return undefined;
    }
    try {
      return await measure();
    } catch (error) {
      faults.push({ section: part, reason: messageOf(error) });
      report(`${part} void: ${messageOf(error)}`);
      return undefined;
    }
  }
  await using upstream = await startUpstream();
  if (parts.some((part) => part === 'start' || part === 'instructions' || part === 'memory')) {
    buildPackage(report);
  }
  return {
    ...describeRun(),
    settings: { starts, rounds, seconds },
    starts: await measurePart('start', () => measureStarts(upstream.url, folder, report)),
    instructions: await measurePart('instructions', () => countInstructions(upstream, report)),
    ...(await measureUnderLoad(options, folder, upstream, report)),
    documents: await measurePart('documents', () =>
      measureDocuments(upstream, folder, { rounds: starts * rounds, seconds, report }),
    ),
    mixed: await measurePart('memory', () => measureMemory(upstream, folder, report)),
    faults,
  };
}

type UnderLoad = Pick<Results, 'subjects' | 'skipped' | 'workloads' | 'latency' | 'rest'>;

/** Measures the workloads with each start of all subjects, then latency and rest while those of the last start are running. */
async function measureUnderLoad(
  { starts, rounds, seconds, workloads, subjects }: Options,
  folder: string,
  upstream: RunningUpstream,
  reportLine: (line: string) => void,
): Promise<UnderLoad> {
  const measured = new Map<string, Record<string, RoundsOfStart>[]>(workloads.map(([key]) => [key, []]));
  if (workloads.length === 0) {
    return { subjects: [], skipped: [], workloads: [], latency: [], rest: {} };
  }
  for (let start = 1; ; start += 1) {
    const report = (line: string) => reportLine(`start ${start} of ${starts}: ${line}`);
    await using stack = new AsyncDisposableStack();
    await upstream.setLatency();
    const { running, skipped } = await startSubjects(subjects, upstream.url, folder, report);
    for (const started of running) {
      stack.use(started);
    }
    for (const started of running) {
      await warmUp(started, report).catch((error) => report(`${started.subject.title}: ${messageOf(error)}`));
    }
    for (const [key, workload] of workloads) {
      try {
        measured.get(key)?.push(await measureWorkload(key, workload, running, upstream, { rounds, seconds, report }));
      } catch (error) {
        const fault = messageOf(error);
        const names = running.map(({ subject }) => subject.name);
        measured.get(key)?.push(Object.fromEntries(names.map((name) => [name, { rounds: [], ratios: [], fault }])));
        report(`${key} void: ${fault}`);
      }
    }
    if (start < starts) {
      continue;
    }
    const figures = workloads.map(([key, workload]) => summarize(key, workload, measured.get(key) ?? []));
    return {
      subjects: running.map(({ subject, startMs }) => {
        const { name, title } = subject;
        return { name, title, version: versionOf(subject), startMs };
      }),
      skipped,
      workloads: figures,
      latency: await measureLatencies(running, figures, upstream, { rounds: starts * rounds, seconds, report }),
      rest: await measureRest(running),
    };
  }
}

/** Starts the subjects that can run. */
async function startSubjects(
  subjects: readonly Subject[],
  upstream: string,
  folder: string,
  report: (line: string) => void,
): Promise<{ running: RunningSubject[]; skipped: Results['skipped'] }> {
  const running: RunningSubject[] = [];
  const skipped: Results['skipped'] = [];
  for (const subject of subjects) {
    try {
      requirePackages(subject);
      subject.prepare?.();
      const started = await startSubject(subject, upstream, folder);
      running.push(started);
      report(`${subject.title} started in ${started.startMs.toFixed(0)} ms`);
    } catch (error) {
      const reason = messageOf(error);
      skipped.push({ title: subject.title, reason });
      report(`${subject.title} is skipped: ${reason}`);
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
    const throughput = workloads.find(({ key }) => key === name)?.subjects[FLOOR.name]?.figures?.perSecond;
    if (floor !== undefined && ours !== undefined && throughput !== undefined) {
      latency.push(await measureLatency(name, Math.round(throughput / 2), [floor, ours], upstream, options));
    }
  }
  return latency;
}
