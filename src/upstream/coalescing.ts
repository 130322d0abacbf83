import { orAborted } from './time-limit.ts';

/** One upstream call that several readers wait for. */
interface SharedRead<T> {
  readers: number;
  result: Promise<T>;
  controller: AbortController;
}

/** Reads of one upstream that are on their way. */
export interface Coalescing<T> {
  /**
   * Joins the read of the same credential and address that is on its way, or starts it. A reader who leaves (by its signal) aborts the
   * upstream call only when nobody else waits for it.
   *
   * @param start makes the call; its signal is that of all readers together
   */
  read(
    credential: string,
    address: string,
    signal: AbortSignal,
    start: (signal: AbortSignal) => Promise<T>,
  ): Promise<T>;
  /** Runs a write; no read that starts after it began, or after it ended, joins one that started before. */
  write(credential: string, work: () => Promise<T>): Promise<T>;
}

/** Lets identical reads in flight share one upstream call, within one credential alone. */
export function createCoalescing<T>(): Coalescing<T> {
  /** What can still be joined, by credential and address. */
  const joinable = new Map<string, Map<string, SharedRead<T>>>();

  function close(credential: string, address: string, shared: SharedRead<T>): void {
    const reads = joinable.get(credential);
    if (reads?.get(address) === shared) {
      reads.delete(address);
      if (reads.size === 0) {
        joinable.delete(credential);
      }
    }
  }

  function open(credential: string, address: string, start: (signal: AbortSignal) => Promise<T>): SharedRead<T> {
    const controller = new AbortController();
    const shared: SharedRead<T> = { readers: 0, controller, result: start(controller.signal) };
    const reads = joinable.get(credential) ?? new Map<string, SharedRead<T>>();
    joinable.set(credential, reads.set(address, shared));
    const settled = () => close(credential, address, shared);
    shared.result.then(settled, settled);
    return shared;
  }

  return {
    async read(credential, address, signal, start) {
      const shared = joinable.get(credential)?.get(address) ?? open(credential, address, start);
      shared.readers += 1;
      try {
        return await orAborted(shared.result, signal);
      } finally {
        shared.readers -= 1;
        if (shared.readers === 0) {
          close(credential, address, shared);
          shared.controller.abort(signal.reason); // Does nothing to a call that has ended.
        }
      }
    },
    async write(credential, work) {
      joinable.delete(credential);
      try {
        return await work();
      } finally {
        joinable.delete(credential);
      }
    },
  };
}
