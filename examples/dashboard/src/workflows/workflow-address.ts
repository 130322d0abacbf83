/** Returns the address of a workflow. */
export const workflowAddress = (id: string): string => `#/workflows?id=${encodeURIComponent(id)}`;
