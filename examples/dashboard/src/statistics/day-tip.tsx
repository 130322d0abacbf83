import type { Day } from './day.ts';
import { formatDay, formatSent } from './formats.ts';

/** The value of the day under the pointer or finger. */
export function DayTip({ days, dayKey }: { days: readonly Day[]; dayKey: string | number | undefined }) {
  const day = days.find(({ key }) => key === dayKey);
  return (
    day && (
      <div className="chart-tip">
        <span>{formatDay(day)}</span>
        <strong>{formatSent(day, days)}</strong>
      </div>
    )
  );
}
