// Shows the workflows of a day.

import { useQuery } from 'urql';
import { WorkflowNamesDocument } from '../documents.gen.ts';
import { ReadFailure } from '../failures/read-failure.tsx';
import { Skeleton } from '../ui/skeleton.tsx';
import { useIsActive } from '../workflows/known-states.ts';
import { workflowAddress } from '../workflows/workflow-address.ts';
import type { Day } from './day.ts';

/** Workflows whose names are loaded: each costs an upstream call, and an operation may make 50. */
const LIMIT = 40;

/** The most used workflows are loaded once for all days, so that changing the day loads nothing. */
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

/** The ids of the workflows used on most days. */
function mostUsedWorkflowIds(days: readonly Day[]): string[] {
  const uses = new Map<string, number>();
  for (const id of days.flatMap(({ workflowIds }) => workflowIds)) {
    uses.set(id, (uses.get(id) ?? 0) + 1);
  }
  const ids = [...uses].toSorted(([, a], [, b]) => b - a).map(([id]) => id);
  return ids.slice(0, LIMIT);
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
