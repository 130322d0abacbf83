import type { Signal } from '../transport/signal.ts';

/** Creates the error for a time limit that was exceeded. */
export const timeoutError = (): DOMException => new DOMException('The operation timed out.', 'TimeoutError');

/** Returns whether a failure or a signal's reason is a `TimeoutError`. */
export const isTimeoutError = (reason: unknown): boolean =>
  reason instanceof DOMException && reason.name === 'TimeoutError';

/**
 * Settles with the promise, or rejects with the signal's reason as soon as the signal is aborted. Doesn't stop the promise's work.
 *
 * @param onAbort called if the signal is aborted first
 */
export function rejectOnAbort<T>(promise: Promise<T>, signal: Signal, onAbort?: () => void): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => {
      reject(signal.reason);
      onAbort?.();
    };
    if (signal.aborted) {
      abort();
      return;
    }
    signal.addEventListener('abort', abort, { once: true });
    promise.then(
      (value) => {
        signal.removeEventListener('abort', abort);
        resolve(value);
      },
      (failure) => {
        signal.removeEventListener('abort', abort);
        reject(failure);
      },
    );
  });
}

/** Waits for the given time. Rejects with the signal's reason as soon as the signal is aborted. */
export async function sleep(milliseconds: number, signal: Signal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, milliseconds);
  try {
    await rejectOnAbort(promise, signal);
  } finally {
    clearTimeout(timer);
  }
}
