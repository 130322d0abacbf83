// Limits the log lines about events that can come in thousands, and about what clients can invent in any number.

import type { Logger } from 'pino';

/** Time without an event after which an episode has ended, in milliseconds. A limit that is reached again and again is one episode. */
const QUIET_MS = 5_000;

/**
 * Creates a function that logs events which can come in thousands: one warning when they begin, and one when they have ended. Both are warnings, so
 * that a log of warnings shows how long it lasted. If 4,000 requests are shed in a minute, these two lines say so: the second has `requests: 4000`.
 *
 * For example, if 3,000 requests are rejected within two seconds, the lines are `began` with the limit and, five seconds after the last of them, `ended`
 * with `requests: 3000` and `ms: 2000`.
 *
 * @returns function of a key and of the fields of the first line. The key identifies the episode, by its kind and what it concerns. It is from a closed set,
 * because open episodes are kept. The fields in `both` are also in the line about its end. `message` replaces `began`
 */
export function logEpisodes(
  logger: Pick<Logger, 'warn'>,
  { began, ended }: { began: string; ended: string },
  quietMs = QUIET_MS,
) {
  const open = new Map<string, { count: number; timer: NodeJS.Timeout }>();

  return (key: string, describe: () => { both: object; first: object; message?: string }): void => {
    const current = open.get(key);
    if (current !== undefined) {
      current.count += 1;
      current.timer.refresh();
      return;
    }
    const { both, first, message = began } = describe();
    const startedAt = performance.now();
    const end = () => {
      open.delete(key);
      const ms = Math.round(performance.now() - startedAt - quietMs);
      logger.warn({ ...both, requests: episode.count, ms }, ended);
    };
    const episode = { count: 1, timer: setTimeout(end, quietMs).unref() };
    open.set(key, episode);
    logger.warn({ ...both, ...first }, message);
  };
}

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
