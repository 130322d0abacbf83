// Finds writes whose reported outcome differs from what the upstream did.

/** Outcome of a write as reported to its client; 'left' if the client disconnected before the response. */
export type ReportedOutcome = 'APPLIED' | 'NOT_APPLIED' | 'UNKNOWN' | 'left';

/** Write as the upstream received it. */
interface ReceivedWrite {
  method: string;
  path: string;
  /** Whether the upstream applied the write, regardless of its response. */
  isApplied: boolean;
}

/** Numbers of writes whose reported outcome differs from what the upstream did. */
interface Discrepancies {
  /** Writes that were applied twice. */
  duplicates: number;
  /** Writes that were applied but reported as not applied. */
  falselyDenied: number;
  /** Writes that were not applied but reported as applied. */
  falselyConfirmed: number;
}

const MARKER = /mk-\d+-/;

/** Record of all writes and their reported outcomes. Each write has a unique marker in its path or body. */
export class Ledger {
  readonly #received = new Map<string, ReceivedWrite[]>();
  readonly #outcomes = new Map<string, ReportedOutcome>();
  #markers = 0;

  /** Number of writes. */
  get size(): number {
    return this.#received.size;
  }

  /** Returns a new marker. */
  createMarker(): string {
    this.#markers += 1;
    return `mk-${this.#markers}-`;
  }

  recordWrite(write: ReceivedWrite, body: string): void {
    const [marker] = MARKER.exec(write.path) ?? MARKER.exec(body) ?? [];
    if (marker === undefined) {
      throw new Error(`A write without a marker: ${write.method} ${write.path}`);
    }
    this.#received.set(marker, [...(this.#received.get(marker) ?? []), write]);
  }

  recordOutcome(marker: string, outcome: ReportedOutcome): void {
    this.#outcomes.set(marker, outcome);
  }

  audit(): Discrepancies & { examples: string[] } {
    const found = { duplicates: 0, falselyDenied: 0, falselyConfirmed: 0 };
    const examples: string[] = [];
    for (const [marker, outcome] of this.#outcomes) {
      const received = this.#received.get(marker) ?? [];
      const applied = received.filter(({ isApplied }) => isApplied);
      const kinds: (keyof Discrepancies | false)[] = [
        // The status of a workflow may be set twice without effect.
        applied.length > 1 && applied[0]?.method !== 'PUT' && 'duplicates',
        applied.length > 0 && outcome === 'NOT_APPLIED' && 'falselyDenied',
        applied.length === 0 && outcome === 'APPLIED' && 'falselyConfirmed',
      ];
      for (const kind of kinds.filter((name) => name !== false)) {
        found[kind] += 1;
        examples.push(`${kind}: reported ${outcome}, received: ${JSON.stringify(received)}`);
      }
    }
    return { ...found, examples: examples.slice(0, 5) };
  }
}
