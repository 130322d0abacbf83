import type { ExecutionResult } from 'graphql';
import type { Identity } from '../auth/identity.ts';
import type { CreateClientErrors, ToClientError } from '../graphql/client-errors.ts';
import type { GatewayContext } from '../graphql/context.ts';
import { type AccessLog, CLIENT_CLOSED } from '../telemetry/access-log.ts';
import type { Admission, AdmissionAllowance } from './admission.ts';
import type { CorsHeaders } from './cors.ts';
import { toErrorResponse } from './error-response.ts';
import type { Operation } from './prepare.ts';
import { rateLimitHeaders } from './rate-limit-headers.ts';
import type { IncomingRequest, OutgoingResponse } from './request.ts';
import { REQUEST_ID } from './request-id.ts';
import { limitSize, type ResponseBody } from './response-size.ts';

/** State of one request. The steps of the pipeline fill it in. */
export interface Exchange {
  readonly request: IncomingRequest;
  /** Start time, as in `performance.now()`. */
  readonly startedAt: number;
  readonly requestId: string;
  /** Media type of the response; undefined if the client accepts none of the available types. */
  readonly mediaType: string | undefined;
  identity?: Identity;
  /** State of the caller's rate limit; undefined if the caller has none, or before it is checked. */
  allowance?: AdmissionAllowance | undefined;
  context?: GatewayContext;
  operation?: Operation;
}

/** Result of an execution, or the value that was thrown instead. */
export type Outcome = { result: ExecutionResult } | { error: unknown };

/** Creates the response. Called exactly once per request, even if the client has disconnected. */
export type Respond = (exchange: Exchange, outcome: Outcome) => OutgoingResponse;

/** Options of `createRespond`. */
export interface RespondOptions {
  clientErrors: CreateClientErrors;
  admission: Admission;
  corsHeaders: CorsHeaders;
  log: AccessLog;
  /** Maximum response size, in bytes. */
  maxResponseBytes: number;
}

interface Content {
  status: number;
  headers: Readonly<Record<string, string>>;
  body: ResponseBody;
}

const NO_HEADERS: Content['headers'] = {};

const JSON_TYPE = 'application/json; charset=utf-8';

/**
 * Creates the function for the last step of every request. It converts errors, sets the status and headers, charges the rate limit, and
 * records the log line and metrics.
 */
export function createRespond(options: RespondOptions): Respond {
  const { admission, corsHeaders, log, maxResponseBytes } = options;
  return (exchange, outcome) => {
    const { request, startedAt, requestId, mediaType = JSON_TYPE, identity, allowance, context, operation } = exchange;
    const { status, headers, body } = toContent(exchange, outcome, options.clientErrors);
    const { text, errors } = limitSize(body, maxResponseBytes, requestId, operation?.type);
    const usage = context?.usage;
    const upstreamCalls = usage?.requests ?? 0;
    if (identity !== undefined && allowance !== undefined) {
      admission.charge(identity, upstreamCalls);
    }
    log({
      requestId,
      startedAt,
      operation: operation?.name,
      type: operation?.type,
      code: errors?.[0]?.extensions.code,
      reason: errors?.[0]?.extensions.reason,
      status,
      upstreamCalls,
      identity,
      calls: usage?.log?.entries,
      ...(request.signal.aborted && CLIENT_CLOSED),
    });
    return {
      status,
      headers: {
        'content-type': mediaType,
        [REQUEST_ID]: requestId,
        ...corsHeaders(request.header('origin'), request.header('authorization')),
        ...rateLimitHeaders({ allowance, usage, errors }),
        ...headers,
      },
      body: text,
    };
  };
}

/** Converts errors and chooses the status. An executed operation has status 200, even with errors. */
function toContent(exchange: Exchange, outcome: Outcome, clientErrors: CreateClientErrors): Content {
  if ('result' in outcome && 'data' in outcome.result) {
    const { data, errors, extensions } = outcome.result;
    const body: ResponseBody = { data };
    if (errors !== undefined && errors.length > 0) {
      body.errors = errors.map(createToClientError(exchange, clientErrors));
    }
    if (extensions !== undefined) {
      body.extensions = extensions;
    }
    return { status: 200, headers: NO_HEADERS, body };
  }
  const { request, requestId, mediaType, operation } = exchange;
  const failure = 'error' in outcome ? outcome.error : outcome.result.errors;
  const { status, headers, errors } = toErrorResponse(failure, createToClientError(exchange, clientErrors), {
    requestId,
    isMutation: operation?.type === 'mutation',
    // Only if the client explicitly accepts that type: otherwise, status codes are more useful.
    allowsStatus200: mediaType === JSON_TYPE && /application\/json/i.test(request.header('accept') ?? ''),
  });
  return { status, headers, body: { errors } };
}

const createToClientError = (
  { request, requestId, identity, operation, context }: Exchange,
  clientErrors: CreateClientErrors,
): ToClientError =>
  clientErrors({
    requestId,
    isMutation: operation?.type === 'mutation',
    wasSent: (context?.usage.requests ?? 0) > 0,
    isDisconnected: request.signal.aborted,
    clientKind: identity?.clientKind,
  });
