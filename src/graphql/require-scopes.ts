import type { Scope } from '../settings/scopes.ts';

/** Declares the scope that a field requires, or all fields that return a type: `extensions: requireScopes('groups:read')`. */
export const requireScopes = (scope: Scope): { scope: Scope } => ({ scope });
