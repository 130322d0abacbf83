import type { StatsEntryBody } from '../upstream/resources/stats.ts';
import { isLocalDate } from './scalars.ts';

const DAY_MS = 86_400_000;

const dayOf = (time: number): string => new Date(time).toISOString().slice(0, 10);

/** Maximum distance from today at which days are added, so that a date far off doesn't cause millions of entries. */
const MAX_DISTANCE_MS = 3_650 * DAY_MS;

/**
 * Adds an entry with count 0 for every missing day, oldest first.
 *
 * The period is the last `days` UTC days including today, or from the oldest entry to today if `days` is undefined. It is extended to
 * include every entry up to ten years from today. Entries further away are kept, without adding the days in between. Entries whose key is
 * not a date are kept at the end.
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
