import { createContext, use, useSyncExternalStore } from 'react';
import type { Session, SessionState, Who } from './session.ts';

export const SessionContext = createContext<Session | undefined>(undefined);

export function useSession(): Session {
  const session = use(SessionContext);
  if (session === undefined) {
    throw new Error('There is no session around this component.');
  }
  return session;
}

export function useSessionState(): SessionState {
  const session = useSession();
  return useSyncExternalStore(session.subscribe, session.getState);
}

/** Returns the signed-in person; for components that are shown only after sign-in. */
export const WhoContext = createContext<Who>({ person: '', name: '', tenant: '', scopes: [] });

export const useWho = (): Who => use(WhoContext);

/** Returns whether the signed-in person has this scope. The gateway decides; this only saves the attempt. */
export const useMay = (scope: string): boolean => useWho().scopes.includes(scope);
