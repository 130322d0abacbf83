// Ends whatever waits once the time of an operation is over, or its client has disconnected.

import { clientDisconnected, type Signal, timeoutError } from '../signal.ts';

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
  readonly #onTimeout = () => this.#pass(timeoutError());
  readonly #onDisconnect = () => this.#pass(clientDisconnected());
  #timer: NodeJS.Timeout | undefined;
  /** Reason why waiting was stopped; undefined if it wasn't. */
  reason: DOMException | undefined;

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
    return performance.now() >= this.at ? timeoutError() : this.reason; // The timer can be a fraction of a millisecond early.
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
    const at = this.#waiting.indexOf(waiting);
    if (at < 0) {
      return;
    }
    this.#waiting.splice(at, 1);
    if (this.#waiting.length === 0) {
      clearTimeout(this.#timer);
      this.#client.removeEventListener('abort', this.#onDisconnect);
    }
  }

  #pass(reason: DOMException): void {
    this.reason ??= reason;
    for (const waiting of [...this.#waiting]) {
      waiting.stop(reason);
    }
  }
}
