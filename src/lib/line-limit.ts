// Limits the log lines about what clients can invent in any number.

const MINUTE_MS = 60_000;

/**
 * Creates a function that tells whether to log a line about a subject now: not again within a minute, and not about more than `max` subjects in it.
 *
 * @param now monotonic clock, in milliseconds
 */
export function limitLines(max: number, now: () => number): (subject: string) => boolean {
  const loggedAt = new Map<string, number>(); // In the order of their times.
  return (subject) => {
    const time = now();
    for (const [earlier, at] of loggedAt) {
      if (time - at < MINUTE_MS) {
        break;
      }
      loggedAt.delete(earlier);
    }
    const mayLog = !loggedAt.has(subject) && loggedAt.size < max;
    if (mayLog) {
      loggedAt.set(subject, time);
    }
    return mayLog;
  };
}
