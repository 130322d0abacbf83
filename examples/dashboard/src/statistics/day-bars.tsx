// Shows the visible part of the chart: one bar per day, with the value above the chosen one.

import { useEffect, useState } from 'react';
import {
  Bar,
  BarChart,
  type BarShapeProps,
  CartesianGrid,
  LabelList,
  type MouseHandlerDataParam,
  Rectangle,
  ReferenceArea,
  Tooltip,
  XAxis,
  type XAxisTickContentProps,
  YAxis,
} from 'recharts';
import { type Day, partialDay } from './day.ts';
import { formatCompact, formatCount, formatDay, formatSent } from './formats.ts';
import { type Tick, ticksOf } from './ticks.ts';

const MARGIN = { top: 20, right: 16, bottom: 4, left: 0 };
const STYLE = { width: '100%', height: '100%', cursor: 'pointer' };
const NONE = [] as const;
const LINE = 15;

interface DayBarsProps {
  days: readonly Day[];
  chosen: Day;
  /** Whether the finger on the chart scrolls the page. */
  isScrolling: boolean;
  onChoose: (day: Day) => void;
}

export function DayBars({ days, chosen, isScrolling, onChoose }: DayBarsProps) {
  const ticks = ticksOf(days);
  const partial = partialDay(days);

  const dayOf = (label: string | number | undefined) => days.find(({ key }) => key === label);

  function choose({ activeLabel, isTooltipActive }: MouseHandlerDataParam) {
    const day = dayOf(activeLabel);
    if (day && isTooltipActive) {
      onChoose(day);
    }
  }

  return (
    <BarChart
      responsive
      style={STYLE}
      data={days}
      margin={MARGIN}
      barCategoryGap="12%"
      accessibilityLayer={false} // DayChart has an input for keys and screen readers.
      throttledEvents={NONE} // A tap is a move and a click at once.
      onMouseDown={(_, event) => event.preventDefault()} // Otherwise a layer of the drawing takes the focus.
      onClick={choose}
      onTouchEnd={(state) => !isScrolling && choose(state)}
    >
      <CartesianGrid className="chart-grid" vertical={false} />
      <ReferenceArea className="chart-chosen" x1={chosen.key} x2={chosen.key} />
      <XAxis
        dataKey="key"
        ticks={ticks.map(({ key }) => key)}
        interval={0}
        tick={(props: XAxisTickContentProps) => <AxisLabel ticks={ticks} {...props} />}
        tickLine={false}
        height={Math.max(...ticks.map(({ lines }) => lines.length)) * LINE + 10}
      />
      <YAxis
        width="auto"
        tickFormatter={formatCompact}
        allowDecimals={false}
        tickCount={4}
        niceTicks="snap125"
        tickLine={false}
        axisLine={false}
      />
      <Tooltip
        isAnimationActive={false}
        cursor={{ className: 'chart-cursor' }}
        content={({ label }) => {
          const day = dayOf(label);
          return day && <DayTip key={day.key} day={day} days={days} />;
        }}
      />
      <Bar
        dataKey="count"
        isAnimationActive={false}
        shape={({ originalDataIndex, x, y, width, height }: BarShapeProps) => {
          const day = days[originalDataIndex];
          const radius = Math.min(3, width / 3);
          return (
            <Rectangle
              className={`chart-bar ${day?.key === chosen.key ? 'chart-bar-chosen' : ''} ${day === partial ? 'chart-bar-partial' : ''}`}
              {...{ x, y, width, height }}
              radius={[radius, radius, 0, 0]}
            />
          );
        }}
      >
        <LabelList
          className="chart-value"
          dataKey={({ key, count }: Day) => (key === chosen.key ? formatCount(count) : undefined)}
          position="top"
        />
      </Bar>
    </BarChart>
  );
}

function AxisLabel({ ticks, x, y, index }: XAxisTickContentProps & { ticks: readonly Tick[] }) {
  return (
    <text className="chart-label" x={x} y={y} textAnchor="middle">
      {ticks[index]?.lines.map((line) => (
        <tspan key={line} x={x} dy={LINE}>
          {line}
        </tspan>
      ))}
    </text>
  );
}

/** The value of the day under the pointer or finger. Escape hides it, because it covers other days. */
function DayTip({ day, days }: { day: Day; days: readonly Day[] }) {
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
