import type { ExecutionResult } from 'graphql';
import type { GatewayContext } from '../graphql/context.ts';
import type { ReadRequiredScopes } from '../graphql/documents/required-scopes.ts';
import type { Params } from './params.ts';
import type { Operation } from './prepare.ts';

const NO_SCOPES = new Set<never>();

/** Adds the explanation to the result of an operation that was executed without sending anything upstream. */
export async function explain(
  result: ExecutionResult,
  { document, operationName }: Operation,
  { explainer }: GatewayContext,
  { variables }: Params,
  readRequiredScopes: ReadRequiredScopes,
): Promise<ExecutionResult> {
  if (explainer === undefined || !('data' in result)) {
    return result;
  }
  return explainer.explain(result, readRequiredScopes(document, operationName).missing(NO_SCOPES, variables));
}
