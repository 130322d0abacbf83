import { useState } from 'react';
import { Button } from '../ui/button.tsx';
import type { Day } from './day.ts';
import { formatDay, formatSent } from './formats.ts';

interface DayStepsProps {
  day: Day;
  days: readonly Day[];
  onChoose: (day: Day) => void;
}

/** Buttons for the previous and next day, because bars of the chart can be too narrow for a finger. Screen readers announce the new day. */
export function DaySteps({ day, days, onChoose }: DayStepsProps) {
  const [announced, setAnnounced] = useState('');
  const at = days.indexOf(day);
  const step = (label: string, sign: string, to: Day | undefined) => (
    <Button
      aria-label={label}
      refusal={to === undefined ? 'There are no more days.' : undefined}
      onClick={() => {
        if (to) {
          onChoose(to);
          setAnnounced(`${formatDay(to)}: ${formatSent(to, days)}`);
        }
      }}
    >
      <span aria-hidden="true">{sign}</span>
    </Button>
  );
  return (
    <span className="day-steps">
      {step('Day before', '‹', days[at - 1])}
      {step('Day after', '›', days[at + 1])}
      <span className="visually-hidden" aria-live="polite">
        {announced}
      </span>
    </span>
  );
}
