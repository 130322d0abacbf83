import DataLoader from 'dataloader';
import type { Endpoints } from '../../upstream/endpoints/index.gen.ts';
import type { WorkflowBody } from '../../upstream/endpoints/workflows.ts';
import { createLimit } from '../limit.ts';

/** Maximum concurrent calls per operation: the service has no list of workflows, and its free tier allows 30 calls per second. */
export const WORKFLOW_CONCURRENCY = 8;

/** Loader of workflows for one operation. */
export interface WorkflowLoader {
  /** Loads a workflow by its id or trigger identifier. */
  load(key: string): Promise<WorkflowBody | null>;
  /** Forgets all workflows. */
  clearAll(): void;
}

/**
 * Creates a loader that loads each distinct id or trigger identifier once per operation. A missing workflow is null, and an error affects
 * only its own key. Keys are batched although the service has no list: workflows of one tick then resolve together, so that their groups
 * are loaded in one batch.
 */
export function createWorkflowLoader(upstream: Pick<Endpoints, 'getWorkflow'>): WorkflowLoader {
  const limit = createLimit(WORKFLOW_CONCURRENCY);
  const load = (key: string) => limit(() => loadWorkflow(upstream, key)).catch((error: Error) => error);
  const loader = new DataLoader<string, WorkflowBody | null>((keys) => Promise.all(keys.map(load)), {
    name: 'workflow',
  });
  // Repeated keys share a promise until the next microtask, before DataLoader sends the batch. Its own promise for each of them takes
  // longer than to complete the value: a month of statistics loads ten workflows ninety times.
  let recent: Map<string, Promise<WorkflowBody | null>> | undefined;
  return {
    load(key) {
      if (recent === undefined) {
        recent = new Map();
        queueMicrotask(() => {
          recent = undefined;
        });
      }
      const promise = recent.get(key) ?? loader.load(key);
      recent.set(key, promise);
      return promise;
    },
    clearAll() {
      recent = undefined;
      loader.clearAll();
    },
  };
}

async function loadWorkflow(upstream: Pick<Endpoints, 'getWorkflow'>, key: string): Promise<WorkflowBody | null> {
  const workflow = await upstream.getWorkflow(key);
  return workflow && withId(workflow, key);
}

/** Adds the key as id to a workflow without one, unless the key is a trigger identifier. The contract allows `_id` to be absent. */
function withId(workflow: WorkflowBody, key: string): WorkflowBody {
  const isIdentifier = () =>
    Array.isArray(workflow.triggers) && workflow.triggers.some((trigger) => trigger?.identifier === key);
  const known = workflow._id ?? workflow.id;
  return known !== undefined || isIdentifier() ? workflow : { ...workflow, _id: key };
}
