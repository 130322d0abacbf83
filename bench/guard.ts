/**
 * Holds the gateway against what was recorded of it, and fails when it has become slower or does more work:
 * npm run bench:guard; node bench/guard.ts --record writes what is found to bench/ratios.json.
 */
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { countCalls, measureAllocations } from './counted-work.ts';
import { load } from './load.ts';
import { describeRevision } from './machine.ts';
import { measureWorkload } from './measure.ts';
import { type RunningSubject, type RunningUpstream, startSubject, startUpstream } from './processes.ts';
import { createProgress } from './progress.ts';
import { cpuLimit, findRegressions, type Measured, readRatios, writeRatios } from './ratios.ts';
import { FLOOR, OURS } from './subjects.ts';
import { WORKLOADS, type WorkloadName } from './workloads.ts';

const GUARDED: readonly WorkloadName[] = ['q1', 'q2', 'm1'];
/** What is recorded is to be no accident. */
const ROUNDS = { compared: 3, recorded: 9 };
const WARM_UP_SECONDS = 1.5;
const SECONDS = 0.6;

/** How many times a ratio that is too high is measured in all: other work on the machine passes, a regression stays. */
const ATTEMPTS = 3;

const { values } = parseArgs({ options: { record: { type: 'boolean', default: false } } });
const rounds = values.record ? ROUNDS.recorded : ROUNDS.compared;
const { report } = createProgress();

/** The CPU time of a request as a multiple of the floor's; the lowest of as many attempts as it takes to be low enough. */
async function measureRatio(
  name: WorkloadName,
  subjects: readonly RunningSubject[],
  upstream: RunningUpstream,
  limit: number,
): Promise<number> {
  let lowest = Number.POSITIVE_INFINITY;
  for (let attempt = 0; attempt < ATTEMPTS && (attempt === 0 || lowest > limit); attempt += 1) {
    const options = { rounds, maxRounds: rounds, seconds: SECONDS, report };
    const { subjects: outcomes } = await measureWorkload(name, WORKLOADS[name], subjects, upstream, options);
    const { figures, fault } = outcomes[OURS.name] ?? {};
    if (figures === undefined) {
      throw new Error(`${name} cannot be measured: ${fault}`);
    }
    lowest = Math.min(lowest, figures.ratio);
  }
  return Math.round(lowest * 1_000) / 1_000;
}

async function measure(folder: string, limits: Readonly<Record<string, number>>): Promise<Measured> {
  await using upstream = await startUpstream();
  const allocatedBytes = await measureAllocations(upstream, folder);
  report(`bytes of the heap a request: ${JSON.stringify(allocatedBytes)}`);
  await using floor = await startSubject(FLOOR, upstream.url, folder);
  await using ours = await startSubject(OURS, upstream.url, folder);
  const calls = await countCalls(ours, upstream);
  report(`upstream requests: ${JSON.stringify(calls)}`);
  const cpu: Record<string, number> = {};
  for (const { url, subject } of [floor, ours]) {
    await load(url, WORKLOADS.q1, subject.requests.q1 ?? {}, { seconds: WARM_UP_SECONDS });
  }
  for (const name of GUARDED) {
    cpu[name] = await measureRatio(name, [floor, ours], upstream, limits[name] ?? Number.POSITIVE_INFINITY);
  }
  return { cpu, calls, allocatedBytes };
}

await using folder = await mkdtempDisposable(join(tmpdir(), 'notigraph-guard-'));
const recorded = values.record ? undefined : readRatios();
const limits = Object.entries(recorded?.cpu ?? {}).map(([name, ratio]) => [name, cpuLimit(ratio)] as const);
const measured = await measure(folder.path, Object.fromEntries(limits));
if (recorded === undefined) {
  const { commit } = describeRevision();
  writeRatios({ recordedAt: new Date().toISOString().slice(0, 10), commit, node: process.version, ...measured });
  report('recorded in bench/ratios.json');
} else {
  const regressions = findRegressions(measured, recorded);
  for (const sentence of regressions) {
    process.stderr.write(`${sentence}\n`);
  }
  report(regressions.length === 0 ? 'as good as recorded' : 'worse than recorded');
  process.exitCode = regressions.length === 0 ? 0 : 1;
}
