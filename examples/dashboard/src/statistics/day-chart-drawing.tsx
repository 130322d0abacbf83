import type { Channel } from '../documents.gen.ts';
import { CHANNEL_NAMES, type Day, formatCount, formatShortDay } from './day.ts';
import { scaleFor } from './scale.ts';

const TOP = 10;
const PLOT = 170;
const AXIS = 24;
const ROW = 18;
/** Room for a label of the axis, in pixels. */
const LABEL = 64;

export interface ChartLayout {
  width: number;
  /** Left edge of the first day. */
  left: number;
  /** The width of a day. */
  column: number;
  /** The channels that have a row. */
  channels: readonly Channel[];
}

interface DayChartDrawingProps {
  days: readonly Day[];
  chosen: Day;
  layout: ChartLayout;
}

/** The visible part of the chart, at its real size, so that its text isn't scaled. */
export function DayChartDrawing({ days, chosen, layout }: DayChartDrawingProps) {
  const { width, left, column, channels } = layout;
  const { top, ticks } = scaleFor(Math.max(...days.map(({ count }) => count)));
  const height = TOP + PLOT + AXIS + channels.length * ROW;
  const bottom = TOP + PLOT;
  const yOf = (count: number) => bottom - (count / top) * PLOT;
  const rowOf = (row: number) => bottom + AXIS + row * ROW + ROW / 2;
  const gap = Math.min(4, column * 0.25);
  const every = Math.ceil(LABEL / Math.max(1, column));
  const radius = Math.min(4, column * 0.28);

  return (
    <svg className="chart-drawing" width={width} height={height} viewBox={`0 0 ${width} ${height}`} aria-hidden="true">
      <rect className="chart-chosen" x={left + days.indexOf(chosen) * column} width={column} height={height} rx={4} />
      {ticks.map((tick) => (
        <g key={tick}>
          <line className="chart-grid" x1={left} x2={width} y1={yOf(tick)} y2={yOf(tick)} />
          <text className="chart-label" x={left - 8} y={yOf(tick)} textAnchor="end" dominantBaseline="middle">
            {formatCount(tick)}
          </text>
        </g>
      ))}
      {channels.map((channel, row) => (
        <text
          key={channel}
          className="chart-label"
          x={left - 8}
          y={rowOf(row)}
          textAnchor="end"
          dominantBaseline="middle"
        >
          {CHANNEL_NAMES[channel]}
        </text>
      ))}
      {days.map((day, i) => {
        const x = left + i * column;
        const middle = x + column / 2;
        // From the last day backwards: the newest always has a label, all of it inside the drawing.
        const hasLabel = (days.length - 1 - i) % every === Math.floor(every / 2);
        return (
          <g key={day.key} className={day === chosen ? 'chart-day chart-day-chosen' : 'chart-day'}>
            <rect
              className="chart-bar"
              x={x + gap / 2}
              y={yOf(day.count)}
              width={Math.max(1, column - gap)}
              height={bottom - yOf(day.count)}
              rx={Math.min(3, column / 4)}
            />
            {hasLabel && (
              <text className="chart-label" x={middle} y={bottom + 15} textAnchor="middle">
                {formatShortDay(day)}
              </text>
            )}
            {channels.map((channel, row) => (
              <circle
                key={channel}
                className={day.channels.includes(channel) ? 'chart-dot' : 'chart-dot chart-dot-off'}
                cx={middle}
                cy={rowOf(row)}
                r={day.channels.includes(channel) ? radius : radius / 2}
              />
            ))}
          </g>
        );
      })}
    </svg>
  );
}
