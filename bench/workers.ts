import { execFileSync } from 'node:child_process';
import type { Curve, Point } from './curves.ts';
import { type Dimension, dimension } from './dimensions.ts';
import { measurePoint, type PointOptions } from './point.ts';
import { type RunningUpstream, startSubject } from './processes.ts';
import { OURS, variantOf } from './subjects.ts';

const AMOUNTS = [1, 2];

const WORKERS: Dimension = dimension('q1', {
  key: 'workers',
  title: 'Processes sharing the port',
  unit: 'workers',
  expected: 'flat',
  amounts: AMOUNTS,
});

/** Measures the gateway with several worker processes. @returns the results, or why they couldn't be measured */
export async function measureWorkers(
  upstream: RunningUpstream,
  folder: string,
  options: PointOptions,
): Promise<Curve | string> {
  if (!supportsWorkers()) {
    return 'this version does not support --workers';
  }
  const points: Point[] = [];
  for (const amount of AMOUNTS) {
    const ours = variantOf(OURS, { args: ['--workers', String(amount)] });
    await using running = await startSubject(ours, upstream.url, folder);
    points.push(await measurePoint(WORKERS, amount, [running], upstream, options));
  }
  const { key, title, unit, expected } = WORKERS;
  return { key, title, unit, expected, points };
}

function supportsWorkers(): boolean {
  const { file, args } = OURS.command({ port: 0, upstream: '' });
  const [program = ''] = args;
  return execFileSync(file, [program, '--help'], { encoding: 'utf8' }).includes('--workers');
}
