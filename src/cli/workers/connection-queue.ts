import type { Socket } from 'node:net';
import { createCondition } from '../../lib/condition.ts';

/** Process that can take connections. */
export interface Taker {
  /** Number of its open connections. */
  readonly connections: number;
  /** Whether it can be given a connection now. */
  readonly isFree: boolean;
  /** Passes a connection on. */
  give(connection: Socket): void;
}

/** Maximum number of connections that a worker may have above the lowest number. Counts are up to half a second old. */
const MAX_LEAD = 2;

/** Maximum connections that wait for a worker. One more is closed. */
const MAX_WAITING = 10_000;

/**
 * Passes connections on to workers in turn, except to those that have more than others. A worker gets the next connection when it has taken
 * the last one, so that a busy one gets fewer, and a stopped one none.
 */
export function createConnectionQueue<Worker extends Taker>() {
  const waiting: Socket[] = [];
  /** Workers, the next in turn first. */
  const workers: Worker[] = [];
  const empty = createCondition(() => waiting.length === 0 || workers.length === 0);

  function choose(): Worker | undefined {
    const free = workers.filter(({ isFree }) => isFree);
    const fewest = Math.min(...free.map(({ connections }) => connections));
    return free.find(({ connections }) => connections <= fewest + MAX_LEAD);
  }

  function remove(worker: Worker): void {
    const index = workers.indexOf(worker);
    if (index >= 0) {
      workers.splice(index, 1);
    }
  }

  /** Passes on waiting connections. */
  function pass(): void {
    for (let worker = choose(); worker !== undefined; worker = choose()) {
      const connection = waiting.shift();
      if (connection === undefined) {
        break;
      }
      remove(worker);
      workers.push(worker);
      worker.give(connection);
    }
    empty.check();
  }

  return {
    /** Waits until every connection is passed on, or no worker is left. */
    emptied: empty.met,
    /** Passes a connection on as soon as a worker is free. */
    add(connection: Socket): void {
      if (waiting.length >= MAX_WAITING) {
        connection.destroy();
        return;
      }
      waiting.push(connection);
      pass();
    },
    /** Passes on connections that a worker didn't take, before all others. */
    addFirst(connection: Socket): void {
      waiting.unshift(connection);
      pass();
    },
    addWorker(worker: Worker): void {
      workers.unshift(worker);
      pass();
    },
    removeWorker(worker: Worker): void {
      remove(worker);
      empty.check();
    },
    pass,
    /** Closes waiting connections. */
    close(): void {
      for (const connection of waiting.splice(0)) {
        connection.destroy();
      }
    },
  };
}
