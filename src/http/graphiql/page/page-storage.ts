import type { Storage } from '@graphiql/toolkit';
import type { PageConfig } from './config.ts';

/** Tab in the form that GraphiQL stores. */
interface StoredTab {
  id: string;
  title: string;
  query: string | null;
  variables: string | null;
  headers: null;
  operationName: string | null;
  response: null;
}

interface StoredTabs {
  tabs: StoredTab[];
  activeTabIndex: number;
}

/** Keys that are stored. The query and the variables of the editor are not, because they are those of a tab. */
const KEPT = ['tabState', 'theme', 'visiblePlugin', 'queries', 'favorites', 'editorShare'];

/** Storage of the browser; of this visit only if the browser permits no other. */
const store = findStore();

/**
 * Opens the storage of GraphiQL. Its first tabs are those of the last visit or of the configuration, and the operation of the address, which
 * is in the active tab. No header is ever stored.
 */
export function openStorage(config: PageConfig, search: string): Storage {
  const initial = toInitialTabs(config, new URLSearchParams(search));
  const active = initial.tabs[initial.activeTabIndex];
  let initialState: string | null = JSON.stringify(initial);
  return {
    getItem(key) {
      switch (key) {
        case 'graphiql:query':
          return active?.query ?? null;
        case 'graphiql:variables':
          return active?.variables ?? null;
        case 'graphiql:tabState':
          return initialState ?? store.getItem(ownKey(key));
        default:
          return store.getItem(ownKey(key));
      }
    },
    setItem(key, value) {
      if (KEPT.includes(key.replace('graphiql:', ''))) {
        store.setItem(ownKey(key), withoutHeaders(value));
        initialState = key === 'graphiql:tabState' ? null : initialState;
      }
    },
    removeItem: (key) => store.removeItem(ownKey(key)),
    clear: clearStorage,
    get length() {
      return KEPT.filter((key) => store.getItem(`notigraph:${key}`) !== null).length;
    },
  };
}

/** Deletes all that is stored. */
export function clearStorage(): void {
  for (const key of KEPT) {
    store.removeItem(`notigraph:${key}`);
  }
}

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

/** Returns a key that a GraphiQL of another project at the same address doesn't use. */
const ownKey = (key: string): string => key.replace('graphiql:', 'notigraph:');

/** Removes headers from stored tabs and from the history. */
function withoutHeaders(value: string): string {
  return value.startsWith('{')
    ? JSON.stringify(JSON.parse(value), (key, member) => (key === 'headers' ? null : member))
    : value;
}

function toInitialTabs({ tabs: names, operations }: PageConfig, address: URLSearchParams): StoredTabs {
  const lastVisit = readStoredTabs();
  const first = names.flatMap((name) => operations.filter((operation) => operation.name === name));
  const tabs = lastVisit?.tabs ?? first.map(({ query, variables }) => toTab(query, variables ?? null));
  const query = address.get('query');
  if (query === null) {
    return { tabs, activeTabIndex: lastVisit?.activeTabIndex ?? 0 };
  }
  const variables = address.get('variables');
  const index = tabs.findIndex((tab) => tab.query === query && (tab.variables || null) === variables);
  return index >= 0 ? { tabs, activeTabIndex: index } : { tabs: [toTab(query, variables), ...tabs], activeTabIndex: 0 };
}

function readStoredTabs(): StoredTabs | undefined {
  try {
    const state: StoredTabs | null = JSON.parse(store.getItem('notigraph:tabState') ?? 'null');
    return state?.tabs[state.activeTabIndex] && state;
  } catch {
    return undefined; // Not written by this page.
  }
}

function toTab(query: string, variables: string | null): StoredTab {
  const [, operationName = null] = /^(?:query|mutation)\s+(\w+)/m.exec(query) ?? [];
  const title = operationName ?? '<untitled>';
  const id = String(Math.random()); // `crypto.randomUUID` exists only on pages with https.
  return { id, title, query, variables, headers: null, operationName, response: null };
}
