import { createPerCredential } from '../../lib/per-credential.ts';
import { Abort, type Signal } from '../signal.ts';

/** Upstream call with one or more readers. */
interface SharedRead<T> {
  address: string;
  result: Promise<T>;
  controller: Abort;
  readers: Reader<T>[];
  isSettled: boolean;
}

/** Reader that waits for a shared call. */
interface Reader<T> {
  signal: Signal;
  onAbort: () => void;
  resolve: (result: T) => void;
  reject: (reason: unknown) => void;
}

/** Read that was started. */
export interface StartedRead<T> {
  result: Promise<T>;
  /** Resolves once later reads find the result elsewhere. Until then, they join this one. Never rejects. @default with the result */
  stored: Promise<void> | undefined;
}

/** In-flight reads that identical reads can join. */
export interface Coalescing<T> {
  /**
   * Joins the in-flight read with the same credential and address, or starts one. The upstream call is aborted once the signals of all
   * its readers are aborted.
   *
   * @param start makes the call; its signal is aborted once no reader is left
   */
  read(credential: string, address: string, signal: Signal, start: (signal: Signal) => StartedRead<T>): Promise<T>;
  /** Returns whether a read can be joined. */
  isReading(credential: string, address: string): boolean;
  /** Runs a write. Reads that start during the write don't join earlier ones, nor do reads that start after it. */
  write(credential: string, work: () => Promise<T>): Promise<T>;
}

/** Creates the policy that lets identical in-flight reads of one credential share one upstream call. */
export function createCoalescing<T>(): Coalescing<T> {
  // An array per credential, because a credential has few in-flight calls.
  const inFlight = createPerCredential<SharedRead<T>[]>(() => []);

  function stopSharing(reads: SharedRead<T>[], shared: SharedRead<T>): void {
    const at = reads.indexOf(shared);
    if (at >= 0) {
      reads.splice(at, 1);
    }
  }

  function startShared(credential: string, address: string, start: (signal: Signal) => StartedRead<T>): SharedRead<T> {
    const controller = new Abort();
    const { result, stored } = start(controller);
    const reads = inFlight.enter(credential);
    const shared: SharedRead<T> = { address, result, controller, readers: [], isSettled: false };
    reads.push(shared);
    const stop = () => {
      stopSharing(reads, shared);
      inFlight.leave(credential);
    };
    const settle = (respond: (reader: Reader<T>) => void) => {
      shared.isSettled = true;
      if (stored === undefined) {
        stop();
      }
      for (const reader of shared.readers) {
        reader.signal.removeEventListener('abort', reader.onAbort);
        respond(reader);
      }
    };
    result.then(
      (value) => settle(({ resolve }) => resolve(value)),
      (failure: unknown) => settle(({ reject }) => reject(failure)),
    );
    stored?.then(stop, stop);
    return shared;
  }

  /** Settles with the shared call, or rejects with the signal's reason as soon as the signal is aborted. */
  function join(reads: SharedRead<T>[], shared: SharedRead<T>, signal: Signal): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const onAbort = () => {
      reject(signal.reason);
      shared.readers.splice(shared.readers.indexOf(reader), 1);
      if (shared.readers.length === 0) {
        stopSharing(reads, shared);
        shared.controller.abort(signal.reason);
      }
    };
    const reader: Reader<T> = { signal, onAbort, resolve, reject };
    shared.readers.push(reader);
    if (signal.aborted) {
      onAbort();
    } else {
      signal.addEventListener('abort', onAbort, { once: true });
    }
    return promise;
  }

  return {
    read(credential, address, signal, start) {
      const reads = inFlight.enter(credential);
      try {
        const shared = reads.find((read) => read.address === address) ?? startShared(credential, address, start);
        return shared.isSettled ? shared.result : join(reads, shared, signal);
      } finally {
        inFlight.leave(credential);
      }
    },
    isReading(credential, address) {
      const isReading = inFlight.enter(credential).some((read) => read.address === address);
      inFlight.leave(credential);
      return isReading;
    },
    async write(credential, work) {
      const reads = inFlight.enter(credential);
      reads.length = 0;
      try {
        return await work();
      } finally {
        reads.length = 0;
        inFlight.leave(credential);
      }
    },
  };
}
