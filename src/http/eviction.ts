import type { Connection } from './connection.ts';

export interface EvictionOptions {
  /** Speed below which a client counts as slow, in bytes per second. */
  minBytesPerSecond: number;
  /** Time between two measurements, in milliseconds. */
  intervalMs: number;
  /** Time in which a client must be able to read its response when memory is short, in milliseconds. */
  stallTimeoutMs: number;
}

/** Connection that may be closed, and what decides which one is closed first. */
interface Candidate {
  connection: Connection;
  rank: number;
  /** Bytes per second. */
  speed: number;
  since: number;
}

/** Order in which connections are closed for new ones. Those that the gateway is working for are not in it. */
const [SLOW, IDLE, SENDING] = [0, 1, 2];

/** Share of the connections that is chosen at a time: ranking all of them for every new connection would take too long. */
const CHOSEN_SHARE = 0.05;

/** Chooses the connections to close when there are too many, or when they hold too much memory. */
export function createEviction({ minBytesPerSecond, intervalMs, stallTimeoutMs }: EvictionOptions) {
  /** Next ones to close for new connections, the first one at the end. */
  let chosen: Candidate[] = [];
  let chooseAgainAt = 0;

  function rankOf({ turn, since }: Connection, speed: number, now: number): number | undefined {
    const isSlow = speed < Math.max(1, minBytesPerSecond);
    switch (turn) {
      case 'idle':
        return IDLE;
      case 'sending':
        return isSlow ? SLOW : SENDING;
      case 'reading':
        return isSlow && now - since >= intervalMs ? SLOW : undefined;
      case 'gateway':
        return undefined;
    }
  }

  /** Returns undefined if the connection must stay open. */
  function judge(connection: Connection, now: number): Candidate | undefined {
    connection.look(now);
    const speed = connection.turn === 'idle' ? 0 : connection.speed(now, intervalMs);
    const rank = rankOf(connection, speed, now);
    return rank === undefined ? undefined : { connection, rank, speed, since: connection.since };
  }

  /** Returns whether nothing has moved on it since it was chosen. */
  function isStill(victim: Candidate, now: number): boolean {
    const present = judge(victim.connection, now);
    return !victim.connection.socket.destroyed && present?.rank === victim.rank && present.speed <= victim.speed;
  }

  return {
    /** Returns the connection to close for a new one: the slowest, then idle ones, then those that send faster. */
    next(connections: Iterable<Connection>, now: number): Connection | undefined {
      for (;;) {
        if (chosen.length === 0 && now >= chooseAgainAt) {
          const all = Array.from(connections);
          const victims = all.flatMap((connection) => judge(connection, now) ?? []).sort(byOrder);
          chosen = victims.slice(0, Math.ceil(CHOSEN_SHARE * all.length)).reverse();
          chooseAgainAt = chosen.length === 0 ? now + intervalMs : now;
        }
        const victim = chosen.pop();
        if (victim === undefined || isStill(victim, now)) {
          return victim?.connection;
        }
      }
    },

    /**
     * Returns the connections to close so that as many bytes are free: the slowest of those that send, and of those that would need longer
     * than the stall timeout to read what is there for them.
     */
    holding(bytes: number, connections: Iterable<Connection>, now: number): Connection[] {
      const holders = Array.from(connections).flatMap((connection) => {
        connection.look(now);
        const { turn, since, unsentBytes } = connection;
        const speed = connection.speed(now, intervalMs);
        const mayClose =
          turn === 'sending' ||
          (turn === 'reading' && now - since >= intervalMs && unsentBytes * 1_000 > speed * stallTimeoutMs);
        const held = mayClose ? connection.heldBytes : 0;
        return held > 0 ? { connection, rank: SLOW, speed, since, held } : [];
      });
      let missing = bytes;
      const enough: Connection[] = [];
      for (const { connection, held } of holders.sort(byOrder)) {
        if (missing <= 0) {
          break;
        }
        missing -= held;
        enough.push(connection);
      }
      return enough;
    },
  };
}

/** Of two that are equally slow, the one that has been so for longer comes first. */
const byOrder = (a: Candidate, b: Candidate): number => a.rank - b.rank || a.speed - b.speed || a.since - b.since;
