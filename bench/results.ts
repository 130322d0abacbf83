import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { RestFigures } from './at-rest.ts';
import type { Curve } from './curves.ts';
import type { WorkloadFigures } from './figures.ts';
import type { LatencyFigures } from './latency.ts';
import type { Machine, Revision } from './machine.ts';
import type { MemoryFigures } from './memory.ts';

/** What every kind of run says of itself. */
interface Run {
  /** In ISO 8601. */
  takenAt: string;
  minutes: number;
  machine: Machine;
  revision: Revision;
  settings: { rounds: number; seconds: number };
}

/** Everything that `npm run bench` found. */
export interface Results extends Run {
  /** In the order of the tables. `version` is that of the main package of a peer. */
  subjects: { name: string; title: string; version?: string; startMs: number }[];
  skipped: { title: string; reason: string }[];
  workloads: WorkloadFigures[];
  latency: LatencyFigures[];
  /** By the name of the subject. */
  rest: Record<string, RestFigures>;
  memory?: MemoryFigures;
}

/** Everything that `npm run bench:scale` found. */
export interface ScaleResults extends Run {
  skipped: { title: string; reason: string }[];
  curves: Curve[];
}

const FOLDER = fileURLToPath(new URL('results/', import.meta.url));
const SUFFIX = { run: '.json', scale: '-scale.json' } as const;

/** Writes results beside those of other days and commits. @returns the path within the project */
export function writeResults(kind: 'run', results: Results): string;
export function writeResults(kind: 'scale', results: ScaleResults): string;
export function writeResults(kind: keyof typeof SUFFIX, results: Run): string {
  const name = `${results.takenAt.slice(0, 10)}-${results.revision.commit}${SUFFIX[kind]}`;
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(FOLDER + name, `${JSON.stringify(results, undefined, 2)}\n`);
  return `bench/results/${name}`;
}

/** The results that were taken last; undefined: there are none. */
export const readNewestRun = (): Results | undefined => readNewest('run') as Results | undefined;
export const readNewestScale = (): ScaleResults | undefined => readNewest('scale') as ScaleResults | undefined;

/** They were written above, thus have their shape. */
function readNewest(kind: keyof typeof SUFFIX): Run | undefined {
  const names = readdirSync(FOLDER).filter(
    (name) => name.endsWith(SUFFIX[kind]) && name.endsWith(SUFFIX.scale) === (kind === 'scale'),
  );
  return names
    .map((name): Run => JSON.parse(readFileSync(FOLDER + name, 'utf8')))
    .toSorted((a, b) => (a.takenAt < b.takenAt ? 1 : -1))[0];
}
