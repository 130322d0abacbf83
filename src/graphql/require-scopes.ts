import type { Scope } from '../settings/scopes.ts';

/** Declares what a token must permit for a field, or for every field that gives a type: `extensions: requireScopes('groups:read')`. */
export const requireScopes = (scope: Scope): { scope: Scope } => ({ scope });
