import { type ExecutionResult, GraphQLError, getOperationAST } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { ServerContext } from '../context.ts';
import type { ClientError, CreateClientErrors } from './client-errors.ts';

export interface ErrorModelPluginOptions {
  /** See `createClientErrors`. */
  clientErrors: CreateClientErrors;
}

/** Shows clients every error as `createClientErrors` says, and gives refused requests their status. */
export function useErrorModel({ clientErrors }: ErrorModelPluginOptions): Plugin<object, ServerContext> {
  const mutations = new WeakSet<Request>();
  return {
    onExecute({ args }) {
      const { document, operationName, contextValue } = args;
      if (getOperationAST(document, operationName)?.operation === 'mutation') {
        mutations.add(contextValue.request);
      }
    },
    onResultProcess({ request, result, setResult, serverContext }) {
      if (!isSingleResult(result) || result.errors === undefined) {
        return;
      }
      const toClientError = clientErrors({
        requestId: serverContext.requestId,
        isMutation: mutations.has(request),
        isGone: request.signal.aborted,
        audience: serverContext.identity?.audience,
      });
      const wantsJson = request.headers.get('accept')?.includes('application/json') ?? false;
      // An aborted execution may come without data and with an empty list of errors: that is an error too.
      const errors = result.errors.length > 0 || result.data != null ? result.errors : [new GraphQLError('Aborted.')];
      serverContext.errors = errors.map((error) => present(error, toClientError(error), wantsJson));
      setResult({ ...result, errors: serverContext.errors });
    },
  };
}

const isSingleResult = (result: unknown): result is ExecutionResult =>
  typeof result === 'object' && result !== null && !Array.isArray(result) && !(Symbol.asyncIterator in result);

/** The error as the client sees it. `http` is Yoga's: it sets the status of an answer without data, and is not sent. */
const present = (error: GraphQLError, { message, extensions }: ClientError, wantsJson: boolean): GraphQLError =>
  new GraphQLError(message, {
    ...(error.nodes !== undefined && { nodes: error.nodes }),
    ...(error.source !== undefined && { source: error.source }),
    ...(error.positions !== undefined && { positions: error.positions }),
    ...(error.path !== undefined && { path: error.path }),
    extensions: { ...extensions, ...(error.path === undefined && { http: httpOf(error, extensions.code, wantsJson) }) },
  });

/** Refusals of a document or its variables, as opposed to what is no GraphQL request at all. */
const OF_DOCUMENT = new Set<unknown>(['GRAPHQL_PARSE_FAILED', 'GRAPHQL_VALIDATION_FAILED', 'BAD_USER_INPUT']);

/**
 * Before execution an error sets the answer's status: what Yoga or a plugin has decided, 400 for a variable that does not fit, 500
 * for ours. `spec` lets a client that asks for `application/json` have 200 for a document that is refused, as GraphQL over HTTP
 * wants it.
 */
const httpOf = ({ extensions, originalError }: GraphQLError, code: string, wantsJson: boolean) => ({
  ...(extensions.http ?? { status: originalError === undefined ? 400 : 500 }),
  spec: wantsJson && OF_DOCUMENT.has(code),
});
