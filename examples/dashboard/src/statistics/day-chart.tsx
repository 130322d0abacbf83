import { useId, useRef } from 'react';
import { CHANNELS, type Day, formatChannels, formatCount, formatDay } from './day.ts';
import { type ChartLayout, DayChartDrawing } from './day-chart-drawing.tsx';
import { useWidth } from './use-width.ts';

const LEFT = 52;
const RIGHT = 4;

interface DayChartProps {
  days: readonly Day[];
  chosen: Day;
  onChoose: (day: Day) => void;
}

/**
 * A bar a day, with the channels of each below. The drawing is for the eye; over it lies one radio button a day, so that the mouse, the
 * arrow keys and screen readers all choose days in the way that they know.
 */
export function DayChart({ days, chosen, onChoose }: DayChartProps) {
  const frame = useRef<HTMLFieldSetElement>(null);
  const name = useId();
  const width = useWidth(frame);
  const layout: ChartLayout = {
    width,
    left: LEFT,
    column: Math.max(0, (width - LEFT - RIGHT) / days.length),
    channels: CHANNELS.filter((channel) => days.some(({ channels }) => channels.includes(channel))),
  };
  return (
    <fieldset className="chart" ref={frame}>
      <legend className="visually-hidden">Choose a day</legend>
      {width > 0 && <DayChartDrawing days={days} chosen={chosen} layout={layout} />}
      <div className="chart-days" style={{ left: LEFT, right: RIGHT }}>
        {days.map((day) => (
          <label key={day.key} title={`${formatDay(day)}: ${formatCount(day.count)}`}>
            <input
              type="radio"
              className="visually-hidden"
              name={name}
              checked={day.key === chosen.key}
              onChange={() => onChoose(day)}
            />
            <span className="visually-hidden">
              {formatDay(day)}: {formatCount(day.count)} {day.count === 1 ? 'notification' : 'notifications'},{' '}
              {formatChannels(day.channels)}
            </span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}
