// Rejects an operation before it runs if its caller lacks a required scope.

import type { Identity } from '../auth/identity.ts';
import { Refusal, type RefusalError } from '../errors/codes.ts';
import type { Operation } from '../graphql/documents/prepared-documents.ts';
import type { Scope } from '../settings/scopes.ts';

/**
 * Checks the scopes of the whole operation before executing any of it, so that a mutation doesn't apply its first field if the second one is
 * forbidden.
 *
 * @throws {Refusal} FORBIDDEN with one error per missing scope
 */
export function authorize(
  operation: Operation,
  { scopes, withheldScopes }: Identity,
  variables: Readonly<Record<string, unknown>>,
): void {
  if (scopes === 'all') {
    return; // Before the scopes of the operation, which are computed when they are first read.
  }
  const missing = operation.requiredScopes.missing(scopes, variables);
  const [first, ...others] = missing.map((scope) => forbidden(scope, withheldScopes?.has(scope)));
  if (first !== undefined) {
    throw new Refusal(403, [first, ...others]);
  }
}

const forbidden = (scope: Scope, isWithheld = false): RefusalError => ({
  code: 'FORBIDDEN',
  message: isWithheld
    ? `This operation requires the scope ${scope}. The token has it, but clients.browser.scopes doesn't permit it.`
    : `The token lacks the scope ${scope}, which this operation requires.`,
  retryable: false,
  scope,
});
