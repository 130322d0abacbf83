// Creates stores, which tell components when their value changes.

import { useSyncExternalStore } from 'react';

/** A value whose changes components follow. */
export interface Store<Value> {
  get(): Value;
  set(value: Value): void;
  subscribe(listener: () => void): () => void;
}

/** A store that only its owner sets. */
export type ReadOnlyStore<Value> = Omit<Store<Value>, 'set'>;

export function createStore<Value>(initial: Value): Store<Value> {
  const listeners = new Set<() => void>();
  let value = initial;
  return {
    get: () => value,
    set(next) {
      value = next;
      for (const listener of listeners) {
        listener();
      }
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** Returns the value of a store, also after each change. */
export const useStore = <Value>(store: ReadOnlyStore<Value>): Value => useSyncExternalStore(store.subscribe, store.get);
