// Shows the days of a period as figures and as a chart, beside the details of one of them.

import { useEffect } from 'react';
import { useQuery } from 'urql';
import { StatisticsDocument } from '../documents.gen.ts';
import { ReadFailure } from '../failures/read-failure.tsx';
import { Refresh } from '../shell/refresh.tsx';
import { useKept } from '../shell/use-kept.ts';
import { Empty } from '../ui/empty.tsx';
import { type Day, validDays } from './day.ts';
import { DayChart } from './day-chart.tsx';
import { DayDetails } from './day-details.tsx';
import { Figures } from './figures.tsx';
import { formatShortDay } from './formats.ts';
import { loadDayBars } from './lazy-day-bars.tsx';
import { StatisticsTable } from './statistics-table.tsx';

interface StatisticsProps {
  /** Number of days. */
  range: number;
  /** Key of the day with details. @default the newest day with notifications */
  chosenKey: string | undefined;
  onChoose: (day: Day) => void;
}

export function Statistics({ range, chosenKey, onChoose }: StatisticsProps) {
  const [result, execute] = useQuery({ query: StatisticsDocument, variables: { days: range } });
  const { data, error } = result;
  const days = validDays(useKept(data?.notificationStats));
  useEffect(() => void loadDayBars(), []); // Together with the data.
  const reload = () => execute({ requestPolicy: 'network-only' });
  const failure = error && <ReadFailure error={error} onRetry={reload} />;

  if (!days) {
    return failure ?? <StatisticsSkeleton />;
  }
  const busiest = busiestOf(days);
  if (busiest === undefined) {
    return (
      <Empty title="Nothing was sent in this period.">
        <p>As soon as a workflow is triggered, it appears here.</p>
      </Empty>
    );
  }
  const chosen = days.find(({ key }) => key === chosenKey) ?? days.findLast(({ count }) => count > 0) ?? busiest;
  return (
    <div className="statistics">
      {failure}
      <Figures days={days} busiest={busiest} />
      <div className="statistics-columns">
        <section className="card" aria-labelledby="chart-title">
          <div className="card-head">
            <h2 id="chart-title">Notifications per day</h2>
            <Refresh result={result} onRefresh={reload} />
          </div>
          <DayChart days={days} chosen={chosen} onChoose={onChoose} />
          <MissingDays days={days} />
          <StatisticsTable days={days} />
        </section>
        <DayDetails day={chosen} days={days} onChoose={onChoose} />
      </div>
    </div>
  );
}

function busiestOf(days: readonly Day[]): Day | undefined {
  const [first] = days.toSorted((a, b) => b.count - a.count);
  return first && first.count > 0 ? first : undefined;
}

/** Empty days at the beginning of a period that may be more than a quiet week. */
const SUSPICIOUS = 8;

/** Says that the oldest part of a period is empty: the service doesn't tell quiet days from those it has forgotten. */
function MissingDays({ days }: { days: readonly Day[] }) {
  const first = days.findIndex(({ count }) => count > 0);
  const day = days[first];
  return (
    day &&
    first >= SUSPICIOUS && (
      <p className="muted">
        The service has nothing before {formatShortDay(day)}. It may not keep statistics for longer.
      </p>
    )
  );
}

const FIGURES = ['Notifications', 'Average day', 'Busiest day', 'Channels used'];

/** A placeholder for the statistics while they are loaded. The chart appears in its place. */
function StatisticsSkeleton() {
  return (
    <div className="statistics" role="status">
      <span className="visually-hidden">Loading statistics…</span>
      <div className="figures" aria-hidden="true">
        {FIGURES.map((figure) => (
          <div key={figure}>
            <span className="skeleton-row" />
          </div>
        ))}
      </div>
      <div className="statistics-columns" aria-hidden="true">
        <div className="card">
          <div className="card-head">
            <span className="skeleton-row title-skeleton" />
          </div>
          <div className="skeleton-row chart-skeleton" />
        </div>
        <div className="card">
          <div className="card-head">
            <span className="skeleton-row title-skeleton" />
          </div>
          <div className="skeleton-row" />
        </div>
      </div>
    </div>
  );
}
