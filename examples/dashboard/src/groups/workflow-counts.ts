// Counts the workflows of each group.

import { useQuery } from 'urql';
import { WorkflowGroupsDocument } from '../documents.gen.ts';
import { useMay } from '../session/who-context.ts';

/** Maximum workflows of one page. */
const LIMIT = 100;

/** The number of workflows per group. */
export interface WorkflowCounts {
  of(groupId: string | null): number;
  /** Which workflows are counted. */
  caption: string;
}

/** Counts the first page of all workflows. Undefined until it is loaded, and for people who may not read them. */
export function useWorkflowCounts(): WorkflowCounts | undefined {
  const pause = !useMay('workflows:read');
  const [{ data, error }] = useQuery({ query: WorkflowGroupsDocument, variables: { limit: LIMIT }, pause });
  if (!data?.workflowPage || error) {
    return undefined;
  }
  const { workflows, totalCount } = data.workflowPage;
  const counted =
    workflows.length < totalCount ? `the first ${workflows.length} of ${totalCount}` : `all ${totalCount}`;
  return {
    of: (groupId) => workflows.filter((workflow) => workflow?.notificationGroupId === groupId).length,
    caption: `Counted: ${counted} workflows.`,
  };
}
