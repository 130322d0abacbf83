// Shows the chart of all days.

import { Suspense, useRef, useState } from 'react';
import { type Day, isToday, partialDay } from './day.ts';
import { formatDay, formatDayStart, formatSent } from './formats.ts';
import { LazyDayBars } from './lazy-day-bars.tsx';

interface DayChartProps {
  days: readonly Day[];
  chosen: Day;
  onChoose: (day: Day) => void;
}

/** An invisible range input lets arrow keys and screen readers go through the days. */
export function DayChart({ days, chosen, onChoose }: DayChartProps) {
  const input = useRef<HTMLInputElement>(null);
  const [isScrolling, setIsScrolling] = useState(false);
  const partial = partialDay(days);
  const dayStart = formatDayStart(chosen);
  return (
    <div className="chart">
      <input
        ref={input}
        type="range"
        className="visually-hidden"
        aria-label="Day"
        aria-valuetext={`${formatDay(chosen)}: ${formatSent(chosen, days)}`}
        max={days.length - 1}
        value={days.indexOf(chosen)}
        onChange={({ target }) => {
          const day = days[target.valueAsNumber];
          if (day) {
            onChoose(day);
          }
        }}
      />
      <div
        className="chart-drawing"
        aria-hidden="true"
        onPointerDown={() => setIsScrolling(false)}
        onPointerCancel={() => setIsScrolling(true)}
      >
        <Suspense fallback={<div className="skeleton-row chart-skeleton" />}>
          <LazyDayBars
            days={days}
            chosen={chosen}
            isScrolling={isScrolling}
            onChoose={(day) => {
              onChoose(day);
              input.current?.focus({ preventScroll: true }); // Arrow keys go on from there.
            }}
          />
        </Suspense>
      </div>
      <p className="fine-print">
        {partial && `${isToday(partial) ? 'Today' : 'The last day'} (outlined) is counted so far. `}
        Days are UTC{dayStart !== undefined && ` and begin at ${dayStart} your time`}.
      </p>
    </div>
  );
}
