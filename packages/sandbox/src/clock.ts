/** Returns the current time. Tests pass their own. */
export type Clock = () => Date;

/** Length of a day, in milliseconds. */
export const DAY_MS = 86_400_000;

/** Returns the UTC day of a time, `YYYY-MM-DD`. */
export function dayOf(time: Date): string {
  return time.toISOString().slice(0, 10);
}

/** Returns the UTC day `count` days before a time. */
export function dayBefore(time: Date, count: number): string {
  return dayOf(new Date(time.getTime() - count * DAY_MS));
}
