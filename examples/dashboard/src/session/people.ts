import { createContext, use, useSyncExternalStore } from 'react';
import { createListeners } from '../listeners.ts';
import { fetchPeople, type Person } from './server.ts';
import { useWho } from './session-context.ts';

interface PeopleState {
  /** Undefined until they are loaded. */
  people: readonly Person[] | undefined;
  hasFailed: boolean;
}

/** The people of the issuer: those who can sign in, and whom to ask for a permission. Replace it with your directory. */
export interface PeopleStore {
  get(): PeopleState;
  subscribe(listener: () => void): () => void;
  load(): Promise<void>;
}

export function createPeopleStore(): PeopleStore {
  const { subscribe, notify } = createListeners();
  let state: PeopleState = { people: undefined, hasFailed: false };
  const become = (next: PeopleState) => {
    state = next;
    notify();
  };
  return {
    get: () => state,
    subscribe,
    async load() {
      become({ ...state, hasFailed: false });
      try {
        become({ people: await fetchPeople(), hasFailed: false });
      } catch {
        become({ ...state, hasFailed: true });
      }
    },
  };
}

export const PeopleContext = createContext<PeopleStore | undefined>(undefined);

function usePeopleStore(): PeopleStore {
  const store = use(PeopleContext);
  if (store === undefined) {
    throw new Error('There are no people around this component.');
  }
  return store;
}

/** Returns the people who can sign in. */
export function usePeople(): PeopleState & { reload: () => void } {
  const store = usePeopleStore();
  return { ...useSyncExternalStore(store.subscribe, store.get), reload: store.load };
}

/** Returns whom to ask for a permission, as a sentence: the people of the same tenant who have it. */
export function useWhomToAsk(scope: string): string {
  const store = usePeopleStore();
  const { tenant } = useWho();
  const { people = [] } = useSyncExternalStore(store.subscribe, store.get);
  const names = people
    .filter((person) => person.tenant === tenant && person.scopes.includes(scope))
    .map(({ name, role }) => `${name} (${role})`);
  return names.length === 0
    ? `Nobody at ${tenant} has it: ask whoever manages your accounts.`
    : `Ask ${new Intl.ListFormat('en', { type: 'disjunction' }).format(names)}.`;
}
