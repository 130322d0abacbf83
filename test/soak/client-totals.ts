// Adds up the results that clients saw, and describes them.

import type { ReportedOutcome } from './ledger.ts';
import type { OperationResult } from './load.ts';
import type { Traffic } from './upstream.ts';

/** Totals of the results that clients saw during one phase. */
export interface ClientTotals {
  operations: number;
  reads: number;
  failedReads: number;
  writeOutcomes: Record<ReportedOutcome, number>;
  codes: Map<string, number>;
}

export const createTotals = (): ClientTotals => ({
  operations: 0,
  reads: 0,
  failedReads: 0,
  writeOutcomes: { APPLIED: 0, NOT_APPLIED: 0, UNKNOWN: 0, left: 0 },
  codes: new Map(),
});

export function addResult(totals: ClientTotals, { reads, failedReads, writeOutcomes, codes }: OperationResult): void {
  const hasDisconnected = codes.includes('left');
  totals.operations += 1;
  totals.reads += hasDisconnected ? 0 : reads;
  totals.failedReads += hasDisconnected ? 0 : failedReads;
  for (const outcome of writeOutcomes) {
    totals.writeOutcomes[outcome] += 1;
  }
  for (const code of codes) {
    totals.codes.set(code, (totals.codes.get(code) ?? 0) + 1);
  }
}

/** Returns the share of successful reads among those whose client waited for the response. */
export const readShare = ({ reads, failedReads }: ClientTotals): number => (reads === 0 ? 1 : 1 - failedReads / reads);

/** Returns the number of upstream requests per call. */
export const amplification = ({ requests, calls }: Traffic): number => (calls === 0 ? 1 : requests / calls);

export const percent = (share: number): string => `${(share * 100).toFixed(2)} %`;

export function describePhase(name: string, totals: ClientTotals, traffic: Traffic): string {
  const { APPLIED, NOT_APPLIED, UNKNOWN, left } = totals.writeOutcomes;
  const reported = APPLIED + NOT_APPLIED + UNKNOWN;
  const codes = [...totals.codes].map(([code, count]) => `${code} ${count}`).join(', ');
  return [
    `${name}: ${totals.operations} operations`,
    `reads ${totals.reads}, successful ${percent(readShare(totals))}`,
    `writes ${reported}, applied ${percent(reported === 0 ? 1 : APPLIED / reported)}, not applied ${NOT_APPLIED}, unknown ${UNKNOWN}, disconnected ${left}`,
    `upstream requests ${traffic.requests} for ${traffic.calls} calls (× ${amplification(traffic).toFixed(3)})`,
    `codes: ${codes || 'none'}`,
  ].join('\n    ');
}
