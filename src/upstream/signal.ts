// Aborts work without the cost of Node.js's `AbortController`, and creates the reasons for aborting it.

/** Subset of `AbortSignal` that the policies use. Every `AbortSignal` is a `Signal`. */
export interface Signal {
  readonly aborted: boolean;
  /** Reason of the abort; undefined until then. */
  readonly reason: unknown;
  addEventListener(type: 'abort', listener: () => void, options?: { once: boolean }): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

/**
 * Lightweight replacement for `AbortController`, which costs as much as a whole policy and is needed several times per request.
 * Listeners are called once, in the order they were added.
 */
export class Abort implements Signal {
  aborted = false;
  reason: unknown = undefined;
  #listeners: (() => void)[] | undefined;

  /** Aborts and calls the listeners. Does nothing if already aborted. */
  abort(reason?: unknown): void {
    if (this.aborted) {
      return;
    }
    this.aborted = true;
    this.reason = reason ?? new DOMException('This operation was aborted.', 'AbortError');
    const listeners = this.#listeners ?? [];
    this.#listeners = undefined;
    for (const listener of listeners) {
      listener();
    }
  }

  addEventListener(_type: 'abort', listener: () => void): void {
    if (this.#listeners === undefined) {
      this.#listeners = [listener]; // An empty array would reserve room for 17 on the first push.
    } else {
      this.#listeners.push(listener);
    }
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    const at = this.#listeners?.indexOf(listener) ?? -1;
    if (at >= 0) {
      this.#listeners?.splice(at, 1);
    }
  }
}

export const timeoutError = (): DOMException => new DOMException('The operation timed out.', 'TimeoutError');

/** Creates the reason for a disconnect. The client's own reason could be a `TimeoutError`, which would look like the deadline. */
export const clientDisconnected = (): DOMException => new DOMException('The client has disconnected.', 'AbortError');

/** Returns whether a failure or a signal's reason is a `TimeoutError`. */
export const isTimeoutError = (reason: unknown): boolean =>
  reason instanceof DOMException && reason.name === 'TimeoutError';
