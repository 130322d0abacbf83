/** Workflows whose names are loaded: each costs an upstream call, and an operation may make 50. */
const LIMIT = 40;

/** The ids of the workflows used on most days. */
export function mostUsedWorkflowIds(days: readonly { workflowIds: readonly string[] }[]): string[] {
  const uses = new Map<string, number>();
  for (const id of days.flatMap(({ workflowIds }) => workflowIds)) {
    uses.set(id, (uses.get(id) ?? 0) + 1);
  }
  const ids = [...uses].toSorted(([, a], [, b]) => b - a).map(([id]) => id);
  return ids.slice(0, LIMIT);
}
