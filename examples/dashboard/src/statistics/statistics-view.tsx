import { useState } from 'react';
import { useQuery } from 'urql';
import { StatisticsDocument } from '../documents.gen.ts';
import { ReadFailure } from '../failures/read-failure.tsx';
import { Permitted } from '../session/permitted.tsx';
import { useKept } from '../shell/use-kept.ts';
import { View } from '../shell/view.tsx';
import { Button } from '../ui/button.tsx';
import { Empty } from '../ui/empty.tsx';
import { Skeleton } from '../ui/skeleton.tsx';
import { DAYS, type Day, validDays } from './day.ts';
import { DayChart } from './day-chart.tsx';
import { DayDetails } from './day-details.tsx';
import { Figures } from './figures.tsx';
import { StatisticsTable } from './statistics-table.tsx';

/** Notifications per day. */
export function StatisticsView() {
  return (
    <View title="Statistics" lead={`Notifications sent in the last ${DAYS} days (UTC).`}>
      <Permitted scope="stats:read" what="statistics">
        <Statistics />
      </Permitted>
    </View>
  );
}

function Statistics() {
  const [{ data, error, stale }, execute] = useQuery({
    query: StatisticsDocument,
    variables: { days: DAYS },
  });
  const [chosenKey, setChosenKey] = useState<string>();
  const days = validDays(useKept(data?.notificationStats));
  const choose = ({ key }: Day) => setChosenKey(key);
  const reload = () => execute({ requestPolicy: 'network-only' });

  const failure = error && <ReadFailure error={error} onRetry={reload} />;

  if (!days) {
    return failure ?? <Skeleton label="statistics" rows={6} />;
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
    <>
      {failure}
      <Figures days={days} busiest={busiest} />
      <section className="card" aria-labelledby="chart-title">
        <div className="card-head">
          <h2 id="chart-title">Notifications per day</h2>
          <Button kind="quiet" isBusy={stale} onClick={reload}>
            Refresh
          </Button>
        </div>
        <DayChart days={days} chosen={chosen} onChoose={choose} />
        <StatisticsTable days={days} />
      </section>
      <DayDetails day={chosen} days={days} onChoose={choose} />
    </>
  );
}

function busiestOf(days: readonly Day[]): Day | undefined {
  const [first] = days.toSorted((a, b) => b.count - a.count);
  return first && first.count > 0 ? first : undefined;
}
