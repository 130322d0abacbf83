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

/** One request and what the pipeline's steps have found out about it so far. */
export interface Exchange {
  readonly request: IncomingRequest;
  /** On the clock of `performance.now()`. */
  readonly startedAt: number;
  readonly requestId: string;
  /** Media type of the response; undefined: the client accepts none that is available. */
  readonly mediaType: string | undefined;
  identity?: Identity;
  /** undefined: the caller has no rate limit, or it was not asked yet. */
  allowance?: AdmissionAllowance | undefined;
  context?: GatewayContext;
  operation?: Operation;
}

/** The end of a request: the result of its execution, or what was thrown instead. */
export type Outcome = { result: ExecutionResult } | { error: unknown };

/** Writes the response. Called exactly once per request, also if the client has disconnected. */
export type Respond = (exchange: Exchange, outcome: Outcome) => OutgoingResponse;

export interface RespondOptions {
  clientErrors: CreateClientErrors;
  admission: Admission;
  corsHeaders: CorsHeaders;
  log: AccessLog;
  /** Maximum size of a response, in bytes. @default 4 MiB */
  maxResponseBytes?: number | undefined;
}

interface Content {
  status: number;
  headers: Readonly<Record<string, string>>;
  body: ResponseBody;
}

const NONE: Content['headers'] = {};

const JSON_TYPE = 'application/json; charset=utf-8';

/** Creates the only writer of responses: error model, status, headers, rate-limit charge, log line and metrics. */
export function createRespond(options: RespondOptions): Respond {
  const { admission, corsHeaders, log, maxResponseBytes = 4 * 1024 * 1024 } = options;
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

/** Applies the error model. An executed operation is 200, whatever its errors. */
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
    return { status: 200, headers: NONE, body };
  }
  const { request, requestId, mediaType, operation } = exchange;
  const failure = 'error' in outcome ? outcome.error : outcome.result.errors;
  const { status, headers, errors } = toErrorResponse(failure, createToClientError(exchange, clientErrors), {
    requestId,
    isMutation: operation?.type === 'mutation',
    // Only if the client asks for that type: with any type, status codes say more.
    acceptsOk: mediaType === JSON_TYPE && /application\/json/i.test(request.header('accept') ?? ''),
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
    isGone: request.signal.aborted,
    clientKind: identity?.clientKind,
  });
