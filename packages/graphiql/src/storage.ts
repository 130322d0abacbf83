// Stores tabs and settings in the browser, and shares operations in the address.

import type { TabsState } from '@graphiql/react';
import type { Storage } from '@graphiql/toolkit';
import type { PageConfig } from '../../../src/graphiql/page-config.ts';

/** Start of the names of stored items. A GraphiQL of another project at the same address uses others. */
const PREFIX = 'notigraph:';

/** Storage of the browser; of this visit only if the browser permits no other. */
const store = findStore();

function findStore(): Pick<globalThis.Storage, 'getItem' | 'setItem' | 'removeItem'> {
  try {
    return localStorage; // Throws if the browser blocks cookies.
  } catch {
    const items = new Map<string, string>();
    return {
      getItem: (key) => items.get(key) ?? null,
      setItem: (key, value) => void items.set(key, value),
      removeItem: (key) => void items.delete(key),
    };
  }
}

/** Items that GraphiQL stores. It also stores the last edited query, which it would show instead of that of the active tab. */
const NAMES = ['tabState', 'theme', 'visiblePlugin', 'queries', 'favorites'];

const nameOf = (key: string): string => key.replace('graphiql:', '');

/** Whether all was deleted. GraphiQL stores tabs half a second late, so it would bring them back. */
let isCleared = false;

/** Storage of GraphiQL. It never contains a header. */
export const storage: Storage = {
  getItem: (key) => store.getItem(PREFIX + nameOf(key)),
  setItem(key, value) {
    if (NAMES.includes(nameOf(key)) && !isCleared) {
      store.setItem(PREFIX + nameOf(key), withoutHeaders(value));
    }
  },
  removeItem: (key) => store.removeItem(PREFIX + nameOf(key)),
  clear() {
    isCleared = true;
    for (const name of NAMES) {
      store.removeItem(PREFIX + name);
    }
  },
  length: NAMES.length,
};

/** Removes headers from tabs, and from the history, which GraphiQL stores with them. */
const withoutHeaders = (value: string): string =>
  value.startsWith('{')
    ? JSON.stringify(JSON.parse(value), (key, member) => (key === 'headers' ? null : member))
    : value;

/**
 * Returns the tabs of the first visit and the operation to show, as properties of GraphiQL: that of the address, or else of the active tab of
 * the last visit. GraphiQL opens a tab for it if none has it.
 */
export function findInitialTabs({ tabs, operations }: PageConfig, address: URLSearchParams) {
  const first = tabs.flatMap((name) => operations.filter((operation) => operation.name === name));
  const query = address.get('query');
  const link = query ? { query, variables: address.get('variables') } : undefined;
  const active = link ?? findActiveTab() ?? first[0];
  return {
    defaultTabs: link ? [link, ...first.filter((tab) => tab.query !== query)] : first,
    ...(active?.query && { initialQuery: active.query }),
    ...(active?.variables && { initialVariables: active.variables }),
  };
}

function findActiveTab(): TabsState['tabs'][number] | undefined {
  try {
    const state: TabsState | null = JSON.parse(store.getItem(`${PREFIX}tabState`) ?? 'null');
    return state?.tabs[state.activeTabIndex];
  } catch {
    return undefined; // Not written by this page.
  }
}

/** Longest operation of the address. Mail and chat programs cut longer links. */
const MAX_LENGTH = 6_000;

/** Returns the operation of the address. It is after `#`, which browsers don't send, and moved there if it is after `?`, as in links of version 1.0. */
export function readAddress(): URLSearchParams {
  if (location.search !== '') {
    history.replaceState(null, '', `${location.pathname}#${location.search.slice(1)}`);
  }
  return new URLSearchParams(location.hash.slice(1));
}

/** Writes the operation of the active tab into the address, which can then be shared, unless it is too long. No proxy logs it there. */
export function shareInAddress({ tabs, activeTabIndex }: TabsState): void {
  const { query, variables } = tabs[activeTabIndex] ?? {};
  const operation = `#${new URLSearchParams({ ...(query && { query }), ...(query && variables && { variables }) })}`;
  history.replaceState(null, '', location.pathname + (query && operation.length <= MAX_LENGTH ? operation : ''));
}
