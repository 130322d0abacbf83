import { createContext, use, useSyncExternalStore } from 'react';
import { createListeners } from '../listeners.ts';

/**
 * The state of workflows that a switch on this page changed after they were loaded, so that switching one doesn't reload them all.
 */
export interface KnownStates {
  subscribe(listener: () => void): () => void;
  get(workflowId: string): boolean | undefined;
  set(workflowId: string, active: boolean): void;
  /** Forgets all: they are loaded again. */
  clear(): void;
}

export function createKnownStates(): KnownStates {
  const states = new Map<string, boolean>();
  const { subscribe, notify } = createListeners();
  return {
    subscribe,
    get: (workflowId) => states.get(workflowId),
    set(workflowId, active) {
      states.set(workflowId, active);
      notify();
    },
    clear() {
      states.clear();
      notify();
    },
  };
}

export const KnownStatesContext = createContext<KnownStates>(createKnownStates());

export const useKnownStates = (): KnownStates => use(KnownStatesContext);

/** Whether a workflow is on, as far as this page knows. */
export function useIsActive(workflow: { id: string; active: boolean }): boolean {
  const states = useKnownStates();
  return useSyncExternalStore(states.subscribe, () => states.get(workflow.id)) ?? workflow.active;
}
