import { useState } from 'react';
import { useQuery } from 'urql';
import { StatisticsDocument } from '../documents.gen.ts';
import { ReadFailure } from '../failures/read-failure.tsx';
import { useKept } from '../shell/use-kept.ts';
import { Permitted, useRefusal, View } from '../shell/view.tsx';
import { DAYS, validDays } from '../statistics/day.ts';
import { Button } from '../ui/button.tsx';
import { Empty } from '../ui/empty.tsx';
import { Note } from '../ui/note.tsx';
import { Skeleton } from '../ui/skeleton.tsx';
import { pagesOfWorkflowIds } from './workflow-ids.ts';
import { WorkflowPage } from './workflow-page.tsx';

/** Workflows that sent notifications. The service can't list workflows, but its statistics have their ids. */
export function WorkflowsView() {
  return (
    <View title="Workflows" lead={`Workflows that sent notifications in the last ${DAYS} days.`}>
      <Permitted scope="workflows:read" what="workflows">
        <Permitted scope="stats:read" what="statistics, which name the workflows">
          <Workflows />
        </Permitted>
      </Permitted>
    </View>
  );
}

function Workflows() {
  const [{ data, error }, execute] = useQuery({ query: StatisticsDocument, variables: { days: DAYS } });
  const days = validDays(useKept(data?.notificationStats));
  const [shown, setShown] = useState(1);
  const refusal = useRefusal('workflows:write');

  if (!days) {
    const retry = () => execute({ requestPolicy: 'network-only' });
    return error ? <ReadFailure error={error} onRetry={retry} /> : <Skeleton label="workflows" rows={5} />;
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
      {refusal !== undefined && (
        <Note kind="info">
          <p>{refusal}</p>
        </Note>
      )}
      {pages.slice(0, shown).map((ids) => (
        <WorkflowPage key={ids[0]} ids={ids} />
      ))}
      {shown < pages.length && <Button onClick={() => setShown(shown + 1)}>Show more</Button>}
    </>
  );
}
