import { useEffect } from 'react';
import { useQuery } from 'urql';
import { StatisticsDocument } from '../documents.gen.ts';
import { ReadFailure } from '../failures/read-failure.tsx';
import { Updated } from '../shell/updated.tsx';
import { useKept } from '../shell/use-kept.ts';
import { useLoadedAt } from '../shell/use-loaded-at.ts';
import { Button } from '../ui/button.tsx';
import { Empty } from '../ui/empty.tsx';
import { type Day, validDays } from './day.ts';
import { DayChart } from './day-chart.tsx';
import { DayDetails } from './day-details.tsx';
import { Figures } from './figures.tsx';
import { loadDayBars } from './lazy-day-bars.tsx';
import { MissingDays } from './missing-days.tsx';
import { StatisticsSkeleton } from './statistics-skeleton.tsx';
import { StatisticsTable } from './statistics-table.tsx';

interface StatisticsProps {
  /** Number of days. */
  range: number;
  /** Key of the day with details. @default the newest day with notifications */
  chosenKey: string | undefined;
  onChoose: (day: Day) => void;
}

/** The days of a period as figures and as a chart, beside the details of one of them. */
export function Statistics({ range, chosenKey, onChoose }: StatisticsProps) {
  const [result, execute] = useQuery({ query: StatisticsDocument, variables: { days: range } });
  const { data, error, stale } = result;
  const loadedAt = useLoadedAt(result);
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
            <span className="section-actions">
              <Updated at={loadedAt} />
              <Button kind="quiet" isBusy={stale} onClick={reload}>
                Refresh
              </Button>
            </span>
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
