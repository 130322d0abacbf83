// Compares the gateway with recorded values, and fails if it does more work: npm run bench:guard.
// `node bench/guard.ts --record` records the current values in bench/ratios.json.

import { readFileSync, writeFileSync } from 'node:fs';
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { countCalls, measureAllocations } from './counted-work.ts';
import { countInstructions, hasValgrind } from './instructions.ts';
import { startUpstream } from './processes.ts';
import { buildPackage, createProgress } from './progress.ts';
import { describeRun } from './results.ts';
import { MODULE_LIMIT } from './targets.ts';

/** Counted values by workload: instructions as a multiple of another subject's, upstream requests and allocated bytes. */
type Measured = Record<(typeof LIMITS)[number]['kind'], Record<string, number>>;

const FILE = new URL('ratios.json', import.meta.url);

/** Compared values, with the share by which they may be higher. */
const LIMITS = [
  { kind: 'instructions', title: '× the instructions per request that they are compared with', tolerance: 0.04 },
  { kind: 'calls', title: 'upstream requests', tolerance: 0 },
  { kind: 'allocatedBytes', title: 'heap bytes allocated per request', tolerance: 0.05 },
] as const;

/** Limits of values that are compared with a promise, whatever was recorded. */
const PROMISED: Readonly<Record<string, number>> = { twin: MODULE_LIMIT };

const ADVICE =
  'Find the cause (see docs/contributing/performance.md), or accept the change with "node bench/guard.ts --record".';

const { values } = parseArgs({ options: { record: { type: 'boolean', default: false } } });
const { report } = createProgress();

async function measure(folder: string, recorded: Measured | undefined): Promise<Measured> {
  await using upstream = await startUpstream();
  const allocatedBytes = await measureAllocations(upstream, folder);
  report(`heap bytes allocated per request: ${JSON.stringify(allocatedBytes)}`);
  const calls = await countCalls(upstream, folder);
  report(`upstream requests: ${JSON.stringify(calls)}`);
  if (!(hasValgrind() || values.record || process.env.CI !== undefined)) {
    report('instructions are not counted, because valgrind is not installed');
    return { instructions: {}, calls, allocatedBytes };
  }
  buildPackage(report);
  const isEnough = (instructions: Record<string, number>) =>
    recorded !== undefined && findRegressions({ instructions, calls: {}, allocatedBytes: {} }, recorded).length === 0;
  const instructions = await countInstructions(upstream, report, isEnough);
  report(`instructions per request, as a multiple of the floor's, twin: of q1's: ${JSON.stringify(instructions)}`);
  return { instructions, calls, allocatedBytes };
}

/** Compares values with the recorded ones. @returns a message for each value that got worse */
const findRegressions = (measured: Measured, recorded: Measured): string[] =>
  LIMITS.flatMap(({ kind, title, tolerance }) =>
    Object.entries(measured[kind]).flatMap(([name, value]) => {
      const before = recorded[kind][name] ?? Number.NaN;
      const limit = PROMISED[name] ?? before * (1 + tolerance);
      // NaN, if nothing was counted or recorded, is a regression too. So are fewer upstream requests: they would be wrong.
      const isAccepted = tolerance === 0 ? value === before : value <= limit;
      const message = `${name}: ${value} ${title}. Limit: ${limit.toFixed(3)}, recorded: ${before}. ${ADVICE}`;
      return isAccepted ? [] : [message];
    }),
  );

await using folder = await mkdtempDisposable(join(tmpdir(), 'notigraph-guard-'));
const before: Measured | undefined = values.record ? undefined : JSON.parse(readFileSync(FILE, 'utf8')); // As written below.
const measured = await measure(folder.path, before);
if (before === undefined) {
  const { takenAt, machine, revision } = describeRun();
  const recorded = { recordedAt: takenAt.slice(0, 10), commit: revision.commit, node: machine.node, ...measured };
  writeFileSync(FILE, `${JSON.stringify(recorded, undefined, 2)}\n`);
  report('recorded in bench/ratios.json');
} else {
  const regressions = findRegressions(measured, before);
  for (const regression of regressions) {
    process.stderr.write(`${regression}\n`);
  }
  report(regressions.length === 0 ? 'no regressions' : 'worse than recorded');
  process.exitCode = regressions.length === 0 ? 0 : 1;
}
