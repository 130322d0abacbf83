import type { ExecutionResult } from 'graphql';
import type { CreateClientErrors, ToClientError } from '../graphql/client-errors.ts';
import { type AccessLog, type AccessLogEntry, CLIENT_CLOSED } from '../telemetry/access-log.ts';
import type { Usage } from '../upstream/client.ts';
import type { Admission } from './admission.ts';
import { readClientName } from './client-name.ts';
import type { CorsHeaders } from './cors.ts';
import { toErrorResponse } from './error-response.ts';
import type { Exchange, StartExchangeTrace } from './exchange.ts';
import { rateLimitHeaders } from './rate-limit-headers.ts';
import type { OutgoingResponse } from './request.ts';
import { REQUEST_ID } from './request-id.ts';
import { limitSize, type ResponseBody } from './response-size.ts';
import { createUpstreamReport } from './upstream-report.ts';

/** Result of an execution, or the value that was thrown instead. */
export type Outcome = { result: ExecutionResult } | { error: unknown };

/** Creates the response. Called exactly once per request, even if the client has disconnected. */
export type Respond = (exchange: Exchange, outcome: Outcome) => OutgoingResponse;

/** Options of `createRespond`. */
export interface RespondOptions {
  clientErrors: CreateClientErrors;
  admission: Admission;
  corsHeaders: CorsHeaders;
  startTrace: StartExchangeTrace;
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
 * records the log line, metrics and trace.
 */
export function createRespond(options: RespondOptions): Respond {
  const { admission, corsHeaders, startTrace, log, maxResponseBytes } = options;
  return (exchange, outcome) => {
    const {
      request,
      startedAt,
      requestId,
      mediaType = JSON_TYPE,
      identity,
      allowance,
      extensions,
      context,
      operation,
    } = exchange;
    if (identity === undefined) {
      exchange.trace = startTrace(exchange); // Rejected before the caller was identified.
    }
    const { trace } = exchange;
    const { status, headers, body } = toContent(exchange, outcome, options.clientErrors);
    const upstream = context && createUpstreamReport(context);
    if (upstream !== undefined) {
      body.extensions = { ...body.extensions, upstream };
    }
    const executed = extensions?.explain ? undefined : operation?.type; // No mutation of an explained operation has an unknown outcome.
    const { text, errors } = limitSize(body, maxResponseBytes, requestId, executed);
    const usage = context?.usage;
    const cost = admission.costOf(usage);
    if (identity !== undefined && allowance !== undefined) {
      admission.charge(identity, cost);
    }
    const entry: AccessLogEntry = {
      requestId,
      traceIds: trace?.ids,
      startedAt,
      operation: operation?.name,
      type: operation?.type,
      code: errors?.[0]?.extensions.code,
      reason: errors?.[0]?.extensions.reason,
      status,
      upstreamCalls: usage?.requests ?? 0,
      resolverCalls: usage?.calls ?? 0,
      shared: usage?.shared,
      cached: usage?.cached,
      retries: usage?.retries,
      staleSeconds: staleSecondsOf(usage),
      identity,
      ...readClientName(request),
      deprecated: context?.deprecated,
      explained: extensions?.explain || undefined,
      calls: usage?.log?.entries,
      ...(request.signal.aborted && CLIENT_CLOSED),
    };
    trace?.end(entry);
    log(entry);
    return {
      status,
      headers: {
        'content-type': mediaType,
        [REQUEST_ID]: requestId,
        ...corsHeaders(request.header('origin'), request.header('authorization')),
        ...rateLimitHeaders({ allowance, cost, usage, errors }),
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
    const ageSeconds = staleSecondsOf(exchange.context?.usage);
    if (ageSeconds !== undefined) {
      body.extensions = { ...extensions, cache: { stale: true, ageSeconds } };
    } else if (extensions !== undefined) {
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

/** Returns the age of the oldest stored response that was used because the service failed; undefined if none was. */
const staleSecondsOf = (usage: Readonly<Usage> | undefined): number | undefined =>
  usage?.staleMs === undefined ? undefined : Math.floor(usage.staleMs / 1_000);

const createToClientError = (
  { request, requestId, trace, identity, operation, context }: Exchange,
  clientErrors: CreateClientErrors,
): ToClientError =>
  clientErrors({
    requestId,
    traceIds: trace?.ids,
    isMutation: operation?.type === 'mutation',
    wasSent: (context?.usage.requests ?? 0) > 0,
    isDisconnected: request.signal.aborted,
    clientKind: identity?.clientKind,
  });
