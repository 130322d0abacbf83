import type { StatsEntryBody } from '../upstream/resources/stats.ts';
import { isLocalDate } from './scalars.ts';

const DAY_MS = 86_400_000;

const dayOf = (time: number): string => new Date(time).toISOString().slice(0, 10);

/**
 * Adds an entry with count 0 for every day that is missing, oldest first.
 *
 * The span is the `days` UTC days that end today; without `days`, from the oldest entry to today. It grows to hold every entry
 * that the service sent. Entries that are no days stay, at the end.
 */
export function fillGaps(entries: readonly StatsEntryBody[], days: number | undefined, now: Date): StatsEntryBody[] {
  const byDay = new Map(entries.filter(({ _id }) => isLocalDate(_id)).map((entry) => [entry._id, entry]));
  const others = entries.filter(({ _id }) => !byDay.has(_id));
  const known = [...byDay.keys()].map((day) => Date.parse(day));
  const today = Date.parse(dayOf(now.getTime()));
  const window = days === undefined ? [] : [today - (days - 1) * DAY_MS];
  if (known.length + window.length === 0) {
    return others;
  }
  const first = Math.min(...known, ...window);
  const last = Math.max(...known, today);
  const filled: StatsEntryBody[] = [];
  for (let time = first; time <= last; time += DAY_MS) {
    const day = dayOf(time);
    filled.push(byDay.get(day) ?? { _id: day, count: 0, templates: [], channels: [] });
  }
  return [...filled, ...others];
}
