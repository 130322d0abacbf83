import type { Signal } from '../transport/signal.ts';

/** What a time that is over is called. */
export const timeoutError = (): DOMException => new DOMException('The time is over.', 'TimeoutError');

/** Whether a failure or a signal's reason says so. */
export const isTimeoutError = (reason: unknown): boolean =>
  reason instanceof DOMException && reason.name === 'TimeoutError';

/**
 * Settles with the promise, or rejects with the signal's reason as soon as it is aborted; the promise itself goes on.
 *
 * @param onLeave called in the second case
 */
export function orAborted<T>(promise: Promise<T>, signal: Signal, onLeave?: () => void): Promise<T> {
  return new Promise((resolve, reject) => {
    const leave = () => {
      reject(signal.reason);
      onLeave?.();
    };
    if (signal.aborted) {
      leave();
      return;
    }
    signal.addEventListener('abort', leave, { once: true });
    promise.then(
      (value) => {
        signal.removeEventListener('abort', leave);
        resolve(value);
      },
      (failure) => {
        signal.removeEventListener('abort', leave);
        reject(failure);
      },
    );
  });
}

/** Waits; rejects with the signal's reason as soon as it is aborted. */
export async function sleep(milliseconds: number, signal: Signal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, milliseconds);
  try {
    await orAborted(promise, signal);
  } finally {
    clearTimeout(timer);
  }
}
