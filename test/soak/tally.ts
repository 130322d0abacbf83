import type { Claim } from './ledger.ts';
import type { Outcome } from './load.ts';
import type { Traffic } from './upstream.ts';

/** What clients saw during one phase. */
export interface Tally {
  operations: number;
  reads: number;
  unanswered: number;
  claims: Record<Claim, number>;
  codes: Map<string, number>;
}

export const createTally = (): Tally => ({
  operations: 0,
  reads: 0,
  unanswered: 0,
  claims: { APPLIED: 0, NOT_APPLIED: 0, UNKNOWN: 0, left: 0 },
  codes: new Map(),
});

export function addOutcome(tally: Tally, { reads, unanswered, claims, codes }: Outcome): void {
  const hasLeft = codes.includes('left');
  tally.operations += 1;
  tally.reads += hasLeft ? 0 : reads;
  tally.unanswered += hasLeft ? 0 : unanswered;
  for (const claim of claims) {
    tally.claims[claim] += 1;
  }
  for (const code of codes) {
    tally.codes.set(code, (tally.codes.get(code) ?? 0) + 1);
  }
}

/** The share of reads that were answered, of those whose client waited. */
export const readShare = ({ reads, unanswered }: Tally): number => (reads === 0 ? 1 : 1 - unanswered / reads);

/** Requests that arrived for each call. */
export const amplification = ({ requests, calls }: Traffic): number => (calls === 0 ? 1 : requests / calls);

export const percent = (share: number): string => `${(share * 100).toFixed(2)} %`;

export function describe(name: string, tally: Tally, traffic: Traffic): string {
  const { APPLIED, NOT_APPLIED, UNKNOWN, left } = tally.claims;
  const waited = APPLIED + NOT_APPLIED + UNKNOWN;
  const codes = [...tally.codes].map(([code, count]) => `${code} ${count}`).join(', ');
  return [
    `${name}: ${tally.operations} operations`,
    `reads ${tally.reads}, answered ${percent(readShare(tally))}`,
    `writes ${waited}, applied ${percent(waited === 0 ? 1 : APPLIED / waited)}, not applied ${NOT_APPLIED}, unknown ${UNKNOWN}, left ${left}`,
    `upstream requests ${traffic.requests} for ${traffic.calls} calls (× ${amplification(traffic).toFixed(3)})`,
    `codes: ${codes || 'none'}`,
  ].join('\n    ');
}
