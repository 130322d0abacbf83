// Loads the people of the issuer.

import { createStore, type ReadOnlyStore } from '../store.ts';
import { fetchPeople, type Person } from './server.ts';

interface PeopleState {
  /** Undefined until they are loaded. */
  people: readonly Person[] | undefined;
  hasFailed: boolean;
}

/** The people of the issuer: those who can sign in, and whom to ask for a permission. Replace it with your directory. */
export interface People extends ReadOnlyStore<PeopleState> {
  load(): Promise<void>;
}

export function createPeople(): People {
  const { get, set, subscribe } = createStore<PeopleState>({ people: undefined, hasFailed: false });
  return {
    get,
    subscribe,
    async load() {
      set({ ...get(), hasFailed: false });
      try {
        set({ people: await fetchPeople(), hasFailed: false });
      } catch {
        set({ ...get(), hasFailed: true });
      }
    },
  };
}
