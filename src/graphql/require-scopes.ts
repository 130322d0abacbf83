import type { Scope } from '../auth/scopes.ts';

/** Declares what a token must permit for a field, or for every field that gives a type: `extensions: needs('groups:read')`. */
export const requireScopes = (scope: Scope): { scope: Scope } => ({ scope });
