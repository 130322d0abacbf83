/**
 * Runs work that ends when its parent ends or its time is over, whichever comes first. The parent's signal is joined, not
 * replaced; timer and listener are gone when the work is done.
 */
export async function withTimeLimit<T>(
  parent: AbortSignal,
  milliseconds: number,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const follow = () => controller.abort(parent.reason);
  const expire = () => controller.abort(new DOMException('The time is over.', 'TimeoutError'));
  if (parent.aborted) {
    follow();
  }
  parent.addEventListener('abort', follow, { once: true });
  const timer = setTimeout(expire, milliseconds);
  try {
    return await work(controller.signal);
  } finally {
    clearTimeout(timer);
    parent.removeEventListener('abort', follow);
  }
}

/** Settles with the promise, or rejects with the signal's reason as soon as it is aborted; the promise itself goes on. */
export async function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const leave = () => reject(signal.reason);
  signal.addEventListener('abort', leave, { once: true });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener('abort', leave);
  }
}

/** Waits; rejects with the signal's reason as soon as it is aborted. */
export async function sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, milliseconds);
  try {
    await orAborted(promise, signal);
  } finally {
    clearTimeout(timer);
  }
}
