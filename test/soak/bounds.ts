// Compares the results of the soak test with their bounds.

import { amplification, percent, readShare } from './client-totals.ts';
import type { SoakResults } from './soak.ts';

/** Result of the soak test with its bound. */
export interface Bound {
  metric: string;
  found: string;
  bound: string;
  isMet: boolean;
}

/** Result that may be at most, or must be at least, a bound. */
function compare(
  metric: string,
  found: number,
  [relation, limit]: readonly ['≤' | '≥', number],
  format: (value: number) => string = String,
  note = '',
): Bound {
  return {
    metric,
    found: format(found) + note,
    bound: `${relation} ${format(limit)}`,
    isMet: relation === '≤' ? found <= limit : found >= limit,
  };
}

const times = (value: number): string => value.toFixed(3);
const seconds = (time: number): string => `${time.toFixed(1)} s`;
const mb = (size: number): string => `${size.toFixed(1)} MB`;

/** Maximum growth of the heap after garbage collection, in MB. A leak of 100 bytes per operation exceeds it in two minutes. */
const MAX_HEAP_GROWTH_MB = 5;

export function checkBounds(results: SoakResults): Bound[] {
  const { warmUp, busy, mixed, outage, recovery, whileOpen, rss, warm, end, audit } = results;
  const phases = [warmUp, busy, mixed, outage, recovery];
  const codes = (code: string) => phases.reduce((sum, { totals }) => sum + (totals.codes.get(code) ?? 0), 0);
  const none = ['≤', 0] as const;
  const resident = ` (${mb(rss.at(0) ?? 0)} → ${mb(rss.at(-1) ?? 0)})`;
  return [
    compare('upstream requests per call while one in ten is 503', amplification(busy.traffic), ['≤', 1.2], times),
    compare('successful reads meanwhile', readShare(busy.totals), ['≥', 0.997], percent),
    compare('successful reads without faults', readShare(warmUp.totals), ['≥', 1], percent),
    compare(
      'upstream requests per operation while the circuit breaker is open',
      whileOpen.reached / whileOpen.offered,
      ['≤', 0.05],
      percent,
      ` (${whileOpen.reached} of ${whileOpen.offered})`,
    ),
    compare('time to recover', results.recoverySeconds, ['≤', 10], seconds),
    compare('writes applied twice', audit.duplicates, none),
    compare('writes applied but reported as not applied', audit.falselyDenied, none),
    compare('writes reported as applied but not applied', audit.falselyConfirmed, none),
    compare('growth of RSS from the second third to the last', lateGrowth(rss), ['≤', 0.1], percent, resident),
    compare('growth of the heap from the end of the warm-up', end.heapMb - warm.heapMb, ['≤', MAX_HEAP_GROWTH_MB], mb),
    compare('maximum sockets to the upstream', results.maxSockets, ['≤', 64]),
    compare('sockets to the upstream at the end', results.socketsAtEnd, none),
    compare('requests shed', codes('shed'), none),
    compare('requests cut off', codes('broken'), none),
    compare('unexpected errors in the log', results.logLines.get('error') ?? 0, none),
    compare('exit code', results.exitCode ?? 1, none),
  ];
}

/** Returns the relative growth of the median from the second third of the samples to the last; 0.1 is 10 %. */
function lateGrowth(samples: readonly number[]): number {
  const third = Math.floor(samples.length / 3);
  const second = median(samples.slice(third, 2 * third));
  return second === 0 ? 0 : median(samples.slice(2 * third)) / second - 1;
}

const median = (samples: readonly number[]): number =>
  samples.toSorted((a, b) => a - b)[Math.floor(samples.length / 2)] ?? 0;
