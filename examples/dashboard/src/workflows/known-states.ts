// Records which workflows were switched after they were loaded, so that switching one doesn't reload them all.

import { createContext, use } from 'react';
import { createStore, type Store, useStore } from '../store.ts';

/** The states that switches on this page have changed, by workflow id. */
export type KnownStates = Store<ReadonlyMap<string, boolean>>;

export const createKnownStates = (): KnownStates => createStore(new Map());

export const KnownStatesContext = createContext<KnownStates>(createKnownStates());

export const useKnownStates = (): KnownStates => use(KnownStatesContext);

/** Whether a workflow is on, as far as this page knows. */
export const useIsActive = (workflow: { id: string; active: boolean }): boolean =>
  useStore(useKnownStates()).get(workflow.id) ?? workflow.active;
