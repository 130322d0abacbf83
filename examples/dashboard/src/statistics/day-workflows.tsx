import { useQuery } from 'urql';
import { WorkflowsDocument } from '../documents.gen.ts';
import { ReadFailure } from '../failures/read-failure.tsx';
import { Skeleton } from '../ui/skeleton.tsx';
import { useIsActive } from '../workflows/known-states.ts';
import { pagesOfWorkflowIds } from '../workflows/workflow-ids.ts';
import type { Day } from './day.ts';

/** The workflows of a day. The most used ones are loaded once for all days, so that changing the day loads nothing. */
export function DayWorkflows({ day, days }: { day: Day; days: readonly Day[] }) {
  const [ids = []] = pagesOfWorkflowIds(days);
  const [{ data, error, fetching }, execute] = useQuery({ query: WorkflowsDocument, variables: { ids } });
  const found = data?.workflows;

  if (fetching) {
    return <Skeleton label="workflows" rows={2} />;
  }
  if (!found) {
    return error ? <ReadFailure error={error} onRetry={() => execute({ requestPolicy: 'network-only' })} /> : null;
  }
  const known = new Map(ids.map((id, i) => [id, found[i]]));
  const workflows = day.workflowIds.flatMap((id) => known.get(id) ?? []);
  const missing = day.workflowIds.length - workflows.length;
  return (
    <ul className="plain-list">
      {workflows.map((workflow) => (
        <li key={workflow.id}>
          {workflow.name} <SwitchedOff workflow={workflow} />
        </li>
      ))}
      {missing > 0 && (
        <li className="muted">
          {missing} {missing === 1 ? 'other that is' : 'others that are'} deleted, or not among those used most
        </li>
      )}
    </ul>
  );
}

function SwitchedOff({ workflow }: { workflow: { id: string; active: boolean } }) {
  return useIsActive(workflow) ? null : <span className="tag">off now</span>;
}
