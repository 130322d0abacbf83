// A clock that stands still until a test moves it.

/** Span of time. Its members are added up. */
export interface Duration {
  days?: number;
  hours?: number;
  minutes?: number;
  seconds?: number;
  milliseconds?: number;
}

/** Clock of a test gateway and its service. It stands still until it is moved. */
export interface TestClock {
  /** Returns the current time. */
  now(): Date;
  /** Moves the clock forward. @throws {RangeError} unless the duration is positive */
  advance(duration: Duration): void;
  /**
   * Sets the time. Cached data and an open circuit breaker only age: setting the clock back doesn't change them.
   *
   * @throws {RangeError} if the time is invalid
   */
  set(time: Date | string): void;
}

/**
 * Creates a clock, which also counts milliseconds that never decrease, for the gateway.
 *
 * @throws {RangeError} if the time is invalid
 */
export function createClock(start: Date | string): TestClock & { monotonicNow(): number } {
  let time = parseTime(start);
  let monotonic = performance.now();

  function moveTo(next: number): void {
    monotonic += Math.max(0, next - time);
    time = next;
  }

  return {
    now: () => new Date(time),
    monotonicNow: () => monotonic,
    advance({ days = 0, hours = 0, minutes = 0, seconds = 0, milliseconds = 0 }) {
      const span = (((days * 24 + hours) * 60 + minutes) * 60 + seconds) * 1_000 + milliseconds;
      if (!(span > 0 && Number.isFinite(span))) {
        throw new RangeError('A clock can only be advanced by a positive duration, such as { seconds: 30 }.');
      }
      moveTo(time + span);
    },
    set: (next) => moveTo(parseTime(next)),
  };
}

function parseTime(time: Date | string): number {
  const parsed = new Date(time).getTime();
  if (Number.isNaN(parsed)) {
    throw new RangeError(`The time "${String(time)}" is invalid. Use a Date or a text such as 2027-01-15T12:00:00Z.`);
  }
  return parsed;
}
