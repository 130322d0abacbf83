// Writes the addresses of a workflow and of lists of them.

/** Returns the address of a workflow. */
export const workflowAddress = (id: string): string => `#/workflows?id=${encodeURIComponent(id)}`;

/** Returns the address of a page of the workflows that a search finds, so that both can be linked and survive reloading. */
export function workflowsAddress(search: string, page = 1): string {
  const params = new URLSearchParams({ ...(search !== '' && { search }), ...(page > 1 && { page: String(page) }) });
  return params.size === 0 ? '#/workflows' : `#/workflows?${params}`;
}
