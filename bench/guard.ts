/**
 * Compares the gateway with recorded values, and fails if it became slower or does more work: npm run bench:guard.
 * `node bench/guard.ts --record` records the current values in bench/ratios.json.
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
/** Number of rounds. More when recording, because later runs are compared with that result. */
const ROUNDS = { compared: 3, recorded: 9 };
const WARM_UP_SECONDS = 1.5;
const SECONDS = 0.6;

/** Maximum number of measurements of a ratio that is too high: other load on the machine is temporary, a regression isn't. */
const ATTEMPTS = 3;

const { values } = parseArgs({ options: { record: { type: 'boolean', default: false } } });
const rounds = values.record ? ROUNDS.recorded : ROUNDS.compared;
const { report } = createProgress();

/** Returns CPU time per request as a multiple of the floor's. Repeats the measurement while it exceeds the limit; the lowest counts. */
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
      throw new Error(`${name} can't be measured: ${fault}`);
    }
    lowest = Math.min(lowest, figures.ratio);
  }
  return Math.round(lowest * 1_000) / 1_000;
}

async function measure(folder: string, limits: Readonly<Record<string, number>>): Promise<Measured> {
  await using upstream = await startUpstream();
  const allocatedBytes = await measureAllocations(upstream, folder);
  report(`heap bytes allocated per request: ${JSON.stringify(allocatedBytes)}`);
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
  for (const regression of regressions) {
    process.stderr.write(`${regression}\n`);
  }
  report(regressions.length === 0 ? 'no regressions' : 'worse than recorded');
  process.exitCode = regressions.length === 0 ? 0 : 1;
}
