import DataLoader from 'dataloader';
import type { Endpoints } from '../../upstream/endpoints/index.gen.ts';
import type { WorkflowBody } from '../../upstream/endpoints/workflows.ts';
import { createBoundedMap } from '../bounded-map.ts';

/** Maximum concurrent calls per operation: the service has no list of workflows, and its free tier allows 30 calls per second. */
export const WORKFLOW_CONCURRENCY = 8;

/** Loader of workflows for one operation. */
export type WorkflowLoader = ReturnType<typeof createWorkflowLoader>;

/**
 * Creates a loader that loads each distinct id or trigger identifier once per operation. A missing workflow is null, and an error affects
 * only its own key. Keys are batched although the service has no list: workflows of one tick then resolve together, so that their groups
 * are loaded in one batch.
 */
export function createWorkflowLoader(upstream: Pick<Endpoints, 'getWorkflow'>) {
  const loadAll = createBoundedMap<string, WorkflowBody | null | Error>(WORKFLOW_CONCURRENCY);
  const loader = new DataLoader<string, WorkflowBody | null>(
    (keys) =>
      loadAll(keys, (key, end) => {
        upstream.getWorkflow(key).then((workflow) => end(workflow && withId(workflow, key)), end);
      }),
    { name: 'workflow' },
  );
  // Repeated keys share a promise until the next microtask, before DataLoader sends the batch. Its own promise for each of them takes
  // longer than to complete the value: a month of statistics loads ten workflows ninety times.
  let recent: Map<string, Promise<WorkflowBody | null>> | undefined;
  return {
    /** Loads a workflow by its id or trigger identifier. */
    load(key: string): Promise<WorkflowBody | null> {
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
    /** Forgets all workflows. */
    clearAll(): void {
      recent = undefined;
      loader.clearAll();
    },
  };
}

/** Adds the key as id to a workflow without one, unless the key is a trigger identifier. The contract allows `_id` to be absent. */
function withId(workflow: WorkflowBody, key: string): WorkflowBody {
  const isIdentifier = () =>
    Array.isArray(workflow.triggers) && workflow.triggers.some((trigger) => trigger?.identifier === key);
  const id = workflow._id ?? workflow.id;
  return id !== undefined || isIdentifier() ? workflow : { ...workflow, _id: key };
}
