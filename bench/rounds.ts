// Measures subjects with one workload, in rounds in which each has its turn.

import { type LoadOptions, load } from './load.ts';
import { firstWorkloadOf, type RunningSubject, type RunningUpstream } from './processes.ts';
import { messageOf } from './progress.ts';
import { createRequests, type NextRequest, sendOnce } from './requests.ts';
import { COMPARED_NUMBERS, type Workload } from './workloads.ts';

/** Result of one load of one subject. */
export interface Round {
  /** CPU time of all its processes per request. */
  cpuUs: number;
  perSecond: number;
  p50Us: number;
  p99Us: number;
  /** Upstream requests per request. */
  calls: number;
}

/** Rounds of one subject with one workload, within one start of its process. */
export interface RoundsOfStart {
  rounds: Round[];
  /** Judged value of each round as a multiple of the first candidate's in that round. */
  ratios: number[];
  /** Reason why they are void. */
  fault?: string;
}

/** Options of a measurement. */
export interface MeasureOptions {
  rounds: number;
  /** Duration of the load per subject and round. */
  seconds: number;
  /** Duration of the load before the first round. @default at most 2 */
  warmUpSeconds?: number;
  /** Prints a line of progress. */
  report: (line: string) => void;
}

/** Process under one kind of load, which takes turns with others. */
export interface Candidate {
  name: string;
  running: RunningSubject;
  next: NextRequest;
}

/** Number of requests until a new process has compiled the code that all workloads share. */
const WARM_UP_REQUESTS = 60_000;

/** Maximum duration of the load that warms up a further workload, in seconds. */
const MAX_WARM_UP_SECONDS = 2;

/** Maximum number of loads until one has no refused request. */
const ATTEMPTS = 3;

const VALUES = { cpu: 'cpuUs', time: 'p50Us', calls: 'calls' } as const;

/** Sends a new process requests of its first workload. */
export async function warmUp({ subject, url, emptyLog }: RunningSubject, report: MeasureOptions['report']) {
  const workload = firstWorkloadOf(subject);
  const next = createRequests(url, subject, workload);
  const { seconds } = await load(url, { connections: workload.connections, next, requests: WARM_UP_REQUESTS });
  emptyLog();
  report(`${subject.title} warmed up with ${WARM_UP_REQUESTS} requests in ${seconds.toFixed(0)} s`);
}

/**
 * Measures running subjects with one workload, in turns. The first subject is the floor.
 * @returns the rounds of those that support the workload, by subject name
 */
export async function measureWorkload(
  key: string,
  workload: Workload,
  subjects: readonly RunningSubject[],
  upstream: RunningUpstream,
  options: MeasureOptions,
): Promise<Record<string, RoundsOfStart>> {
  await upstream.setLatency(workload.latencyMs);
  const names = workload.mix?.map(([name]) => name) ?? [workload.name];
  const candidates = subjects
    .filter(({ subject }) => names.every((name) => subject.requests[name] !== undefined))
    .map((running) => ({
      name: running.subject.name,
      running,
      next: createRequests(running.url, running.subject, workload),
    }));
  const faults = await compareResponses(workload, candidates);
  const valid = candidates.filter(({ name }) => faults[name] === undefined);
  if (valid[0] === undefined || valid[0] !== candidates[0]) {
    throw new Error(`The floor can't be measured: ${faults[candidates[0]?.name ?? ''] ?? 'it was not started'}.`);
  }
  const seconds = Math.max(options.seconds, workload.minSeconds ?? 0);
  return {
    ...Object.fromEntries(Object.entries(faults).map(([name, fault]) => [name, { rounds: [], ratios: [], fault }])),
    ...(await measureInTurns(key, workload, valid, upstream, { ...options, seconds })),
  };
}

/** Compares the responses with the first candidate's. @returns the reason why a candidate's are wrong, by its name */
async function compareResponses(workload: Workload, candidates: readonly Candidate[]): Promise<Record<string, string>> {
  const faults: Record<string, string> = {};
  for (const number of COMPARED_NUMBERS) {
    let expected: string | undefined;
    for (const { name, running } of candidates) {
      const request = running.subject.requests[workload.name] ?? {};
      try {
        const response = JSON.stringify(await sendOnce(running.url, workload, request, number));
        expected ??= response;
        if (response !== expected) {
          faults[name] = 'its response differs from the floor’s';
        }
      } catch (error) {
        faults[name] = messageOf(error);
      }
    }
  }
  return faults;
}

/**
 * Puts candidates under load in turns, so that a slow phase of the machine affects all.
 * @throws {Error} if the first one fails, because results are multiples of its results
 */
export async function measureInTurns(
  key: string,
  { connections, judgedBy }: Pick<Workload, 'connections' | 'judgedBy'>,
  candidates: readonly Candidate[],
  upstream: RunningUpstream,
  { rounds, seconds, warmUpSeconds = Math.min(MAX_WARM_UP_SECONDS, seconds), report }: MeasureOptions,
): Promise<Record<string, RoundsOfStart>> {
  for (const { running, next } of candidates) {
    await load(running.url, { connections, next, seconds: warmUpSeconds });
  }
  const measured: Record<string, RoundsOfStart> = {};
  for (let round = 1; round <= rounds; round += 1) {
    const lines: string[] = [];
    let first: Round | undefined;
    for (const { name, running, next } of candidates) {
      measured[name] ??= { rounds: [], ratios: [] };
      if (measured[name].fault !== undefined) {
        continue;
      }
      try {
        const result = await measureLoad(running, upstream, { connections, next, seconds });
        first ??= result;
        measured[name].rounds.push(result);
        measured[name].ratios.push(result[VALUES[judgedBy]] / first[VALUES[judgedBy]]);
        lines.push(`${name} ${result.cpuUs.toFixed(0)} µs ${result.perSecond.toFixed(0)}/s`);
      } catch (error) {
        if (first === undefined) {
          throw error;
        }
        measured[name].fault = messageOf(error);
        lines.push(`${name} void: ${messageOf(error)}`);
      }
    }
    report(`${key} round ${round} of ${rounds}: ${lines.join(', ')}`);
  }
  return measured;
}

/**
 * Puts a subject under load once, and again if it refuses requests, which a gateway does when other load on the machine delays it.
 * @throws {Error} if responses were wrong or every load had refused requests
 */
async function measureLoad(running: RunningSubject, upstream: RunningUpstream, options: LoadOptions): Promise<Round> {
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    running.emptyLog();
    const [callsBefore, cpuBefore] = [await upstream.count(), running.cpuUs()];
    const { answered, failed, refused, seconds, p50Us, p99Us } = await load(running.url, options);
    const [cpuAfter, callsAfter] = [running.cpuUs(), await upstream.count()];
    if (failed > 0) {
      throw new Error(`${failed} of ${answered + failed + refused} responses were wrong`);
    }
    if (refused === 0) {
      return {
        cpuUs: (cpuAfter - cpuBefore) / answered,
        perSecond: answered / seconds,
        p50Us,
        p99Us,
        calls: (callsAfter - callsBefore) / answered,
      };
    }
  }
  throw new Error(`requests were refused in ${ATTEMPTS} loads`);
}
