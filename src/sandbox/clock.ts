/** Gives the current time; handed in, so that tests decide what day it is. */
export type Clock = () => Date;

export const DAY_MS = 86_400_000;

/** The UTC day of a moment, `YYYY-MM-DD`. */
export function dayOf(moment: Date): string {
  return moment.toISOString().slice(0, 10);
}

/** The UTC day that lies `count` days before a moment. */
export function dayBefore(moment: Date, count: number): string {
  return dayOf(new Date(moment.getTime() - count * DAY_MS));
}
