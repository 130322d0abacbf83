import type { TabsState } from '@graphiql/react';

/** Writes the operation of the active tab into the address, which can then be shared. */
export function shareInAddress({ tabs, activeTabIndex }: TabsState): void {
  const { query, variables } = tabs[activeTabIndex] ?? {};
  const search = new URLSearchParams({ ...(query && { query }), ...(query && variables && { variables }) });
  const address = query ? `?${search}` : location.pathname;
  if (address !== location.search) {
    history.replaceState(null, '', address);
  }
}
