// Labels the time axis of the chart.

import { type Day, isToday, partialDay } from './day.ts';
import { formatShortDay } from './formats.ts';

/** A label of the time axis. */
export interface Tick {
  /** The day's key. */
  key: string;
  lines: readonly string[];
}

const WEEKDAY = new Intl.DateTimeFormat('en-GB', { timeZone: 'UTC', weekday: 'short' });

const MONDAY = 1;

/** Labels every day of a week, and Mondays of longer periods. Only the first label of a month has its name. */
export function ticksOf(days: readonly Day[]): Tick[] {
  const isWeek = days.length <= 7;
  // On a phone, more than six labels would overlap.
  const distance = isWeek ? 1 : days.length / 6;
  const last = partialDay(days);
  const end = last === undefined ? 0 : days.indexOf(last);
  const ticks: Tick[] = [];
  let before: { at: number; month: number } | undefined;

  for (const [at, day] of days.entries()) {
    const date = new Date(day.date ?? Number.NaN);
    const isPlace = isWeek || date.getUTCDay() === MONDAY;
    const hasRoom = at - (before?.at ?? -distance) >= distance && end - at >= distance;
    if (at === end || (isPlace && hasRoom)) {
      const month = date.getUTCMonth();
      const short = month === before?.month ? String(date.getUTCDate()) : formatShortDay(day);
      const name = isToday(day) ? 'Today' : WEEKDAY.format(date);
      ticks.push({ key: day.key, lines: isWeek ? [name, short] : [isToday(day) ? name : short] });
      before = { at, month };
    }
  }
  return ticks;
}
