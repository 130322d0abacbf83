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
 * One bar per day, with the channels below. An invisible radio button per day lies over the drawing, so that mouse, arrow keys and screen
 * readers can choose days.
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
