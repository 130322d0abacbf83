import { amplification, percent, readShare } from './client-totals.ts';
import type { Sample, SoakResults } from './soak.ts';

/** Result of the soak test with its bound. */
export interface Bound {
  metric: string;
  found: string;
  bound: string;
  isMet: boolean;
}

const atMost = (metric: string, found: number, maximum: number): Bound => ({
  metric,
  found: String(found),
  bound: `≤ ${maximum}`,
  isMet: found <= maximum,
});

/** Maximum growth of the heap after garbage collection, in MB. A leak of 100 bytes per operation exceeds it in two minutes. */
const MAX_HEAP_GROWTH_MB = 5;

export function checkBounds(results: SoakResults): Bound[] {
  const { busy, mixed, outage, recovery, whileOpen, rss, warm, end, audit } = results;
  const requestsPerCall = amplification(busy.traffic);
  const successShare = readShare(busy.totals);
  const reached = whileOpen.reached / whileOpen.offered;
  const growth = lateGrowth(rss);
  const heapGrowth = end.heapMb - warm.heapMb;
  const phases = [results.warmUp, busy, mixed, outage, recovery];
  const codes = (code: string) => phases.reduce((sum, { totals }) => sum + (totals.codes.get(code) ?? 0), 0);
  return [
    {
      metric: 'upstream requests per call while one in ten is 503',
      found: requestsPerCall.toFixed(3),
      bound: '≤ 1.2',
      isMet: requestsPerCall <= 1.2,
    },
    {
      metric: 'successful reads meanwhile',
      found: percent(successShare),
      bound: '≥ 99.7 %',
      isMet: successShare >= 0.997,
    },
    {
      metric: 'successful reads without faults',
      found: percent(readShare(results.warmUp.totals)),
      bound: '100 %',
      isMet: readShare(results.warmUp.totals) === 1,
    },
    {
      metric: 'upstream requests per operation while the circuit breaker is open',
      found: `${percent(reached)} (${whileOpen.reached} of ${whileOpen.offered})`,
      bound: '≤ 5 %',
      isMet: reached <= 0.05,
    },
    {
      metric: 'seconds to recover',
      found: results.recoverySeconds.toFixed(1),
      bound: '≤ 10',
      isMet: results.recoverySeconds <= 10,
    },
    atMost('writes applied twice', audit.duplicates, 0),
    atMost('writes applied but reported as not applied', audit.falselyDenied, 0),
    atMost('writes reported as applied but not applied', audit.falselyConfirmed, 0),
    {
      metric: 'growth of RSS from the second third to the last',
      found: `${percent(growth)} (${slopeOf(rss).toFixed(2)} MB/min, ${rss.at(0)?.size.toFixed(0)} → ${rss.at(-1)?.size.toFixed(0)} MB)`,
      bound: '< 10 %',
      isMet: growth < 0.1,
    },
    {
      metric: 'growth of the heap from the end of the warm-up to the end',
      found: `${heapGrowth.toFixed(1)} MB (${warm.heapMb.toFixed(1)} → ${end.heapMb.toFixed(1)} MB)`,
      bound: `≤ ${MAX_HEAP_GROWTH_MB} MB`,
      isMet: heapGrowth <= MAX_HEAP_GROWTH_MB,
    },
    atMost('maximum sockets to the upstream', results.maxSockets, 64),
    atMost('sockets to the upstream at the end', results.socketsAtEnd, 0),
    atMost('requests shed', codes('shed'), 0),
    atMost('requests cut off', codes('broken'), 0),
    atMost('unexpected errors in the log', results.logLines.get('error') ?? 0, 0),
    { metric: 'exit code', found: String(results.exitCode), bound: '0', isMet: results.exitCode === 0 },
  ];
}

/** Returns the slope of the regression line through the samples, in MB per minute. */
function slopeOf(samples: readonly Sample[]): number {
  const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const middleAt = mean(samples.map(({ at }) => at));
  const middleSize = mean(samples.map(({ size }) => size));
  const above = samples.reduce((sum, { at, size }) => sum + (at - middleAt) * (size - middleSize), 0);
  const below = samples.reduce((sum, { at }) => sum + (at - middleAt) ** 2, 0);
  return below === 0 ? 0 : (above / below) * 60;
}

/** Returns the relative growth of the median from the second third of the samples to the last; 0.1 is 10 %. */
function lateGrowth(samples: readonly Sample[]): number {
  const third = Math.floor(samples.length / 3);
  const second = median(samples.slice(third, 2 * third));
  return second === 0 ? 0 : median(samples.slice(2 * third)) / second - 1;
}

function median(samples: readonly Sample[]): number {
  const sizes = samples.map(({ size }) => size).toSorted((a, b) => a - b);
  return sizes[Math.floor(sizes.length / 2)] ?? 0;
}
