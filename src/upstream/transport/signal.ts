/** What the policies need of an `AbortSignal`; one is a `Signal` too. */
export interface Signal {
  readonly aborted: boolean;
  /** Why, once it is aborted. */
  readonly reason: unknown;
  addEventListener(type: 'abort', listener: () => void, options?: { once: boolean }): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

/**
 * Signal and controller in one, for what is made several times a request: an `AbortController` with its events costs as much as a
 * whole policy. Listeners run once, in the order they came.
 */
export class Abort implements Signal {
  aborted = false;
  reason: unknown = undefined;
  #listeners: (() => void)[] = [];

  /** Does nothing the second time. */
  abort(reason?: unknown): void {
    if (this.aborted) {
      return;
    }
    this.aborted = true;
    this.reason = reason ?? new DOMException('This operation was aborted.', 'AbortError');
    const listeners = this.#listeners;
    this.#listeners = [];
    for (const listener of listeners) {
      listener();
    }
  }

  addEventListener(_type: 'abort', listener: () => void): void {
    this.#listeners.push(listener);
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    const at = this.#listeners.indexOf(listener);
    if (at >= 0) {
      this.#listeners.splice(at, 1);
    }
  }
}
