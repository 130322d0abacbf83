// Defines the results of a run, and writes and reads their files.

import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, release, totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { DocumentFigures } from './documents.ts';
import type { WorkloadFigures } from './figures.ts';
import type { LatencyFigures } from './latency.ts';
import type { MemoryFigures, RestFigures } from './memory.ts';
import type { Part } from './options.ts';
/** Results of `npm run bench`. */
export interface Results {
  /** Date and time in ISO 8601. */
  takenAt: string;
  minutes: number;
  machine: {
    cpu: string;
    cores: number;
    /** Total memory in bytes. */
    memory: number;
    kernel: string;
    node: string;
  };
  revision: {
    commit: string;
    /** Whether `src`, a package or the dependencies differ from the commit's. */
    changed: boolean;
  };
  /** `starts` is missing in results of earlier versions, which started each subject once. */
  settings: { starts?: number; rounds: number; seconds: number };
  /** Subjects in the order of the tables. `version` is the version of a peer's main package. */
  subjects: { name: string; title: string; version?: string | undefined; startMs: number }[];
  skipped: { title: string; reason: string }[];
  workloads: WorkloadFigures[];
  latency: LatencyFigures[];
  /** Results at rest, by subject name. */
  rest: Record<string, RestFigures>;
  /** Time from the start of the package's process to its first response: median. */
  starts?: { packagedMs: number } | undefined;
  /** Instructions per request as a multiple of the floor's, by workload. */
  instructions?: Record<string, number> | undefined;
  documents?: DocumentFigures | undefined;
  /** Results of the memory run. */
  mixed?: MemoryFigures | undefined;
  /** Parts that failed. Missing in results of earlier versions. */
  faults?: { section: Part; reason: string }[];
}

const FOLDER = fileURLToPath(new URL('results/', import.meta.url));

/** Returns the time, this machine and the checked-out revision. */
export function describeRun(): Pick<Results, 'takenAt' | 'machine' | 'revision'> {
  const git = (...args: string[]) => execFileSync('git', args, { cwd: FOLDER, encoding: 'utf8' }).trim();
  return {
    takenAt: new Date().toISOString(),
    machine: {
      cpu: cpus()[0]?.model ?? 'unknown',
      cores: availableParallelism(),
      memory: totalmem(),
      kernel: release(),
      node: process.version,
    },
    revision: {
      commit: git('rev-parse', '--short', 'HEAD'),
      changed: git('status', '--porcelain', '--', '../../src', '../../packages', '../../package-lock.json') !== '',
    },
  };
}

/** Writes results to a file named after date and commit. @returns the path within the project */
export function writeResults(results: Results): string {
  const name = `${results.takenAt.slice(0, 10)}-${results.revision.commit}.json`;
  writeFileSync(FOLDER + name, `${JSON.stringify(results, undefined, 2)}\n`);
  return `bench/results/${name}`;
}

/** Reads the newest results. Their type is known, because `writeResults` wrote them. */
export function readNewestResults(): Results {
  const [newest] = readdirSync(FOLDER)
    .map((name): Results => JSON.parse(readFileSync(FOLDER + name, 'utf8')))
    .sort((a, b) => (a.takenAt < b.takenAt ? 1 : -1));
  if (newest === undefined) {
    throw new Error('There are no results yet. Run "npm run bench" first.');
  }
  return newest;
}
