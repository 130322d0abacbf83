// Permissions of tokens, by noun and action.

import { arrayOf, recordOf } from '../lib/is-record.ts';
import { SCOPES } from './scopes.gen.ts';

export { SCOPES };

/** Actions that a scope can permit. `extra` is to read the members of records that no field shows. */
export const SCOPE_ACTIONS = ['read', 'write', 'extra'] as const;

export type Scope = `${string}:${(typeof SCOPE_ACTIONS)[number]}`;

const SCOPE = new RegExp(`^[a-z]+(?:-[a-z]+)*:(?:${SCOPE_ACTIONS.join('|')})$`);

export const isScope = (text: unknown): text is Scope => typeof text === 'string' && SCOPE.test(text);

/** Clause that follows the path of a setting that is no scope. */
export const SCOPE_PROBLEM = 'must be a scope such as groups:read; see docs/frontend.md'; // Without the list, which grows.

/**
 * Returns the problems of scopes in `clients.browser.scopes` that no type and no field of the schema requires.
 *
 * @param clients the setting `clients`, which may be invalid
 * @param all scopes of the schema. @default those without modules
 */
export function findUnknownScopes(clients: unknown, all: readonly string[] = SCOPES) {
  const { scopes } = recordOf(recordOf(clients).browser);
  return arrayOf(scopes).flatMap((scope, i) => {
    if (!isScope(scope) || all.includes(scope)) {
      return [];
    }
    const message = `must be a scope that a field requires, but none requires ${scope}; add the module with it to modules, or remove it`;
    return [{ path: ['clients', 'browser', 'scopes', String(i)], message }];
  });
}
