import { useQuery } from 'urql';
import { WorkflowNamesDocument } from '../documents.gen.ts';
import { ReadFailure } from '../failures/read-failure.tsx';
import { Skeleton } from '../ui/skeleton.tsx';
import { useIsActive } from '../workflows/known-states.ts';
import { workflowAddress } from '../workflows/workflow-address.ts';
import type { Day } from './day.ts';
import { mostUsedWorkflowIds } from './workflow-ids.ts';

/** The workflows of a day. The most used ones are loaded once for all days, so that changing the day loads nothing. */
export function DayWorkflows({ day, days }: { day: Day; days: readonly Day[] }) {
  const ids = mostUsedWorkflowIds(days);
  const [{ data, error, fetching }, execute] = useQuery({ query: WorkflowNamesDocument, variables: { ids } });
  const found = data?.workflows;

  if (fetching) {
    return <Skeleton label="workflows" rows={day.workflowIds.length} />;
  }
  if (!found) {
    return error ? <ReadFailure error={error} onRetry={() => execute({ requestPolicy: 'network-only' })} /> : null;
  }
  const known = new Map(ids.map((id, i) => [id, found[i]]));
  const workflows = day.workflowIds.flatMap((id) => known.get(id) ?? []);
  const missing = day.workflowIds.length - workflows.length;
  return (
    <ul className="day-workflows">
      {workflows.map((workflow) => (
        <li key={workflow.id}>
          <a href={workflowAddress(workflow.id)}>{workflow.name}</a> <SwitchedOff workflow={workflow} />
          <DaysInUse workflowId={workflow.id} days={days} />
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

/** The number of days with a workflow that isn't used daily. The service has no counts per workflow. */
function DaysInUse({ workflowId, days }: { workflowId: string; days: readonly Day[] }) {
  const active = days.filter(({ count }) => count > 0);
  const used = active.filter(({ workflowIds }) => workflowIds.includes(workflowId));
  return (
    used.length < active.length && (
      <span className="muted">
        on {used.length} of {active.length} days
      </span>
    )
  );
}

function SwitchedOff({ workflow }: { workflow: { id: string; active: boolean } }) {
  return useIsActive(workflow) ? null : <span className="tag">off now</span>;
}
