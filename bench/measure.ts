import { judgedValue, type Round, type RoundsOfStart } from './figures.ts';
import { load } from './load.ts';
import { measureLoad } from './measure-load.ts';
import { messageOf } from './message-of.ts';
import { firstRequestOf, type RunningSubject, type RunningUpstream } from './processes.ts';
import { comparedNumbers, createRequests, sendOnce } from './requests.ts';
import type { SubjectRequest } from './subjects.ts';
import { DEFAULT_SETTINGS } from './upstream/settings.ts';
import type { Workload } from './workloads.ts';

/** Options of a measurement. */
export interface MeasureOptions {
  rounds: number;
  /** Duration of the load per subject and round. */
  seconds: number;
  /** Prints a line of progress. */
  report: (line: string) => void;
}

/** Number of requests until a new process has compiled the code that all workloads share. */
const WARM_UP_REQUESTS = 60_000;

/** Maximum duration of the load that warms up a further workload, in seconds. */
const WARM_UP_SECONDS = 2;

interface Candidate extends RoundsOfStart {
  running: RunningSubject;
  request: SubjectRequest;
}

/** Sends a new process requests of its first workload. */
export async function warmUp(
  { subject, url, emptyLog }: RunningSubject,
  report: MeasureOptions['report'],
): Promise<void> {
  const { workload, request } = firstRequestOf(subject);
  const { seconds } = await load(url, workload, request, { requests: WARM_UP_REQUESTS });
  emptyLog();
  report(`${subject.title} warmed up with ${WARM_UP_REQUESTS} requests in ${seconds.toFixed(0)} s`);
}

/** Measures running subjects with one workload, in turns. The first subject is the floor. @returns the rounds, by subject name */
export async function measureWorkload(
  key: string,
  workload: Workload,
  subjects: readonly RunningSubject[],
  upstream: RunningUpstream,
  { rounds, report, ...options }: MeasureOptions,
): Promise<Record<string, RoundsOfStart>> {
  const seconds = Math.max(options.seconds, workload.minSeconds ?? 0);
  await upstream.apply({ ...DEFAULT_SETTINGS, latencyMs: workload.latencyMs });
  const candidates = subjects.flatMap((running): Candidate[] => {
    const request = running.subject.requests[workload.name];
    return request === undefined ? [] : [{ running, request, rounds: [], ratios: [] }];
  });
  await compareResponses(workload, candidates);
  requireFloor(candidates);
  for (const { running, request } of candidates.filter(isValid)) {
    await load(running.url, workload, request, { seconds: Math.min(WARM_UP_SECONDS, seconds) });
  }
  for (let round = 1; round <= rounds; round += 1) {
    const line = await runRound(workload, candidates.filter(isValid), upstream, seconds);
    requireFloor(candidates);
    report(`${key} round ${round} of ${rounds}: ${line}`);
  }
  return Object.fromEntries(candidates.map(({ running, request, ...measured }) => [running.subject.name, measured]));
}

const isValid = ({ fault }: Candidate): boolean => fault === undefined;

/** Throws if the floor failed, because results are multiples of the floor's. */
function requireFloor([floor]: readonly Candidate[]): void {
  if (floor === undefined || !isValid(floor)) {
    throw new Error(`The floor can't be measured: ${floor?.fault ?? 'it was not started'}.`);
  }
}

/** Marks the candidates whose responses differ from the floor's. */
async function compareResponses(workload: Workload, candidates: readonly Candidate[]): Promise<void> {
  for (const number of comparedNumbers(workload)) {
    let expected: string | undefined;
    for (const candidate of candidates) {
      try {
        const response = JSON.stringify(await sendOnce(candidate.running.url, workload, candidate.request, number));
        expected ??= response;
        if (response !== expected) {
          candidate.fault = 'its response differs from the floor’s';
        }
      } catch (error) {
        candidate.fault = messageOf(error);
      }
    }
  }
}

/** Puts each candidate under load once. @returns a summary line */
async function runRound(
  workload: Workload,
  candidates: readonly Candidate[],
  upstream: RunningUpstream,
  seconds: number,
): Promise<string> {
  const lines: string[] = [];
  let floor: Round | undefined;
  for (const candidate of candidates) {
    const { name } = candidate.running.subject;
    try {
      const { running, request } = candidate;
      const next = createRequests(running.url, workload, request);
      const round = await measureLoad(running, upstream, { connections: workload.connections, next, seconds });
      floor ??= round;
      candidate.rounds.push(round);
      candidate.ratios.push(judgedValue(round, workload) / judgedValue(floor, workload));
      lines.push(`${name} ${round.cpuUs.toFixed(0)} µs ${round.perSecond.toFixed(0)}/s`);
    } catch (error) {
      candidate.fault = messageOf(error);
      lines.push(`${name} void: ${candidate.fault}`);
    }
  }
  return lines.join(', ');
}
