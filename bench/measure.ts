import {
  isSpreadAcceptable,
  judgedValue,
  type Outcome,
  type Round,
  summarize,
  type WorkloadFigures,
} from './figures.ts';
import { load } from './load.ts';
import { measureLoad } from './measure-load.ts';
import { messageOf } from './message-of.ts';
import type { RunningSubject, RunningUpstream } from './processes.ts';
import { comparedNumbers, createRequests, sendOnce } from './requests.ts';
import { FLOOR, OURS, type Subject, type SubjectRequest } from './subjects.ts';
import { DEFAULT_SETTINGS } from './upstream/settings.ts';
import type { Workload } from './workloads.ts';

/** Options of a measurement. */
export interface MeasureOptions {
  /** Planned number of rounds. */
  rounds: number;
  /** Maximum number of rounds if the planned ones differ too much. @default three times `rounds` */
  maxRounds?: number;
  /** Duration of the load per subject and round. */
  seconds: number;
  /** Duration of the load before the first round, because a new process takes seconds to compile hot code. @default at most 2 */
  warmUpSeconds?: number;
  /** Prints a line of progress. */
  report: (line: string) => void;
}

/** Subjects that take part in every round, because the targets compare the two. */
const ESSENTIAL: ReadonlySet<Subject> = new Set([FLOOR, OURS]);

interface Candidate {
  running: RunningSubject;
  request: SubjectRequest;
  rounds: Round[];
  /** Judged value of each round, as a multiple of the floor's in that round. */
  ratios: number[];
  fault?: string;
}

/** Measures subjects with one workload, in turns. The first subject is the floor. */
export async function measureWorkload(
  key: string,
  workload: Workload,
  subjects: readonly RunningSubject[],
  upstream: RunningUpstream,
  { rounds, maxRounds = 3 * rounds, warmUpSeconds, report, ...options }: MeasureOptions,
): Promise<WorkloadFigures> {
  const seconds = Math.max(options.seconds, workload.minSeconds ?? 0);
  await upstream.apply({ ...DEFAULT_SETTINGS, latencyMs: workload.latencyMs });
  const candidates = subjects.flatMap((running): Candidate[] => {
    const request = running.subject.requests[workload.name];
    return request === undefined ? [] : [{ running, request, rounds: [], ratios: [] }];
  });
  await compareResponses(workload, candidates);
  requireFloor(candidates);
  for (const { running, request } of candidates.filter(isValid)) {
    await load(running.url, workload, request, { seconds: warmUpSeconds ?? Math.min(2, seconds) });
  }
  const needsMoreRounds = ({ ratios }: Candidate) => !isSpreadAcceptable(ratios, rounds);
  for (let round = 0; round < maxRounds; round += 1) {
    const valid = candidates.filter(isValid);
    const isPlanned = round < rounds;
    if (!(isPlanned || valid.some(needsMoreRounds))) {
      break;
    }
    const inTurn = isPlanned
      ? valid
      : valid.filter((each) => ESSENTIAL.has(each.running.subject) || needsMoreRounds(each));
    const line = await runRound(workload, inTurn, upstream, seconds);
    requireFloor(candidates);
    report(`${key} round ${round + 1}${isPlanned ? ` of ${rounds}` : ', one more'}: ${line}`);
  }
  const outcomes = candidates.map(({ running, fault, ...measured }): [string, Outcome] => [
    running.subject.name,
    fault === undefined ? summarize(measured.rounds, measured.ratios, rounds) : { fault },
  ]);
  return { key, title: workload.title, judgedBy: workload.judgedBy, subjects: Object.fromEntries(outcomes) };
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
