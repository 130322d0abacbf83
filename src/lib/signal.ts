// Ends work early: when a client disconnects, or at the deadline of an operation.

import { removeItem } from './lists.ts';

/** Subset of `AbortSignal` that the policies use. Every `AbortSignal` is a `Signal`. */
export interface Signal {
  readonly aborted: boolean;
  addEventListener(type: 'abort', listener: () => void, options?: { once: boolean }): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

/**
 * Lightweight replacement for `AbortController`, which costs as much as a whole policy and is needed several times per request.
 * Listeners are called once, in the order they were added.
 */
export class Abort implements Signal {
  aborted = false;
  #listeners: (() => void)[] | undefined;

  /** Aborts and calls the listeners. Does nothing if already aborted. */
  abort(): void {
    if (this.aborted) {
      return;
    }
    this.aborted = true;
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
    if (this.#listeners !== undefined) {
      removeItem(this.#listeners, listener);
    }
  }
}

export const timeoutError = (): DOMException => new DOMException('The operation timed out.', 'TimeoutError');

/** Creates the reason for a disconnect. The client's own reason could be a `TimeoutError`, which would look like the deadline. */
const clientDisconnected = (): DOMException => new DOMException('The client has disconnected.', 'AbortError');

/** Returns whether a failure or a signal's reason is a `TimeoutError`. */
export const isTimeoutError = (reason: unknown): boolean =>
  reason instanceof DOMException && reason.name === 'TimeoutError';

/** Something that waits until a deadline at most. */
export interface Waiting {
  /** Called once if the deadline passes, or the client disconnects. */
  stop(reason: DOMException): void;
}

/** Deadline of an operation, or of a call in the background. It also passes when the client disconnects. */
export class Deadline {
  /** Time on the clock of `performance.now()`. */
  readonly at: number;
  readonly #client: Signal;
  readonly #waiting: Waiting[] = [];
  readonly #onTimeout = () => {
    this.#isOver = true;
    this.#stopAll(timeoutError());
  };
  readonly #onDisconnect = () => this.#stopAll(clientDisconnected());
  #timer: NodeJS.Timeout | undefined;
  /** Whether the timer has fired, which can be a fraction of a millisecond early. */
  #isOver = false;

  /** @param client aborted when the client disconnects */
  constructor(client: Signal, at: number) {
    this.#client = client;
    this.at = at;
  }

  /** Returns why nothing more may start; undefined if it may. */
  endReason(): DOMException | undefined {
    if (this.#client.aborted) {
      return clientDisconnected();
    }
    return this.#isOver || performance.now() >= this.at ? timeoutError() : undefined;
  }

  /** Adds something that waits. Timer and listener exist only while something does. */
  add(waiting: Waiting): void {
    this.#waiting.push(waiting);
    if (this.#waiting.length === 1) {
      this.#timer = setTimeout(this.#onTimeout, this.at - performance.now());
      this.#client.addEventListener('abort', this.#onDisconnect, { once: true });
    }
  }

  remove(waiting: Waiting): void {
    if (removeItem(this.#waiting, waiting) && this.#waiting.length === 0) {
      clearTimeout(this.#timer);
      this.#client.removeEventListener('abort', this.#onDisconnect);
    }
  }

  #stopAll(reason: DOMException): void {
    for (const waiting of [...this.#waiting]) {
      waiting.stop(reason);
    }
  }
}
