import type { Connection } from './connection.ts';

/** Options of `createEviction`. */
export interface EvictionOptions {
  /** Speed below which a client is slow, in bytes per second. */
  minBytesPerSecond: number;
  /** Interval between measurements, in milliseconds. */
  intervalMs: number;
  /** Maximum time a client may need to read its response when memory is short, in milliseconds. */
  stallTimeoutMs: number;
}

/** Connection that may be closed, with its sort keys. */
interface Candidate {
  connection: Connection;
  rank: number;
  /** Bytes per second. */
  speed: number;
  since: number;
}

/** Order in which connections are closed for new ones. Connections whose request is being processed are never closed. */
const [SLOW, IDLE, SENDING] = [0, 1, 2];

/** Share of the connections to choose at a time. Ranking all of them for every new connection would take too long. */
const BATCH_SHARE = 0.05;

/** Chooses the connections to close when there are too many, or when they hold too much memory. */
export function createEviction({ minBytesPerSecond, intervalMs, stallTimeoutMs }: EvictionOptions) {
  /** Connections to close next for new ones, in reverse order. */
  let batch: Candidate[] = [];
  let nextBatchAt = 0;

  function rankOf({ state, since }: Connection, speed: number, now: number): number | undefined {
    const isSlow = speed < Math.max(1, minBytesPerSecond);
    switch (state) {
      case 'idle':
        return IDLE;
      case 'sending':
        return isSlow ? SLOW : SENDING;
      case 'reading':
        return isSlow && now - since >= intervalMs ? SLOW : undefined;
      case 'processing':
        return undefined;
    }
  }

  /** Returns undefined if the connection must stay open. */
  function toCandidate(connection: Connection, now: number): Candidate | undefined {
    connection.updateState(now);
    const speed = connection.state === 'idle' ? 0 : connection.speed(now, intervalMs);
    const rank = rankOf(connection, speed, now);
    return rank === undefined ? undefined : { connection, rank, speed, since: connection.since };
  }

  /** Returns whether the connection is still open and no faster than when it was chosen. */
  function isUnchanged(victim: Candidate, now: number): boolean {
    const current = toCandidate(victim.connection, now);
    return !victim.connection.socket.destroyed && current?.rank === victim.rank && current.speed <= victim.speed;
  }

  return {
    /** Returns the connection to close for a new one: slow ones first, then idle ones, then those that are sending a request. */
    forNewConnection(connections: Iterable<Connection>, now: number): Connection | undefined {
      for (;;) {
        if (batch.length === 0 && now >= nextBatchAt) {
          const all = Array.from(connections);
          const victims = all.flatMap((connection) => toCandidate(connection, now) ?? []).sort(byOrder);
          batch = victims.slice(0, Math.ceil(BATCH_SHARE * all.length)).reverse();
          nextBatchAt = batch.length === 0 ? now + intervalMs : now;
        }
        const victim = batch.pop();
        if (victim === undefined || isUnchanged(victim, now)) {
          return victim?.connection;
        }
      }
    },

    /**
     * Returns the connections to close to free this many bytes, slowest first. Only clients qualify that are sending a request, or that would
     * need longer than the stall timeout to read the rest of their response.
     */
    forMemory(bytes: number, connections: Iterable<Connection>, now: number): Connection[] {
      const candidates = Array.from(connections).flatMap((connection) => {
        connection.updateState(now);
        const { state, since, unsentBytes } = connection;
        const speed = connection.speed(now, intervalMs);
        const mayClose =
          state === 'sending' ||
          (state === 'reading' && now - since >= intervalMs && unsentBytes * 1_000 > speed * stallTimeoutMs);
        const held = mayClose ? connection.bufferedBytes : 0;
        return held > 0 ? { connection, rank: SLOW, speed, since, held } : [];
      });
      let missingBytes = bytes;
      const result: Connection[] = [];
      for (const { connection, held } of candidates.sort(byOrder)) {
        if (missingBytes <= 0) {
          break;
        }
        missingBytes -= held;
        result.push(connection);
      }
      return result;
    },
  };
}

/** Sorts by rank, then slowest first, then longest in the current state. */
const byOrder = (a: Candidate, b: Candidate): number => a.rank - b.rank || a.speed - b.speed || a.since - b.since;
