import type { Figures } from './soak.ts';
import { amplification, percent, readShare } from './tally.ts';
import { lateGrowth, slopeOf } from './trend.ts';

/** One thing that the soak must show. */
export interface Bound {
  what: string;
  found: string;
  bound: string;
  isKept: boolean;
}

const count = (what: string, found: number, most: number): Bound => ({
  what,
  found: String(found),
  bound: `≤ ${most}`,
  isKept: found <= most,
});

/** pino's level of what the gateway did not expect. */
const ERROR = 50;

/** Heap after garbage collection: what a leak of even 100 bytes an operation would exceed in two minutes. */
const MAX_HEAP_GROWTH_MB = 5;

export function judge(figures: Figures): Bound[] {
  const { busy, mixed, outage, recovery, whileOpen, rss, warm, end, audit } = figures;
  const factor = amplification(busy.traffic);
  const answered = readShare(busy.tally);
  const reached = whileOpen.reached / whileOpen.offered;
  const growth = lateGrowth(rss);
  const heapGrowth = end.heapMb - warm.heapMb;
  const phases = [figures.warmUp, busy, mixed, outage, recovery];
  const codes = (code: string) => phases.reduce((sum, { tally }) => sum + (tally.codes.get(code) ?? 0), 0);
  return [
    {
      what: 'requests for a call while one in ten is 503',
      found: factor.toFixed(3),
      bound: '≤ 1.2',
      isKept: factor <= 1.2,
    },
    { what: 'reads answered meanwhile', found: percent(answered), bound: '≥ 99.7 %', isKept: answered >= 0.997 },
    {
      what: 'reads answered once all is well',
      found: percent(readShare(figures.warmUp.tally)),
      bound: '100 %',
      isKept: readShare(figures.warmUp.tally) === 1,
    },
    {
      what: 'calls that reach the upstream while the breaker is open',
      found: `${percent(reached)} (${whileOpen.reached} of ${whileOpen.offered})`,
      bound: '≤ 5 %',
      isKept: reached <= 0.05,
    },
    {
      what: 'seconds to recover',
      found: figures.recoverySeconds.toFixed(1),
      bound: '≤ 10',
      isKept: figures.recoverySeconds <= 10,
    },
    count('writes carried out twice', audit.duplicates, 0),
    count('writes said not to be applied that were', audit.falselyDenied, 0),
    count('writes said to be applied that were not', audit.falselyConfirmed, 0),
    {
      what: 'growth of RSS from the second third to the last',
      found: `${percent(growth)} (${slopeOf(rss).toFixed(2)} MB/min, ${rss.at(0)?.size.toFixed(0)} → ${rss.at(-1)?.size.toFixed(0)} MB)`,
      bound: '< 10 %',
      isKept: growth < 0.1,
    },
    {
      what: 'growth of the heap from the end of the warm-up to the end',
      found: `${heapGrowth.toFixed(1)} MB (${warm.heapMb.toFixed(1)} → ${end.heapMb.toFixed(1)} MB)`,
      bound: `≤ ${MAX_HEAP_GROWTH_MB} MB`,
      isKept: heapGrowth <= MAX_HEAP_GROWTH_MB,
    },
    count('sockets to the upstream at a time', figures.maxSockets, 64),
    count('sockets to the upstream at the end', figures.socketsAtEnd, 0),
    count('requests shed', codes('shed'), 0),
    count('requests cut off', codes('broken'), 0),
    count('unexpected errors in the log', figures.logLines.get(ERROR) ?? 0, 0),
    { what: 'exit code', found: String(figures.exitCode), bound: '0', isKept: figures.exitCode === 0 },
  ];
}
