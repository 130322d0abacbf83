import type { Identity } from '../auth/identity.ts';
import type { ReadRequiredScopes } from '../graphql/documents/required-scopes.ts';
import { Refusal, type RefusalError } from '../lib/refusal.ts';
import type { Scope } from '../settings/scopes.ts';
import type { Operation } from './prepare.ts';

/**
 * Checks the scopes of the whole operation before executing any of it, so that a mutation doesn't apply its first field if the second one is
 * forbidden.
 *
 * @throws {Refusal} FORBIDDEN with one error per missing scope
 */
export function authorize(
  { document, operationName }: Operation,
  { scopes }: Identity,
  variables: Readonly<Record<string, unknown>>,
  readRequiredScopes: ReadRequiredScopes,
): void {
  if (scopes === 'all') {
    return;
  }
  const [first, ...others] = readRequiredScopes(document, operationName).missing(scopes, variables).map(forbidden);
  if (first !== undefined) {
    throw new Refusal(403, [first, ...others]);
  }
}

const forbidden = (scope: Scope): RefusalError => ({
  code: 'FORBIDDEN',
  message: `The token lacks the scope ${scope}, which this operation requires.`,
  retryable: false,
  scope,
});
