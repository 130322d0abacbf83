import { parseArgs } from 'node:util';
import { PEERS } from './peers/index.ts';
import { FLOOR, OURS } from './subjects.ts';
import { MEASURED } from './workloads.ts';

/** What `npm run bench` is asked to do. */
export interface Options {
  rounds: number;
  seconds: number;
  /** Keys of the workloads. */
  workloads: string[];
  /** Names of the subjects; undefined: all. */
  subjects: string[] | undefined;
  /** The peers are not installed first, and memory is not measured. */
  quick: boolean;
  /** Nothing was left out: only then are the results kept. */
  isComplete: boolean;
}

/** @throws Error with one sentence for whoever called it */
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
  const unknown = only?.find((name) => !Object.keys(MEASURED).some((key) => belongs(key, name)));
  if (unknown !== undefined) {
    throw new Error(`There is no workload ${unknown}; there are ${Object.keys(MEASURED).join(', ')}.`);
  }
  const names = [FLOOR, OURS, ...PEERS].map(({ name }) => name);
  const stranger = subjects?.find((name) => !names.includes(name));
  if (stranger !== undefined) {
    throw new Error(`There is no subject ${stranger}; there are ${names.join(', ')}.`);
  }
  return {
    rounds: readNumber('rounds', values.rounds ?? (quick ? '3' : '7')),
    seconds: readNumber('seconds', values.seconds ?? (quick ? '1' : '2')),
    workloads: Object.keys(MEASURED).filter((key) => only?.some((name) => belongs(key, name)) ?? true),
    subjects,
    quick,
    isComplete: !quick && only === undefined && subjects === undefined,
  };
}

/** `h1` stands for both of its kinds. */
const belongs = (key: string, name: string): boolean => key === name || key.startsWith(`${name}-`);

/** @throws Error with one sentence for whoever called it */
export function readNumber(name: string, text: string): number {
  const value = Number(text);
  if (!(value > 0 && value <= 1_000)) {
    throw new Error(`--${name} takes a number above 0 and up to 1000.`);
  }
  return value;
}
