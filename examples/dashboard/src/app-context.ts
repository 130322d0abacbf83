// Gives all components the state of the page.

import { createContext, use } from 'react';
import type { Drafts } from './session/drafts.ts';
import type { People } from './session/people.ts';
import type { Session } from './session/session.ts';
import type { Theme } from './shell/theme.ts';
import type { Store } from './store.ts';

/** State of the page, whoever is signed in. */
export interface AppState {
  session: Session;
  drafts: Drafts;
  people: People;
  theme: Store<Theme>;
}

export const AppContext = createContext<AppState | undefined>(undefined);

export function useApp(): AppState {
  const app = use(AppContext);
  if (app === undefined) {
    throw new Error('There is no app around this component.');
  }
  return app;
}
