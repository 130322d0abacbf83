import { createHash } from 'node:crypto';

/** Outcome of a write as reported to its client; 'left' if the client disconnected before the response. */
export type ReportedOutcome = 'APPLIED' | 'NOT_APPLIED' | 'UNKNOWN' | 'left';

/** Write as the upstream received it. */
export interface LedgerEntry {
  method: string;
  path: string;
  /** Digest of the body. */
  digest: string;
  idempotencyKey: string | undefined;
  /** Time since the start of the soak test, in milliseconds. */
  at: number;
  /** Whether the upstream applied the write, regardless of its response. */
  isApplied: boolean;
}

/** Numbers of writes whose reported outcome differs from what the upstream did. */
export interface Discrepancies {
  /** Writes that were applied twice. */
  duplicates: number;
  /** Writes that were applied but reported as not applied. */
  falselyDenied: number;
  /** Writes that were not applied but reported as applied. */
  falselyConfirmed: number;
}

/** Record of all writes and their reported outcomes. Each write has a unique marker in its path or body. */
export interface Ledger {
  readonly size: number;
  /** Returns a new marker. */
  createMarker(): string;
  recordWrite(entry: Omit<LedgerEntry, 'digest' | 'at'>, body: string): void;
  recordOutcome(marker: string, outcome: ReportedOutcome): void;
  audit(): Discrepancies & { examples: string[] };
}

const MARKER = /mk-\d+-/;

export const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 16);

export function createLedger(): Ledger {
  const entries = new Map<string, LedgerEntry[]>();
  const outcomes = new Map<string, ReportedOutcome>();
  let markerCount = 0;

  return {
    get size() {
      return entries.size;
    },
    createMarker() {
      markerCount += 1;
      return `mk-${markerCount}-`;
    },
    recordWrite(entry, body) {
      const [marker] = MARKER.exec(entry.path) ?? MARKER.exec(body) ?? [];
      if (marker === undefined) {
        throw new Error(`A write without a marker: ${entry.method} ${entry.path}`);
      }
      const earlier = entries.get(marker) ?? [];
      entries.set(marker, [...earlier, { ...entry, digest: digestOf(body), at: Math.round(performance.now()) }]);
    },
    recordOutcome(marker, outcome) {
      outcomes.set(marker, outcome);
    },
    audit() {
      const found = { duplicates: 0, falselyDenied: 0, falselyConfirmed: 0 };
      const examples: string[] = [];
      for (const [marker, outcome] of outcomes) {
        const arrived = entries.get(marker) ?? [];
        const applied = arrived.filter(({ isApplied }) => isApplied);
        const kinds: (keyof Discrepancies | false)[] = [
          // The status of a workflow may be set twice without effect.
          applied.length > 1 && applied[0]?.method !== 'PUT' && 'duplicates',
          applied.length > 0 && outcome === 'NOT_APPLIED' && 'falselyDenied',
          applied.length === 0 && outcome === 'APPLIED' && 'falselyConfirmed',
        ];
        for (const kind of kinds) {
          if (kind !== false) {
            found[kind] += 1;
            examples.push(`${kind}: reported ${outcome}, received: ${JSON.stringify(arrived)}`);
          }
        }
      }
      return { ...found, examples: examples.slice(0, 5) };
    },
  };
}
