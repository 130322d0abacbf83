/** Longest time that timers support, in milliseconds. */
export const MAX_SLEEP_MS = 2 ** 31 - 1;

/** Waits. Rejects with the signal's reason as soon as the signal is aborted. */
export function sleep(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, milliseconds);
    signal?.addEventListener('abort', stop);
    if (signal?.aborted) {
      stop();
    }
  });
}
