import { useQuery } from 'urql';
import { StatisticsDocument, WorkflowGroupsDocument } from '../documents.gen.ts';
import { useMay } from '../session/session-context.ts';
import { DAYS, validDays } from '../statistics/day.ts';
import { pagesOfWorkflowIds } from '../workflows/workflow-ids.ts';

/** The number of workflows per group, as far as the service tells. */
export interface WorkflowCounts {
  of(groupId: string | null): number;
  /** Which workflows are counted. */
  caption: string;
}

/**
 * Counts the workflows of each group among the most used ones: the service can't list the others. Undefined until they are loaded,
 * and for people who may not read them.
 */
export function useWorkflowCounts(): WorkflowCounts | undefined {
  const mayReadStats = useMay('stats:read');
  const mayReadWorkflows = useMay('workflows:read');
  const [{ data: statistics }] = useQuery({
    query: StatisticsDocument,
    variables: { days: DAYS },
    pause: !mayReadStats || !mayReadWorkflows,
  });
  const pages = pagesOfWorkflowIds(validDays(statistics?.notificationStats) ?? []);
  const [ids = []] = pages;
  const [{ data, error }] = useQuery({ query: WorkflowGroupsDocument, variables: { ids }, pause: ids.length === 0 });
  return data?.workflows && !error
    ? countWorkflows(
        data.workflows.flatMap((workflow) => workflow?.notificationGroupId ?? []),
        pages.length === 1,
      )
    : undefined;
}

/** @param groupIds the group of each workflow */
function countWorkflows(groupIds: readonly string[], isComplete: boolean): WorkflowCounts {
  const most = isComplete ? '' : ' most often';
  return {
    of: (groupId) => groupIds.filter((id) => id === groupId).length,
    caption: `In use: the ${groupIds.length} workflows that sent notifications${most} in the last ${DAYS} days. The service cannot list others.`,
  };
}
