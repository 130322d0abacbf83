import { useState } from 'react';
import { useQuery } from 'urql';
import { StatisticsDocument } from '../documents.gen.ts';
import { ReadFailure } from '../failures/read-failure.tsx';
import { Permitted } from '../session/permitted.tsx';
import { useKept } from '../shell/use-kept.ts';
import { DAYS, validDays } from '../statistics/day.ts';
import { Button } from '../ui/button.tsx';
import { Empty } from '../ui/empty.tsx';
import { pagesOfWorkflowIds } from './workflow-ids.ts';
import { WorkflowPage } from './workflow-page.tsx';
import { WorkflowSkeleton } from './workflow-skeleton.tsx';

const TITLE = `Sent in the last ${DAYS} days`;

/** The workflows in the statistics. */
export function UsedWorkflows({ hidden }: { hidden: ReadonlySet<string> }) {
  return (
    <Permitted scope="stats:read" what="statistics, which name the workflows">
      <Pages hidden={hidden} />
    </Permitted>
  );
}

function Pages({ hidden }: { hidden: ReadonlySet<string> }) {
  const [{ data, error }, execute] = useQuery({ query: StatisticsDocument, variables: { days: DAYS } });
  const days = validDays(useKept(data?.notificationStats));
  const [shown, setShown] = useState(1);

  if (!days) {
    return error ? (
      <ReadFailure error={error} onRetry={() => execute({ requestPolicy: 'network-only' })} />
    ) : (
      <section className="section" aria-label={TITLE}>
        <div className="section-head">
          <h2>{TITLE}</h2>
        </div>
        <WorkflowSkeleton rows={5} />
      </section>
    );
  }
  const pages = pagesOfWorkflowIds(days);
  if (pages.length === 0) {
    return (
      <Empty title="No workflow sent anything in this period.">
        <p>As soon as one is triggered, it appears here.</p>
      </Empty>
    );
  }
  return (
    <>
      {pages.slice(0, shown).map((ids, page) => (
        <WorkflowPage key={ids[0]} ids={ids} hidden={hidden} {...(page === 0 && { title: TITLE })} />
      ))}
      {shown < pages.length && <Button onClick={() => setShown(shown + 1)}>Show more</Button>}
    </>
  );
}
