/**
 * Measures how the cost of a request grows with the amount of work, and reports where it grows faster than linearly:
 * npm run bench:scale [-- --only groups,bytes --rounds 5 --seconds 1]
 */
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type Curve, describeVerdict } from './curves.ts';
import { DIMENSIONS, type Dimension } from './dimensions.ts';
import { describeMachine, describeRevision } from './machine.ts';
import type { MeasureOptions } from './measure.ts';
import { messageOf } from './message-of.ts';
import { readNumber } from './options.ts';
import { measurePoint } from './point.ts';
import { type RunningSubject, startSubject, startUpstream } from './processes.ts';
import { createProgress } from './progress.ts';
import { asText } from './render.ts';
import { writeReport } from './report.ts';
import { type ScaleResults, writeResults } from './results.ts';
import { FLOOR, OURS, variantOf } from './subjects.ts';
import { curveTable } from './tables.ts';
import { measureWorkers, WORKERS } from './workers.ts';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '1' },
    only: { type: 'string' },
  },
});
const { report, minutes } = createProgress();
await using folder = await mkdtempDisposable(join(tmpdir(), 'notigraph-scale-'));
const options: MeasureOptions = {
  rounds: readNumber('rounds', values.rounds),
  seconds: readNumber('seconds', values.seconds),
  report,
};
const isChosen = ({ key }: { key: string }) => values.only?.split(',').includes(key) ?? true;
const curves: Curve[] = [];
const skipped: ScaleResults['skipped'] = [];
/** Adds a curve. If it fails, the others still count. */
async function add({ title }: { title: string }, measure: () => Promise<Curve>): Promise<void> {
  try {
    curves.push(await measure());
  } catch (error) {
    const reason = messageOf(error);
    skipped.push({ title, reason });
    report(`${title}: no result, ${reason}`);
  }
}

async function measureDimension(dimension: Dimension, subjects: readonly RunningSubject[]): Promise<Curve> {
  const { key, title, unit, expected, amounts } = dimension;
  const points = [];
  for (const amount of amounts) {
    points.push(await measurePoint(dimension, amount, subjects, upstream, options));
  }
  return { key, title, unit, expected, points };
}

await using upstream = await startUpstream();
await using floor = await startSubject(FLOOR, upstream.url, folder.path);
{
  // The default limit is lower than the thousand concurrent connections measured here.
  const ours = variantOf(OURS, { env: { NOTIGRAPH_MAX_IN_FLIGHT_REQUESTS: '2000' } });
  await using running = await startSubject(ours, upstream.url, folder.path);
  for (const dimension of DIMENSIONS.filter(isChosen)) {
    await add(dimension, () => measureDimension(dimension, [floor, running]));
  }
}
if (isChosen(WORKERS)) {
  await add(WORKERS, () => measureWorkers(floor, upstream, folder.path, options));
}

for (const curve of curves) {
  process.stdout.write(`\n${asText(curveTable(curve))}  ${describeVerdict(curve)}\n`);
}
if (values.only === undefined) {
  const { rounds, seconds } = options;
  const results: ScaleResults = {
    takenAt: new Date().toISOString(),
    minutes: minutes(),
    machine: describeMachine(),
    revision: describeRevision(),
    settings: { rounds, seconds },
    skipped,
    curves,
  };
  report(`saved in ${writeResults('scale', results)} and ${writeReport()}`);
}
