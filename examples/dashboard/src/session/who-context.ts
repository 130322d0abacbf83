// Tells components who is signed in, and what that person may do.

import { createContext, use } from 'react';
import type { Who } from './session.ts';

/** The signed-in person; for components that are shown only after sign-in. */
export const WhoContext = createContext<Who>({ person: '', name: '', tenant: '', scopes: [] });

export const useWho = (): Who => use(WhoContext);

/** Returns whether the signed-in person has this scope. The gateway decides; this only saves the attempt. */
export const useMay = (scope: string): boolean => useWho().scopes.includes(scope);
