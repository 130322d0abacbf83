import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { RestFigures } from './at-rest.ts';
import type { Curve } from './curves.ts';
import type { DocumentFigures } from './documents.ts';
import type { WorkloadFigures } from './figures.ts';
import type { LatencyFigures } from './latency.ts';
import type { Machine, Revision } from './machine.ts';
import type { MemoryFigures } from './memory.ts';
import type { StartFigures } from './starts.ts';

/** Description of a run. */
interface Run {
  /** Date and time in ISO 8601. */
  takenAt: string;
  minutes: number;
  machine: Machine;
  revision: Revision;
  /** `starts` is missing in results of earlier versions, which started each subject once, and in those of `npm run bench:scale`. */
  settings: { starts?: number; rounds: number; seconds: number };
}

/** Results of `npm run bench`. */
export interface Results extends Run {
  /** Subjects in the order of the tables. `version` is the version of a peer's main package. */
  subjects: { name: string; title: string; version?: string; startMs: number }[];
  skipped: { title: string; reason: string }[];
  workloads: WorkloadFigures[];
  latency: LatencyFigures[];
  /** Results at rest, by subject name. */
  rest: Record<string, RestFigures>;
  starts?: StartFigures;
  /** Instructions per request as a multiple of the floor's, by workload. */
  instructions?: Record<string, number>;
  documents?: DocumentFigures;
  /** Results of the memory run. */
  mixed?: MemoryFigures;
  /** Sections that failed. Missing in results of earlier versions. */
  faults?: { section: SectionName; reason: string }[];
}

/** Part of a run that is measured on its own. */
export type SectionName = 'start' | 'instructions' | 'documents' | 'memory';

/** Results of `npm run bench:scale`. */
export interface ScaleResults extends Run {
  skipped: { title: string; reason: string }[];
  curves: Curve[];
}

const FOLDER = fileURLToPath(new URL('results/', import.meta.url));
const SUFFIX = { run: '.json', scale: '-scale.json' } as const;

/** Writes results to a file named after date and commit. @returns the path within the project */
export function writeResults(kind: 'run', results: Results): string;
export function writeResults(kind: 'scale', results: ScaleResults): string;
export function writeResults(kind: keyof typeof SUFFIX, results: Run): string {
  const name = `${results.takenAt.slice(0, 10)}-${results.revision.commit}${SUFFIX[kind]}`;
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(FOLDER + name, `${JSON.stringify(results, undefined, 2)}\n`);
  return `bench/results/${name}`;
}

/** Reads the newest results of `npm run bench`, if any. */
export const readNewestRun = (): Results | undefined => readNewest('run') as Results | undefined;

/** Reads the newest results of `npm run bench:scale`, if any. */
export const readNewestScale = (): ScaleResults | undefined => readNewest('scale') as ScaleResults | undefined;

/** Reads the newest file of a kind, if any. Its type is known, because `writeResults` wrote it. */
function readNewest(kind: keyof typeof SUFFIX): Run | undefined {
  const names = readdirSync(FOLDER).filter(
    (name) => name.endsWith(SUFFIX[kind]) && name.endsWith(SUFFIX.scale) === (kind === 'scale'),
  );
  return names
    .map((name): Run => JSON.parse(readFileSync(FOLDER + name, 'utf8')))
    .toSorted((a, b) => (a.takenAt < b.takenAt ? 1 : -1))[0];
}
