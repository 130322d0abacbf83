// Checks for promises.

/** Checks whether a value is a promise or another thenable. */
export function isPromise(value: unknown): value is PromiseLike<unknown> {
  if ((typeof value !== 'object' || value === null) && typeof value !== 'function') {
    return false;
  }
  const { then }: { then?: unknown } = value;
  return typeof then === 'function';
}

/** Returns a promise whose rejection doesn't end the process if nothing handles it. */
export function ignoreRejection<Kind extends Promise<unknown>>(promise: Kind): Kind {
  promise.catch(ignore);
  return promise;
}

const ignore = (): void => {};
