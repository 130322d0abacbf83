import type { IncomingMessage, ServerResponse } from 'node:http';
import { type ExecutionResult, GraphQLError } from 'graphql';
import type { CreateContext } from '../context.ts';
import { type AccessLog, CLIENT_CLOSED } from '../plugins/access-log.ts';
import type { ClientError, CreateClientErrors } from '../plugins/client-errors.ts';
import type { CorsHeaders } from '../plugins/use-cors.ts';
import { REQUEST_ID, toRequestId } from '../plugins/use-request-id.ts';
import type { Admission } from '../rate-limits/admission.ts';
import { rateLimitHeaders } from '../rate-limits/headers.ts';
import type { Allowance } from '../rate-limits/rate-limiter.ts';
import { Abort } from '../upstream/signal.ts';
import type { PreparedOperation } from './compile.ts';
import type { Head } from './read-head.ts';

export interface CarryOutOptions {
  admission: Admission;
  createContext: CreateContext;
  clientErrors: CreateClientErrors;
  log: AccessLog;
  corsHeaders: CorsHeaders;
}

/** One request on the short way. */
export interface Passage {
  request: IncomingMessage;
  response: ServerResponse;
  head: Head;
  startedAt: number;
}

/** One that may be carried out. */
export interface Admitted extends Passage {
  /** undefined: there is no limit. */
  allowance: Allowance | undefined;
}

/** An operation that is prepared, with what it is asked for with. */
export interface Found {
  operation: PreparedOperation;
  variables: Readonly<Record<string, unknown>>;
}

/**
 * Executes an operation and answers.
 *
 * @returns false when the variables do not fit, and nothing has happened
 */
export function carryOut(
  { request: { headers }, response, head, startedAt, allowance }: Admitted,
  { operation, variables }: Found,
  { createContext, clientErrors, log, corsHeaders, admission }: CarryOutOptions,
): boolean {
  const { identity } = head;
  const requestId = toRequestId(headers[REQUEST_ID]);
  const client = new Abort();
  const context = createContext({
    identity,
    idempotencyKey: headers['idempotency-key']?.toString(),
    requestId,
    signal: client,
  });

  function showAll(errors: readonly GraphQLError[]) {
    const toClientError = clientErrors({
      requestId,
      isMutation: operation.type === 'mutation',
      isGone: client.aborted,
      audience: identity.audience,
    });
    return errors.map((error) => show(error, toClientError(error)));
  }

  function finish({ data, errors }: ExecutionResult, status = 200): void {
    const shown = errors && showAll(errors);
    const text = JSON.stringify(shown === undefined ? { data } : { data, errors: shown });
    const length = Buffer.byteLength(text);
    response.writeHead(status, {
      'content-type': head.mediaType,
      'content-length': length,
      [REQUEST_ID]: requestId,
      ...corsHeaders(headers.origin, headers.authorization),
      ...rateLimitHeaders({ allowance, tally: context.tally, errors: shown }),
    });
    response.end(text, length === text.length ? 'latin1' : 'utf8'); // ASCII is ASCII in both, and one is copied faster.
    if (allowance !== undefined) {
      admission.settle(identity, context.tally.requests);
    }
    log({
      requestId,
      startedAt,
      operation: operation.name,
      type: operation.type,
      ...(client.aborted ? CLIENT_CLOSED : { code: shown?.[0]?.extensions.code, status }),
      upstreamCalls: context.tally.requests,
      identity,
    });
  }

  /** Executions do not fail: it is a fault of ours. */
  const fail = (fault: unknown): void => finish({ errors: [toGraphQLError(fault)] }, 500);

  const result = operation.execute(context, variables);
  if (result === undefined) {
    return false;
  }
  response.once('close', () => {
    if (!response.writableFinished) {
      client.abort();
    }
  });
  if (result instanceof Promise) {
    void result.then(finish, fail);
  } else {
    finish(result);
  }
  return true;
}

/** As `GraphQLError` writes itself, in this order; errors of compiled operations have locations without their nodes. */
const show = ({ locations, path }: GraphQLError, { message, extensions }: ClientError) => ({
  message,
  ...(locations !== undefined && { locations }),
  ...(path !== undefined && { path }),
  extensions,
});

const toGraphQLError = (fault: unknown): GraphQLError =>
  new GraphQLError('Unexpected error.', { originalError: fault instanceof Error ? fault : new Error(String(fault)) });
