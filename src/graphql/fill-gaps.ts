import type { StatsEntryBody } from '../upstream/resources/stats.ts';
import { isLocalDate } from './scalars.ts';

const DAY_MS = 86_400_000;

const dayOf = (time: number): string => new Date(time).toISOString().slice(0, 10);

/** Days are added no further from today: a date that is far off must not become millions of entries. */
const MAX_DISTANCE_MS = 3_650 * DAY_MS;

/**
 * Adds an entry with count 0 for every day that is missing, oldest first.
 *
 * The span is the `days` UTC days that end today; without `days`, from the oldest entry to today. It grows to hold every entry
 * that the service sent, up to ten years from today; entries further off stay, without days in between. Entries that are no days
 * stay too, at the end.
 */
export function fillGaps(entries: readonly StatsEntryBody[], days: number | undefined, now: Date): StatsEntryBody[] {
  const byDay = new Map(entries.filter(({ _id }) => isLocalDate(_id)).map((entry) => [entry._id, entry]));
  const others = entries.filter(({ _id }) => !byDay.has(_id));
  if (byDay.size === 0 && days === undefined) {
    return others;
  }
  const today = Date.parse(dayOf(now.getTime()));
  let first = days === undefined ? today : today - (days - 1) * DAY_MS;
  let last = today;
  const early: StatsEntryBody[] = [];
  const late: StatsEntryBody[] = [];
  for (const [day, entry] of byDay) {
    const time = Date.parse(day);
    if (Math.abs(time - today) <= MAX_DISTANCE_MS) {
      first = Math.min(first, time);
      last = Math.max(last, time);
    } else {
      (time < today ? early : late).push(entry);
    }
  }
  const filled: StatsEntryBody[] = [];
  for (let time = first; time <= last; time += DAY_MS) {
    const day = dayOf(time);
    filled.push(byDay.get(day) ?? { _id: day, count: 0, templates: [], channels: [] });
  }
  return [...early, ...filled, ...late, ...others];
}
