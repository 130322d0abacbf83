import type { Curve, Point } from './curves.ts';
import { type Dimension, dimension } from './dimensions.ts';
import type { MeasureOptions } from './measure.ts';
import { measurePoint } from './point.ts';
import { type RunningSubject, type RunningUpstream, startSubject } from './processes.ts';
import { OURS, variantOf } from './subjects.ts';

const AMOUNTS = [1, 2];

/** Curve of the gateway with several worker processes. */
export const WORKERS: Dimension = dimension('q1', {
  key: 'workers',
  title: 'Processes sharing the port',
  unit: 'workers',
  expected: 'flat',
  amounts: AMOUNTS,
});

/** Measures the gateway with several worker processes. The floor remains one process: its cost shows how much the machine varies. */
export async function measureWorkers(
  floor: RunningSubject,
  upstream: RunningUpstream,
  folder: string,
  options: MeasureOptions,
): Promise<Curve> {
  const points: Point[] = [];
  for (const amount of AMOUNTS) {
    const ours = variantOf(OURS, { args: ['--workers', String(amount)] });
    await using running = await startSubject(ours, upstream.url, folder);
    points.push(await measurePoint(WORKERS, amount, [floor, running], upstream, options));
  }
  const { key, title, unit, expected } = WORKERS;
  return { key, title, unit, expected, points };
}
