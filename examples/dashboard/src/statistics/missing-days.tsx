import type { Day } from './day.ts';
import { formatShortDay } from './formats.ts';

/** Empty days at the beginning of a period that may be more than a quiet week. */
const SUSPICIOUS = 8;

/** Says that the oldest part of a period is empty: the service doesn't tell quiet days from those it has forgotten. */
export function MissingDays({ days }: { days: readonly Day[] }) {
  const first = days.findIndex(({ count }) => count > 0);
  const day = days[first];
  return (
    day &&
    first >= SUSPICIOUS && (
      <p className="muted">
        The service has nothing before {formatShortDay(day)}. It may not keep statistics for longer.
      </p>
    )
  );
}
