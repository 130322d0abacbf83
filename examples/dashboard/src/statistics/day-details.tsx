import { useMay } from '../session/session-context.ts';
import { ChannelTags } from './channel-tags.tsx';
import { type Day, partialDay } from './day.ts';
import { DaySteps } from './day-steps.tsx';
import { DayWorkflows } from './day-workflows.tsx';
import { formatCount, formatDay } from './formats.ts';

interface DayDetailsProps {
  day: Day;
  days: readonly Day[];
  onChoose: (day: Day) => void;
}

/** One day: what was sent, over which channels, by which workflows. */
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
