import { Abort, type Signal } from '../transport/signal.ts';
import { orAborted } from './abortable.ts';
import { createPerCredential } from './per-credential.ts';

/** One upstream call that several readers wait for. */
interface SharedRead<T> {
  address: string;
  readers: number;
  result: Promise<T>;
  controller: Abort;
  isSettled: boolean;
}

/** Reads of one upstream that are on their way. */
export interface Coalescing<T> {
  /**
   * Joins the read of the same credential and address that is on its way, or starts it. A reader who leaves (by its signal) aborts the
   * upstream call only when nobody else waits for it.
   *
   * @param start makes the call; its signal is that of all readers together
   */
  read(credential: string, address: string, signal: Signal, start: (signal: Signal) => Promise<T>): Promise<T>;
  /** Runs a write; no read that starts after it began, or after it ended, joins one that started before. */
  write(credential: string, work: () => Promise<T>): Promise<T>;
}

/** Lets identical reads in flight share one upstream call, within one credential alone. */
export function createCoalescing<T>(): Coalescing<T> {
  /** What can still be joined: a list, for a credential has few calls on their way. */
  const joinable = createPerCredential<SharedRead<T>[]>(
    () => [],
    (reads) => reads.length === 0,
  );

  function close(reads: SharedRead<T>[], shared: SharedRead<T>): void {
    const at = reads.indexOf(shared);
    if (at >= 0) {
      reads.splice(at, 1);
    }
  }

  function open(reads: SharedRead<T>[], address: string, start: (signal: Signal) => Promise<T>): SharedRead<T> {
    const controller = new Abort();
    const shared: SharedRead<T> = { address, readers: 0, controller, isSettled: false, result: start(controller) };
    reads.push(shared);
    const settled = () => {
      shared.isSettled = true;
      close(reads, shared);
    };
    shared.result.then(settled, settled);
    return shared;
  }

  return {
    read(credential, address, signal, start) {
      const reads = joinable.of(credential);
      const shared = reads.find((read) => read.address === address) ?? open(reads, address, start);
      shared.readers += 1;
      return orAborted(shared.result, signal, () => {
        shared.readers -= 1;
        if (shared.readers === 0 && !shared.isSettled) {
          close(reads, shared);
          shared.controller.abort(signal.reason);
        }
      });
    },
    async write(credential, work) {
      const reads = joinable.of(credential);
      reads.length = 0;
      try {
        return await work();
      } finally {
        reads.length = 0;
      }
    },
  };
}
