/** Measures the time during which at least one call of an operation is in flight. Exists only if the request asked for it. */
export class CallTimer {
  #inFlight = 0;
  #startedAt = 0;
  #endedMs = 0;

  /** Called before a call starts. */
  start(): void {
    if (this.#inFlight === 0) {
      this.#startedAt = performance.now();
    }
    this.#inFlight += 1;
  }

  /** Called when a call has ended. */
  end(): void {
    this.#inFlight -= 1;
    if (this.#inFlight === 0) {
      this.#endedMs += performance.now() - this.#startedAt;
    }
  }

  /** Returns the time so far, in milliseconds. */
  elapsedMs(): number {
    return this.#endedMs + (this.#inFlight === 0 ? 0 : performance.now() - this.#startedAt);
  }
}
