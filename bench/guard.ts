/**
 * Compares the gateway with recorded values, and fails if it does more work: npm run bench:guard.
 * `node bench/guard.ts --record` records the current values in bench/ratios.json.
 */
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { countCalls, measureAllocations } from './counted-work.ts';
import { countInstructions, hasValgrind } from './instructions.ts';
import { describeRevision } from './machine.ts';
import { buildPackage } from './package-build.ts';
import { startSubject, startUpstream } from './processes.ts';
import { createProgress } from './progress.ts';
import { findRegressions, type Measured, readRatios, writeRatios } from './ratios.ts';
import { OURS } from './subjects.ts';

const { values } = parseArgs({ options: { record: { type: 'boolean', default: false } } });
const { report } = createProgress();

async function measure(folder: string): Promise<Measured> {
  await using upstream = await startUpstream();
  const allocatedBytes = await measureAllocations(upstream, folder);
  report(`heap bytes allocated per request: ${JSON.stringify(allocatedBytes)}`);
  let calls: Record<string, number>;
  {
    await using ours = await startSubject(OURS, upstream.url, folder);
    calls = await countCalls(ours, upstream);
  }
  report(`upstream requests: ${JSON.stringify(calls)}`);
  if (!(hasValgrind() || values.record || process.env.CI !== undefined)) {
    report('instructions are not counted, because valgrind is not installed');
    return { instructions: {}, calls, allocatedBytes };
  }
  buildPackage(report);
  const instructions = await countInstructions(upstream, report);
  report(`instructions per request, as a multiple of the floor's: ${JSON.stringify(instructions)}`);
  return { instructions, calls, allocatedBytes };
}

await using folder = await mkdtempDisposable(join(tmpdir(), 'notigraph-guard-'));
const measured = await measure(folder.path);
if (values.record) {
  const { commit } = describeRevision();
  writeRatios({ recordedAt: new Date().toISOString().slice(0, 10), commit, node: process.version, ...measured });
  report('recorded in bench/ratios.json');
} else {
  const regressions = findRegressions(measured, readRatios());
  for (const regression of regressions) {
    process.stderr.write(`${regression}\n`);
  }
  report(regressions.length === 0 ? 'no regressions' : 'worse than recorded');
  process.exitCode = regressions.length === 0 ? 0 : 1;
}
