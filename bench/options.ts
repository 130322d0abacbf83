// Reads the command line of `npm run bench`.

import { parseArgs } from 'node:util';
import { PEERS } from './peers/index.ts';
import { CACHED, FLOOR, LEAN_FLOOR, OURS, type Subject, variantOf } from './subjects.ts';
import { MEASURED, MIX } from './workloads.ts';

/** Part of a run that is measured on its own, besides the workloads. */
export type Part = (typeof PARTS)[number];

const PARTS = ['start', 'instructions', 'documents', 'memory'] as const;

/** Options of `npm run bench`. */
export type Options = ReturnType<typeof readOptions>;

/** Parses the command line. @throws {Error} with a message for the user if an option is invalid */
export function readOptions(args: string[]) {
  const { values } = parseArgs({
    args,
    options: {
      only: { type: 'string' },
      subjects: { type: 'string' },
      variant: { type: 'string', multiple: true },
      starts: { type: 'string' },
      rounds: { type: 'string' },
      seconds: { type: 'string' },
    },
  });
  const workloads = { ...MEASURED, mix: MIX };
  const all = [FLOOR, LEAN_FLOOR, OURS, CACHED, ...PEERS];
  const only = values.only?.split(',') ?? [...Object.keys(MEASURED), ...PARTS];
  const known = all.map(({ name }) => name);
  const names = values.subjects?.split(',') ?? known;
  rejectUnknown(only, [...Object.keys(workloads), ...PARTS]);
  rejectUnknown(names, known);
  return {
    /** Number of times that each subject is started. */
    starts: readNumber('starts', values.starts ?? '5'),
    /** Number of rounds per start and workload. */
    rounds: readNumber('rounds', values.rounds ?? '2'),
    /** Duration of the load per subject and round. */
    seconds: readNumber('seconds', values.seconds ?? '1.5'),
    workloads: Object.entries(workloads).filter(([key]) => only.includes(key)),
    parts: PARTS.filter((part) => only.includes(part)),
    /** Subjects that take turns. The floor comes first. */
    subjects: [
      ...all.filter(({ name }) => name === FLOOR.name || names.includes(name)),
      ...(values.variant ?? []).map(createVariant),
    ],
    /** Whether the results are saved, because no option was set. */
    isSaved: args.length === 0,
  };
}

function rejectUnknown(names: readonly string[], known: readonly string[]): void {
  const unknown = names.find((name) => !known.includes(name));
  if (unknown !== undefined) {
    throw new Error(`Unknown name "${unknown}". Use ${known.join(', ')}.`);
  }
}

/** Returns Notigraph with an environment variable. */
function createVariant(setting: string): Subject {
  const [name = '', ...value] = setting.split('=');
  return { ...variantOf(OURS, { env: { [name]: value.join('=') } }), name: setting, title: setting };
}

/** Parses a number. @throws {Error} with a message for the user if it is out of range */
function readNumber(name: string, text: string): number {
  const value = Number(text);
  if (!(value > 0 && value <= 1_000)) {
    throw new Error(`--${name} must be greater than 0 and at most 1000.`);
  }
  return value;
}
