import { useMay } from '../session/session-context.ts';
import { ChannelTags } from './channel-tags.tsx';
import { type Day, formatCount, formatDay } from './day.ts';
import { DaySteps } from './day-steps.tsx';
import { DayWorkflows } from './day-workflows.tsx';

interface DayDetailsProps {
  day: Day;
  days: readonly Day[];
  onChoose: (day: Day) => void;
}

/** One day: what was sent, over which channels, by which workflows. */
export function DayDetails({ day, days, onChoose }: DayDetailsProps) {
  const mayRead = useMay('workflows:read');
  const count = day.workflowIds.length;
  return (
    <section className="card" aria-labelledby="day-title">
      <div className="card-head">
        <h2 id="day-title" className="day-title" aria-live="polite">
          {formatDay(day)}
        </h2>
        <DaySteps day={day} days={days} onChoose={onChoose} />
      </div>
      {day.count === 0 ? (
        <p className="muted">Nothing was sent on this day.</p>
      ) : (
        <>
          <p className="day-summary">
            <strong>{formatCount(day.count)}</strong> {day.count === 1 ? 'notification' : 'notifications'}
            <ChannelTags channels={day.channels} />
          </p>
          <h3>
            {count} {count === 1 ? 'workflow' : 'workflows'} behind it
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
