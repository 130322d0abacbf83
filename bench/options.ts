import { parseArgs } from 'node:util';
import { PEERS } from './peers/index.ts';
import { FLOOR, OURS } from './subjects.ts';
import { MEASURED } from './workloads.ts';

/** Options of `npm run bench`. */
export interface Options {
  /** Number of rounds per workload. */
  rounds: number;
  /** Duration of the load per subject and round. */
  seconds: number;
  /** Keys of the workloads. */
  workloads: string[];
  /** Names of the subjects; all if undefined. */
  subjects: string[] | undefined;
  /** Whether to skip installing the peers. */
  quick: boolean;
  /** Whether nothing is left out. Only then memory is measured and the results are saved. */
  isComplete: boolean;
}

/** Parses the command line. @throws {Error} with a message for the user if an option is invalid */
export function readOptions(args: string[]): Options {
  const { values } = parseArgs({
    args,
    options: {
      quick: { type: 'boolean', default: false },
      only: { type: 'string' },
      subjects: { type: 'string' },
      rounds: { type: 'string' },
      seconds: { type: 'string' },
    },
  });
  const { quick } = values;
  const only = values.only?.split(',');
  const subjects = values.subjects?.split(',');
  const unknownWorkload = only?.find((name) => !Object.keys(MEASURED).some((key) => isSelectedBy(key, name)));
  if (unknownWorkload !== undefined) {
    throw new Error(`Unknown workload "${unknownWorkload}". Use ${Object.keys(MEASURED).join(', ')}.`);
  }
  const names = [FLOOR, OURS, ...PEERS].map(({ name }) => name);
  const unknownSubject = subjects?.find((name) => !names.includes(name));
  if (unknownSubject !== undefined) {
    throw new Error(`Unknown subject "${unknownSubject}". Use ${names.join(', ')}.`);
  }
  return {
    rounds: readNumber('rounds', values.rounds ?? (quick ? '3' : '7')),
    seconds: readNumber('seconds', values.seconds ?? (quick ? '1' : '2')),
    workloads: Object.keys(MEASURED).filter((key) => only?.some((name) => isSelectedBy(key, name)) ?? true),
    subjects,
    quick,
    isComplete: !quick && only === undefined && subjects === undefined,
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
