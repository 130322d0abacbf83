/** Workflows loaded per operation: each costs an upstream call, and an operation may make 50. */
const PAGE_SIZE = 40;

/** The ids of all workflows in the statistics, those used on most days first, in pages. */
export function pagesOfWorkflowIds(days: readonly { workflowIds: readonly string[] }[]): string[][] {
  const uses = new Map<string, number>();
  for (const id of days.flatMap(({ workflowIds }) => workflowIds)) {
    uses.set(id, (uses.get(id) ?? 0) + 1);
  }
  const ids = [...uses].toSorted(([, a], [, b]) => b - a).map(([id]) => id);
  return Array.from({ length: Math.ceil(ids.length / PAGE_SIZE) }, (_, page) =>
    ids.slice(page * PAGE_SIZE, (page + 1) * PAGE_SIZE),
  );
}
