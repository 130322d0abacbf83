// Shows one day: what was sent, over which channels, by which workflows.

import { useState } from 'react';
import type { Channel } from '../documents.gen.ts';
import { useMay } from '../session/who-context.ts';
import { Button } from '../ui/button.tsx';
import { CHANNEL_NAMES, CHANNELS, type Day, partialDay } from './day.ts';
import { DayWorkflows } from './day-workflows.tsx';
import { formatCount, formatDay, formatSent } from './formats.ts';

interface DayDetailsProps {
  day: Day;
  days: readonly Day[];
  onChoose: (day: Day) => void;
}

export function DayDetails({ day, days, onChoose }: DayDetailsProps) {
  const mayRead = useMay('workflows:read');
  const count = day.workflowIds.length;
  const soFar = day === partialDay(days) ? ' so far' : '';
  return (
    <section className="card day-details" aria-labelledby="day-title">
      <div className="card-head">
        <h2 id="day-title">{formatDay(day)}</h2>
        <DaySteps day={day} days={days} onChoose={onChoose} />
      </div>
      {day.count === 0 ? (
        <p className="muted">Nothing was sent on this day{soFar}.</p>
      ) : (
        <>
          <p className="day-summary">
            <strong>{formatCount(day.count)}</strong> {day.count === 1 ? 'notification' : 'notifications'}
            {soFar}
          </p>
          <ChannelTags channels={day.channels} />
          <h3>
            Sent by {count} {count === 1 ? 'workflow' : 'workflows'}
          </h3>
          {mayRead ? (
            <DayWorkflows day={day} days={days} />
          ) : (
            <p className="muted">
              Their names require <code>workflows:read</code>.
            </p>
          )}
        </>
      )}
    </section>
  );
}

/** The channels of something, each as a small label. */
function ChannelTags({ channels }: { channels: readonly Channel[] }) {
  return (
    <span className="tags">
      {CHANNELS.filter((channel) => channels.includes(channel)).map((channel) => (
        <span key={channel} className="tag">
          {CHANNEL_NAMES[channel]}
        </span>
      ))}
    </span>
  );
}

/** Buttons for the previous and next day, because bars of the chart can be too narrow for a finger. Screen readers announce the new day. */
function DaySteps({ day, days, onChoose }: DayDetailsProps) {
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
