import DataLoader from 'dataloader';
import { createLimit } from '../../lib/limit.ts';
import type { WorkflowBody } from '../../upstream/resources/workflows.ts';
import type { Upstream } from '../../upstream/upstream.ts';

/** Maximum concurrent calls per operation: the service has no list of workflows, and its free tier allows 30 calls per second. */
const CONCURRENCY = 8;

/** Loader of workflows for one operation, by id or trigger identifier. */
export type WorkflowLoader = DataLoader<string, WorkflowBody | null>;

/**
 * Creates a loader that loads each distinct id or trigger identifier once per operation. A missing workflow is null, and an error affects
 * only its own key. Keys are batched although the service has no list: workflows of one tick then resolve together, so that their groups
 * are loaded in one batch.
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

/** Adds the key as id to a workflow without one, unless the key is a trigger identifier. The contract allows `_id` to be absent. */
function withId(workflow: WorkflowBody, key: string): WorkflowBody {
  const isIdentifier = () => workflow.triggers?.some((trigger) => trigger?.identifier === key);
  const known = workflow._id ?? workflow.id;
  return known !== undefined || isIdentifier() ? workflow : { ...workflow, _id: key };
}
