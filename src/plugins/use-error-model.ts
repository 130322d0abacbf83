import { randomUUID } from 'node:crypto';
import { type ExecutionResult, GraphQLError, getOperationAST } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { Logger } from 'pino';
import type { ServerContext } from '../context.ts';
import { isUpstreamError, type UpstreamError } from '../upstream/errors.ts';

/** The `extensions` of every error a client sees: closed, nothing else gets through. */
interface ClientExtensions {
  code: string;
  /** Whether sending the same again can help, and is safe. */
  retryable: boolean;
  requestId: string | undefined;
  retryAfterSeconds?: number;
  /** On writes: what became of the write. */
  outcome?: 'NOT_APPLIED' | 'UNKNOWN';
  /** Finds the failure in a log: ours for INTERNAL_SERVER_ERROR, the upstream's for UPSTREAM_ERROR. */
  errorId?: string;
  /** `route` is the template, without ids. */
  upstream?: { status?: number; method: string; route: string };
}

export interface ErrorModelPluginOptions {
  logger: Logger;
}

/** What is known of the request that failed. */
interface Circumstances {
  requestId: string | undefined;
  isMutation: boolean;
  /** Faults of this answer that are in the log. */
  logged: Set<string>;
  /** Whether the client has left: its calls were ended on purpose. */
  isGone: boolean;
  /** Whether the client names `application/json` in its `Accept`. */
  wantsJson: boolean;
}

/**
 * The one place where errors become what a client sees: `UpstreamError` as its code says, bad requests as they are, upstream values
 * that GraphQL's own checks refuse as UPSTREAM_BAD_RESPONSE, and everything else masked and logged under an error id.
 */
export function useErrorModel({ logger }: ErrorModelPluginOptions): Plugin<object, ServerContext> {
  const mutations = new WeakSet<Request>();

  /** One line for each fault of an endpoint in an answer: a list that fails may fail fifty fields. */
  function logOnce(error: UpstreamError, { requestId, logged }: Circumstances): void {
    const fault = `${error.code} ${error.status} ${error.endpoint.method} ${error.endpoint.route}`;
    if (!logged.has(fault)) {
      logged.add(fault);
      logUpstreamError(logger, error, requestId);
    }
  }

  function toClientError(error: GraphQLError, circumstances: Circumstances): GraphQLError {
    const original = originalOf(error);
    const { wantsJson } = circumstances;
    if (isUpstreamError(original)) {
      if (!circumstances.isGone) {
        logOnce(original, circumstances);
      }
      return present(error, original.message, upstreamExtensions(original, circumstances.requestId), wantsJson);
    }
    const code = codeOf(error, original);
    if (code === undefined) {
      return mask(error, original, circumstances);
    }
    const message =
      code === 'UPSTREAM_BAD_RESPONSE' ? 'The notification service sent no valid value here.' : error.message;
    return present(
      error,
      message,
      {
        code,
        retryable: false,
        requestId: circumstances.requestId,
        ...(circumstances.isMutation && { outcome: code === 'UPSTREAM_BAD_RESPONSE' ? 'UNKNOWN' : 'NOT_APPLIED' }),
      },
      wantsJson,
    );
  }

  function mask(
    error: GraphQLError,
    original: unknown,
    { requestId, isMutation, wantsJson }: Circumstances,
  ): GraphQLError {
    const errorId = randomUUID();
    logger.error({ requestId, errorId, path: error.path, err: original }, 'unexpected error');
    return present(
      error,
      'Unexpected error.',
      {
        code: 'INTERNAL_SERVER_ERROR',
        retryable: false,
        requestId,
        errorId,
        ...(isMutation && { outcome: 'UNKNOWN' }),
      },
      wantsJson,
    );
  }

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
      const circumstances = {
        requestId: serverContext.requestId,
        isMutation: mutations.has(request),
        logged: new Set<string>(),
        isGone: request.signal.aborted,
        wantsJson: request.headers.get('accept')?.includes('application/json') ?? false,
      };
      // An aborted execution may come without data and with an empty list of errors: that is an error too.
      const errors = result.errors.length > 0 || result.data != null ? result.errors : [new GraphQLError('Aborted.')];
      setResult({ ...result, errors: errors.map((error) => toClientError(error, circumstances)) });
    },
  };
}

const isSingleResult = (result: unknown): result is ExecutionResult =>
  typeof result === 'object' && result !== null && !Array.isArray(result) && !(Symbol.asyncIterator in result);

/** The innermost cause: execution wraps what a resolver threw, some layers twice. */
function originalOf(error: GraphQLError): unknown {
  let inner: unknown = error;
  while (inner instanceof GraphQLError && inner.originalError !== undefined) {
    inner = inner.originalError;
  }
  return inner;
}

/**
 * What execution says of an upstream value that does not fit the schema: a leaf, a list, or null where a value is due. Executors
 * differ in the class of these errors, not in their words.
 */
const BROKEN_VALUE =
  /^(?:Cannot return null for non-nullable field |Expected Iterable, |(?:\w+|Enum "\w+") cannot represent )/;

/** The code of an error that is the caller's or the upstream's fault; undefined: it is ours. */
function codeOf(error: GraphQLError, original: unknown): string | undefined {
  if (error.path !== undefined && BROKEN_VALUE.test(error.message)) {
    return 'UPSTREAM_BAD_RESPONSE';
  }
  if (!(original instanceof GraphQLError)) {
    return undefined;
  }
  const { code } = original.extensions;
  if (typeof code === 'string') {
    return code === 'INTERNAL_SERVER_ERROR' ? undefined : code;
  }
  // A variable (before execution) or an argument that does not fit its type.
  return error.path === undefined || /^Argument "/.test(error.message) ? 'BAD_USER_INPUT' : undefined;
}

/** The error as the client sees it. `http` is Yoga's: it sets the status of an answer without data, and is not sent. */
const present = (
  error: GraphQLError,
  message: string,
  extensions: ClientExtensions,
  wantsJson: boolean,
): GraphQLError =>
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

/** Codes as clients see them: of a conflict or a missing record outside a result union, only that the upstream refused. */
const visibleCode = (error: UpstreamError): string =>
  error.code === 'CONFLICT' || error.code === 'NOT_FOUND' ? 'UPSTREAM_ERROR' : error.code;

const upstreamExtensions = (error: UpstreamError, requestId: string | undefined): ClientExtensions => ({
  code: visibleCode(error),
  retryable: error.retryable,
  requestId,
  ...(error.retryAfterSeconds !== undefined && { retryAfterSeconds: error.retryAfterSeconds }),
  ...(error.outcome !== undefined && { outcome: error.outcome }),
  ...(error.errorId !== undefined && { errorId: error.errorId }),
  ...(error.sent && {
    upstream: { ...(error.status !== undefined && { status: error.status }), ...error.endpoint },
  }),
});

/** Faults of the service are worth an operator's eye; what the caller did wrong is not. Never a body, an id or a key. */
function logUpstreamError(logger: Logger, error: UpstreamError, requestId: string | undefined): void {
  if (/^UPSTREAM_/.test(error.code)) {
    const { code, status, errorId, endpoint, cause } = error;
    logger.warn({ requestId, code, status, errorId, ...endpoint, cause: describeCause(cause) }, error.message);
  }
}

function describeCause(cause: unknown): string | undefined {
  if (cause instanceof Error || cause instanceof DOMException) {
    const code: unknown = Reflect.get(cause, 'code');
    return typeof code === 'string' ? code : cause.message;
  }
  return typeof cause === 'string' ? cause : undefined;
}
