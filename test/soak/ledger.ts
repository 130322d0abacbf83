import { createHash } from 'node:crypto';

/** What a client was told of its write; 'left': it did not wait for the answer. */
export type Claim = 'APPLIED' | 'NOT_APPLIED' | 'UNKNOWN' | 'left';

/** One write as the upstream received it. */
export interface LedgerEntry {
  method: string;
  path: string;
  /** Of the body. */
  digest: string;
  idempotencyKey: string | undefined;
  /** Milliseconds since the soak began. */
  at: number;
  /** Whether it was carried out, whatever was answered. */
  isCarriedOut: boolean;
}

/** What clients were told against what the upstream did. */
export interface Discrepancies {
  /** Writes that were carried out twice. */
  duplicates: number;
  /** Writes that were carried out although the client was told that they were not. */
  falselyDenied: number;
  /** Writes that were not carried out although the client was told that they were. */
  falselyConfirmed: number;
}

/** Holds every write against what its client was told. Each write carries a marker of its own in its path or body. */
export interface Ledger {
  readonly size: number;
  /** A new marker. */
  mark(): string;
  enter(entry: Omit<LedgerEntry, 'digest' | 'at'>, body: string): void;
  claim(marker: string, claim: Claim): void;
  audit(): Discrepancies & { examples: string[] };
}

const MARKER = /mk-\d+-/;

export const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 16);

export function createLedger(): Ledger {
  const entries = new Map<string, LedgerEntry[]>();
  const claims = new Map<string, Claim>();
  let marked = 0;

  return {
    get size() {
      return entries.size;
    },
    mark() {
      marked += 1;
      return `mk-${marked}-`;
    },
    enter(entry, body) {
      const [marker] = MARKER.exec(entry.path) ?? MARKER.exec(body) ?? [];
      if (marker === undefined) {
        throw new Error(`A write without a marker: ${entry.method} ${entry.path}`);
      }
      const earlier = entries.get(marker) ?? [];
      entries.set(marker, [...earlier, { ...entry, digest: digestOf(body), at: Math.round(performance.now()) }]);
    },
    claim(marker, claim) {
      claims.set(marker, claim);
    },
    audit() {
      const found = { duplicates: 0, falselyDenied: 0, falselyConfirmed: 0 };
      const examples: string[] = [];
      for (const [marker, claim] of claims) {
        const arrived = entries.get(marker) ?? [];
        const done = arrived.filter(({ isCarriedOut }) => isCarriedOut);
        const kinds: (keyof Discrepancies | false)[] = [
          // The status of a workflow may be set twice: that changes nothing.
          done.length > 1 && done[0]?.method !== 'PUT' && 'duplicates',
          done.length > 0 && claim === 'NOT_APPLIED' && 'falselyDenied',
          done.length === 0 && claim === 'APPLIED' && 'falselyConfirmed',
        ];
        for (const kind of kinds) {
          if (kind !== false) {
            found[kind] += 1;
            examples.push(`${kind}: told ${claim}, arrived: ${JSON.stringify(arrived)}`);
          }
        }
      }
      return { ...found, examples: examples.slice(0, 5) };
    },
  };
}
