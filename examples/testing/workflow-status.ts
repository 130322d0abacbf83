// Loads the status of workflows for a page, also while the service fails.

import { type Client, WorkflowDocument } from 'notigraph/client';

/** Status of a workflow as a page shows it. */
export interface WorkflowStatus {
  name: string;
  active: boolean;
  /** Whether the service failed, so that the status may have changed. */
  isStale: boolean;
}

/** Creates a function that loads the status of a workflow. While the service fails, it returns the last known status. */
export function createStatusLoader(client: Client) {
  const known = new Map<string, WorkflowStatus>();

  /** @returns undefined if there is no such workflow */
  return async (identifier: string): Promise<WorkflowStatus | undefined> => {
    const { data, errors } = await client.request(WorkflowDocument, { idOrIdentifier: identifier });
    if (errors !== undefined) {
      const last = known.get(identifier);
      if (last === undefined) {
        throw new Error(errors[0]?.message);
      }
      return { ...last, isStale: true };
    }
    if (data.workflow === null) {
      known.delete(identifier);
      return undefined;
    }
    const { name, active } = data.workflow;
    const status = { name, active, isStale: false };
    known.set(identifier, status);
    return status;
  };
}
