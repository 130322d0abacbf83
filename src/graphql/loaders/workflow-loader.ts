import DataLoader from 'dataloader';
import { createLimit } from '../../lib/limit.ts';
import type { WorkflowBody } from '../../upstream/resources/workflows.ts';
import type { Upstream } from '../../upstream/upstream.ts';

/** Calls at a time in one operation: the service has no list of workflows, and its free tier allows 30 calls a second. */
const CONCURRENCY = 8;

export type WorkflowLoader = DataLoader<string, WorkflowBody | null>;

/**
 * Loads each distinct id or trigger identifier once in an operation; null: there is none. One key's failure is its own.
 * Keys are collected although the service has no list, so that the workflows of one tick resolve together, and what they load
 * next (their groups) is one batch again.
 */
export function createWorkflowLoader(upstream: Pick<Upstream, 'getWorkflow'>): WorkflowLoader {
  const limit = createLimit(CONCURRENCY);
  const load = (key: string) => limit(() => loadWorkflow(upstream, key)).catch((error: Error) => error);
  return new DataLoader((keys) => Promise.all(keys.map(load)), { name: 'workflow' });
}

async function loadWorkflow(upstream: Pick<Upstream, 'getWorkflow'>, key: string): Promise<WorkflowBody | null> {
  const workflow = await upstream.getWorkflow(key);
  return workflow && withId(workflow, key);
}

/** The contract lets `_id` be absent; the key that found the workflow is its id unless it is one of its identifiers. */
function withId(workflow: WorkflowBody, key: string): WorkflowBody {
  const isIdentifier = () => workflow.triggers?.some((trigger) => trigger?.identifier === key);
  const known = workflow._id ?? workflow.id;
  return known !== undefined || isIdentifier() ? workflow : { ...workflow, _id: key };
}
