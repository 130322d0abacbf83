import { GraphQLError } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { Scope } from '../audiences/scopes.ts';
import type { GatewayContext, ServerContext } from '../context.ts';
import type { ReadRequiredScopes } from '../graphql/required-scopes.ts';

export interface ScopesPluginOptions {
  readRequiredScopes: ReadRequiredScopes;
}

/** Of whom it is not known who they are. */
const NONE: ReadonlySet<Scope> = new Set();

/** Refuses an operation that needs more than the token permits, with 403 and before any of it is carried out. */
export const useScopes = ({
  readRequiredScopes,
}: ScopesPluginOptions): Plugin<object, ServerContext, GatewayContext> => ({
  onExecute({ args, setResultAndStopExecution }) {
    const { document, operationName, variableValues, contextValue } = args;
    const identity = 'identity' in contextValue ? contextValue.identity : undefined;
    const scopes = identity?.scopes ?? NONE;
    if (scopes === 'all') {
      return;
    }
    const missing = readRequiredScopes(document, operationName ?? undefined).missing(scopes, variableValues ?? {});
    if (missing.length > 0) {
      setResultAndStopExecution({ errors: missing.map(forbidden) });
    }
  },
});

const forbidden = (scope: Scope): GraphQLError =>
  new GraphQLError(`This needs the scope ${scope}, which the token does not have.`, {
    extensions: { code: 'FORBIDDEN', scope, http: { status: 403 } },
  });
