import { parseArgs } from 'node:util';
import { PEERS } from './peers/index.ts';
import { TAILCALL } from './peers/tailcall/subject.ts';
import { CACHED, FLOOR, OURS } from './subjects.ts';
import { MEASURED } from './workloads.ts';

/** Options of `npm run bench`. */
export interface Options {
  /** Number of times that each subject is started. */
  starts: number;
  /** Number of rounds per start and workload. */
  rounds: number;
  /** Duration of the load per subject and round. */
  seconds: number;
  /** Keys of the workloads. */
  workloads: string[];
  /** Names of the subjects; all if undefined. */
  subjects: string[] | undefined;
  /** Whether peers are measured only with the workloads whose targets name them. */
  onlyTargets: boolean;
  /** Whether to skip installing the peers. */
  quick: boolean;
  /** Whether start, memory and documents are measured too, because no target is left out. */
  hasAllTargets: boolean;
  /** Whether the results are saved, because nothing is left out. */
  isSaved: boolean;
}

/** Parses the command line. @throws {Error} with a message for the user if an option is invalid */
export function readOptions(args: string[]): Options {
  const { values } = parseArgs({
    args,
    options: {
      quick: { type: 'boolean', default: false },
      targets: { type: 'boolean', default: false },
      only: { type: 'string' },
      subjects: { type: 'string' },
      starts: { type: 'string' },
      rounds: { type: 'string' },
      seconds: { type: 'string' },
    },
  });
  const { quick, targets } = values;
  const only = values.only?.split(',');
  const subjects = values.subjects?.split(',');
  if (targets && (quick || only !== undefined || subjects !== undefined)) {
    throw new Error('Use --targets without --quick, --only and --subjects.');
  }
  const unknownWorkload = only?.find((name) => !Object.keys(MEASURED).some((key) => isSelectedBy(key, name)));
  if (unknownWorkload !== undefined) {
    throw new Error(`Unknown workload "${unknownWorkload}". Use ${Object.keys(MEASURED).join(', ')}.`);
  }
  const names = [FLOOR, OURS, CACHED, ...PEERS].map(({ name }) => name);
  const unknownSubject = subjects?.find((name) => !names.includes(name));
  if (unknownSubject !== undefined) {
    throw new Error(`Unknown subject "${unknownSubject}". Use ${names.join(', ')}.`);
  }
  const isPartial = quick || only !== undefined || subjects !== undefined;
  return {
    starts: readNumber('starts', values.starts ?? (quick ? '1' : '5')),
    rounds: readNumber('rounds', values.rounds ?? (quick ? '3' : '2')),
    seconds: readNumber('seconds', values.seconds ?? (quick ? '1' : '1.5')),
    workloads: Object.keys(MEASURED).filter((key) => only?.some((name) => isSelectedBy(key, name)) ?? true),
    subjects: targets ? [FLOOR, OURS, CACHED, TAILCALL].map(({ name }) => name) : subjects,
    onlyTargets: targets,
    quick,
    hasAllTargets: !isPartial,
    isSaved: !(isPartial || targets),
  };
}

/** Returns whether a name selects a workload. `h1` selects both of its variants. */
const isSelectedBy = (key: string, name: string): boolean => key === name || key.startsWith(`${name}-`);

/** Parses a number. @throws {Error} with a message for the user if it is out of range */
export function readNumber(name: string, text: string): number {
  const value = Number(text);
  if (!(value > 0 && value <= 1_000)) {
    throw new Error(`--${name} must be greater than 0 and at most 1000.`);
  }
  return value;
}
