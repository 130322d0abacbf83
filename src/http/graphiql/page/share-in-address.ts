import type { TabsState } from '@graphiql/react';

/** Longest query of the address. Servers reject longer ones, so that the page could not be reloaded. */
const MAX_LENGTH = 6_000;

/** Writes the operation of the active tab into the address, which can then be shared, unless it is too long. */
export function shareInAddress({ tabs, activeTabIndex }: TabsState): void {
  const { query, variables } = tabs[activeTabIndex] ?? {};
  const search = `?${new URLSearchParams({ ...(query && { query }), ...(query && variables && { variables }) })}`;
  const address = query && search.length <= MAX_LENGTH ? search : location.pathname;
  if (address !== location.search) {
    history.replaceState(null, '', address);
  }
}
