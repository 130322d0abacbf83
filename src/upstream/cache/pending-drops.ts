/** Partitions that may have entries from before a write, because Redis couldn't be told about it. This process doesn't use them. */
export interface PendingDrops {
  /** Returns whether a partition must not be used. */
  has(partition: string): boolean;
  /** Adds a partition because a write begins that isn't marked. It is dropped after the write, unless the write isn't applied. */
  beginWrite(partition: string): UnmarkedWrite;
  /** Adds a partition to drop now, or else as soon as possible. */
  add(partition: string, holdMs: number): Promise<void>;
  /** Drops all that can be dropped. Called whenever Redis works again. */
  retry(): Promise<void>;
}

/** Write that isn't marked in Redis. */
export interface UnmarkedWrite {
  /**
   * Ends the write.
   *
   * @param holdMs time for which nothing may be stored, because the service may still apply the write
   */
  end(mayBeApplied: boolean, holdMs: number): Promise<void>;
}

/**
 * Drops a partition, or all if it is undefined. Resolves to false if that failed.
 *
 * @param holdMs time for which nothing may be stored in it
 */
export type Drop = (partition: string | undefined, holdMs: number) => Promise<boolean>;

interface PendingDrop {
  /** Writes in progress that aren't marked. */
  writes: number;
  /** Whether it must be dropped. */
  isDue: boolean;
  isBeingDropped: boolean;
  /** Time until which nothing may be stored. */
  holdUntil: number;
}

/** Stands for all partitions. */
const ALL = undefined;

/** Creates an empty set. If there are more than `maxPartitions`, all partitions are dropped. */
export function createPendingDrops(drop: Drop, maxPartitions: number): PendingDrops {
  const pending = new Map<string | undefined, PendingDrop>();

  /** Returns what is pending for a partition, or for all if there are too many. */
  function pendingFor(partition: string): [key: string | undefined, pending: PendingDrop] {
    const key = pending.has(partition) || pending.size < maxPartitions ? partition : ALL;
    const known = pending.get(key) ?? { writes: 0, isDue: false, isBeingDropped: false, holdUntil: 0 };
    pending.set(key, known);
    return [key, known];
  }

  /** Drops a partition if that is due, and forgets it if nothing is left to do. */
  async function settle(key: string | undefined, known: PendingDrop): Promise<void> {
    const holdMs = Math.max(0, known.holdUntil - performance.now());
    if (known.isDue && known.writes === 0 && !known.isBeingDropped) {
      known.isDue = false;
      known.isBeingDropped = true;
      const isDropped = await drop(key, holdMs);
      known.isBeingDropped = false;
      if (!isDropped) {
        known.isDue = true; // Redis is down; it is tried again when it is up.
        return;
      }
      if (key === ALL && holdMs > 0) {
        known.isDue = true; // Partitions can't be held all at once, so they are dropped again after that time.
        setTimeout(() => void settle(key, known), holdMs).unref();
        return;
      }
      await settle(key, known);
    } else if (!known.isDue && known.writes === 0 && !known.isBeingDropped) {
      pending.delete(key);
    }
  }

  /** Makes a partition due to be dropped, and held for a time. */
  function markDue(known: PendingDrop, holdMs: number): void {
    known.isDue = true;
    known.holdUntil = Math.max(known.holdUntil, performance.now() + holdMs);
  }

  return {
    has: (partition) => pending.size > 0 && (pending.has(partition) || pending.has(ALL)),
    beginWrite(partition) {
      const [key, known] = pendingFor(partition);
      known.writes += 1;
      return {
        end(mayBeApplied, holdMs) {
          known.writes -= 1;
          if (mayBeApplied) {
            markDue(known, holdMs);
          }
          return settle(key, known);
        },
      };
    },
    async add(partition, holdMs) {
      const [key, known] = pendingFor(partition);
      markDue(known, holdMs);
      await settle(key, known);
    },
    async retry() {
      for (const [key, known] of pending) {
        await settle(key, known);
      }
    },
  };
}
