import { useEffect, useState } from 'react';
import type { Day } from './day.ts';
import { formatDay, formatSent } from './formats.ts';

/** The value of the day under the pointer or finger. Escape hides it, because it covers other days. */
export function DayTip({ day, days }: { day: Day; days: readonly Day[] }) {
  const [isHidden, setIsHidden] = useState(false);
  useEffect(() => {
    const onKeyDown = ({ key }: KeyboardEvent) => {
      if (key === 'Escape') {
        setIsHidden(true);
      }
    };
    addEventListener('keydown', onKeyDown);
    return () => removeEventListener('keydown', onKeyDown);
  }, []);
  return (
    !isHidden && (
      <div className="chart-tip">
        <span>{formatDay(day)}</span>
        <strong>{formatSent(day, days)}</strong>
      </div>
    )
  );
}
