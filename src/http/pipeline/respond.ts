// Turns the end of a request into its response, and records its log line, metrics and trace.

import { type ExecutionResult, GraphQLError } from 'graphql';
import { InvalidDocument } from '../../documents/engine.ts';
import type { Operation } from '../../documents/prepared-documents.ts';
import { ERROR_CODES, Refusal, refusalErrors } from '../../errors/codes.ts';
import { isGraphQLError, UNREADABLE } from '../../errors/located-error.ts';
import type { GatewayContext } from '../../graphql/context.ts';
import { isRecord } from '../../lib/is-record.ts';
import type { Usage } from '../../telemetry/usage.ts';
import type { RateLimitState } from '../../upstream/errors.ts';
import type { OutgoingResponse, UpstreamReport } from '../message.ts';
import { type AdmissionAllowance, rateLimitHeaders } from './admission.ts';
import { type ClientError, type CreateClientErrors, createClientErrors } from './client-errors.ts';
import type { HttpParts, RequestState } from './parts.ts';
import type { RequestEnd, Respond } from './pipeline.ts';
import { readClientName } from './request-headers.ts';

type Content = Omit<OutgoingResponse, 'body'> & { body: ResponseBody };

const NO_HEADERS: Content['headers'] = {};

/** Code and status of a request whose client disconnected before the response. nginx logs the same status; it is never sent. */
const CLIENT_CLOSED = { code: 'CLIENT_CLOSED', status: ERROR_CODES.CLIENT_CLOSED.status } as const;

const DEFAULT_TYPE = 'application/json; charset=utf-8';

/**
 * Creates the function for the last step of every request. It converts errors, sets the status and headers, and charges the rate limit.
 */
export function createRespond({
  settings: { maxResponseBytes },
  logger,
  telemetry: { nameTenant, startTrace, record },
  admission,
  headOf,
}: HttpParts): Respond {
  const clientErrors = createClientErrors(logger, nameTenant);
  return (state, end) => {
    const { request, startedAt, requestId, mediaType = DEFAULT_TYPE, identity, allowance } = state;
    const { flags, context, operation } = state;
    if (identity === undefined) {
      state.trace = startTrace(state); // Rejected before the caller was identified.
    }
    const { trace } = state;
    const { status, headers, body } = toContent(state, end, clientErrors);
    const upstream = context && createUpstreamReport(context);
    if (upstream !== undefined) {
      body.extensions = { ...body.extensions, upstream };
    }
    const executed = flags?.isExplained ? undefined : operation?.type; // No mutation of an explained operation has an unknown outcome.
    const { text, errors } = limitSize(body, maxResponseBytes, requestId, executed);
    const usage = context?.usage;
    const cost = admission.costOf(usage);
    if (identity !== undefined && allowance !== undefined) {
      admission.charge(identity, cost);
    }
    const entry = {
      requestId,
      traceIds: trace?.ids,
      ms: performance.now() - startedAt,
      operation: operation?.name,
      type: operation?.type,
      isExecuted: body.data !== undefined,
      code: errors?.[0]?.extensions.code,
      reason: errors?.[0]?.extensions.reason ?? errors?.[0]?.extensions.scope,
      status,
      upstreamCalls: usage?.requests ?? 0,
      resolverCalls: context?.budget.calls ?? 0,
      shared: usage?.shared || undefined,
      cached: usage?.cached || undefined,
      retries: usage?.retries || undefined,
      staleSeconds: staleSecondsOf(usage),
      results: flags?.isExplained ? undefined : usage?.results,
      identity,
      address: state.address,
      ...readClientName(request),
      deprecated: operation?.deprecated,
      explained: flags?.isExplained || undefined,
      calls: usage?.calls,
      ...(request.signal.aborted && CLIENT_CLOSED),
    };
    record(entry, trace);
    const own = { 'content-type': mediaType, ...limitHeaders(allowance, cost, usage, errors), ...headers };
    return { status, headers: headOf(request, own, requestId), body: text };
  };
}

/** Converts errors and chooses the status. An executed operation has status 200, even with errors. */
function toContent(state: RequestState, end: RequestEnd, clientErrors: CreateClientErrors): Content {
  if ('result' in end && 'data' in end.result) {
    const { data, errors, extensions } = end.result;
    const body: ResponseBody = { data };
    if (errors !== undefined && errors.length > 0) {
      body.errors = errors.map(clientErrors(state));
    }
    const ageSeconds = staleSecondsOf(state.context?.usage);
    if (ageSeconds !== undefined) {
      body.extensions = { ...extensions, cache: { stale: true, ageSeconds } };
    } else if (extensions !== undefined) {
      body.extensions = extensions;
    }
    return { status: 200, headers: NO_HEADERS, body };
  }
  const failure = 'error' in end ? end.error : end.result.errors;
  const toClientError = clientErrors(state);
  try {
    return toErrorContent(state, failure, toClientError);
  } catch {
    return toErrorContent(state, new Error(UNREADABLE), toClientError); // For example a revoked proxy, or a getter that throws.
  }
}

/** Returns the age of the oldest stored response that was used because the service failed; undefined if none was. */
const staleSecondsOf = (usage: Readonly<Usage> | undefined): number | undefined =>
  usage?.staleMs === undefined ? undefined : Math.floor(usage.staleMs / 1_000);

/** Codes of errors in the document or its variables, as opposed to errors in the HTTP request. */
const DOCUMENT_ERROR_CODES = new Set<string>(['GRAPHQL_PARSE_FAILED', 'GRAPHQL_VALIDATION_FAILED', 'BAD_USER_INPUT']);

/** Converts what was thrown instead of executing. The client sees refusals and GraphQL errors; everything else is a bug and masked. */
function toErrorContent(
  { request, requestId, mediaType, operation }: RequestState,
  failure: unknown,
  toClientError: ReturnType<CreateClientErrors>,
): Content {
  if (failure instanceof Refusal) {
    const outcome = operation?.type === 'mutation' && { outcome: 'NOT_APPLIED' as const };
    const { status, headers } = failure;
    return { status, headers, body: { errors: refusalErrors(failure, { requestId, ...outcome }) } };
  }
  const graphqlErrors = toGraphQLErrors(failure);
  const errors = graphqlErrors.map(toClientError);
  // As in responses of this type (GraphQL over HTTP, section 6.4.1), if the client explicitly accepts it: otherwise, status codes are more useful.
  const allowsStatus200 = mediaType === DEFAULT_TYPE && /application\/json/i.test(request.header('accept') ?? '');
  const isDocument = errors.every(({ extensions }) => DOCUMENT_ERROR_CODES.has(extensions.code));
  const statuses = errors.map((error, i) => statusOf(error, graphqlErrors[i]));
  const headers: Content['headers'] = Object.assign({}, ...graphqlErrors.map(headersOf));
  return { status: isDocument && allowsStatus200 ? 200 : Math.max(...statuses), headers, body: { errors } };
}

function toGraphQLErrors(failure: unknown): readonly GraphQLError[] {
  if (failure instanceof InvalidDocument) {
    return failure.errors;
  }
  const failures = [failure].flat();
  if (failures.length > 0 && failures.every(isGraphQLError)) {
    return failures;
  }
  const originalError =
    failure instanceof Error ? failure : new Error(`thrown value is not an error: ${String(failure)}`);
  return [new GraphQLError('Unexpected error.', { originalError })];
}

/** Returns `extensions.http`, in which Yoga plugins set a status and headers. */
const httpExtensionOf = (error: GraphQLError | undefined): Record<string, unknown> =>
  isRecord(error?.extensions?.http) ? error.extensions.http : {}; // Subclasses of GraphQLError may have no extensions.

function statusOf({ extensions }: ClientError, error: GraphQLError | undefined): number {
  const { status } = httpExtensionOf(error);
  if (typeof status === 'number' && Number.isInteger(status) && status >= 400 && status <= 599) {
    return status;
  }
  return extensions.code === 'INTERNAL_SERVER_ERROR' ? 500 : 400;
}

const headersOf = (error: GraphQLError): Record<string, string> => {
  const { headers } = httpExtensionOf(error);
  return isRecord(headers)
    ? Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value)]))
    : {};
};

interface ResponseBody {
  data?: ExecutionResult['data'];
  errors?: readonly ClientError[];
  extensions?: { upstream?: unknown; [name: string]: unknown };
}

/**
 * Serializes a response. If it exceeds the maximum size, its data is replaced by an error. The executor already stops at an estimated size,
 * which non-ASCII text can exceed; this counts bytes. In a mutation, each executed root field gets an error with an unknown outcome. The report of
 * upstream calls is kept, because they were made.
 *
 * @param type type of the operation; undefined if it was not executed
 */
function limitSize(body: ResponseBody, maxBytes: number, requestId: string, type: Operation['type'] | undefined) {
  const text = JSON.stringify(body);
  if (text.length * 3 <= maxBytes || Buffer.byteLength(text) <= maxBytes) {
    return { text, errors: body.errors };
  }
  const message = `The result is larger than ${maxBytes} bytes and was dropped. Request less data, or use several operations.`;
  const details = { code: 'RESULT_LIMIT_EXCEEDED', retryable: false, requestId } as const;
  const rootFields = type === 'mutation' ? Object.keys(body.data ?? {}) : [];
  const errorOf = (name: string): ClientError =>
    findNotApplied(body.errors, name) ?? { message, path: [name], extensions: { ...details, outcome: 'UNKNOWN' } };
  const errors: readonly ClientError[] =
    rootFields.length === 0 ? [{ message, extensions: details }] : rootFields.map(errorOf);
  const data = type === 'mutation' ? Object.fromEntries(rootFields.map((name) => [name, null])) : null;
  const { upstream } = body.extensions ?? {};
  const extensions = upstream !== undefined && { extensions: { upstream } };
  return { text: JSON.stringify({ data, errors, ...extensions }), errors };
}

/** Returns the error of a root field that was not executed because execution had already stopped. */
const findNotApplied = (errors: readonly ClientError[] = [], name: string): ClientError | undefined =>
  errors.find(({ path, extensions }) => path?.length === 1 && path[0] === name && extensions.outcome === 'NOT_APPLIED');

/** Tolerance of sums of fractions, in calls. */
const ROUNDING_ERROR = 1e-6;

/** Returns the `RateLimit-*` headers of the lower limit, and `Retry-After` if a field failed because of a rate limit. */
function limitHeaders(
  allowance: AdmissionAllowance | undefined,
  cost: number,
  usage: Readonly<Usage> | undefined,
  errors: readonly ClientError[] | undefined,
): Readonly<Record<string, string>> {
  const upstream = usage?.rateLimit;
  if (allowance === undefined && upstream === undefined && errors === undefined) {
    return NO_HEADERS;
  }
  const gatewayLimit = allowance && afterCharge(allowance, cost);
  const retryAfterSeconds = errors && findRetryAfter(errors);
  return {
    ...rateLimitHeaders(lowerOf(gatewayLimit, upstream) ?? {}),
    ...(retryAfterSeconds !== undefined && { 'retry-after': String(retryAfterSeconds) }),
  };
}

/**
 * Returns the state of the gateway's limit after the operation. One call was taken before it ran; the rest is computed here, because querying
 * the limiter again would delay the response. The limiter has already rounded both numbers, so `resetSeconds` can be one second too long, but never
 * too short, and with a fractional cost, `remaining` can be one call too few, but never too many.
 */
function afterCharge(
  { limit, remaining: before, resetSeconds: until, secondsPerCall }: AdmissionAllowance,
  cost: number,
): RateLimitState {
  const remaining = Math.min(limit, Math.max(0, Math.floor(before + 1 - cost + ROUNDING_ERROR)));
  const resetSeconds = remaining === limit ? 0 : Math.max(1, Math.ceil(until + (cost - 1) * secondsPerCall));
  return { limit, remaining, resetSeconds };
}

/** Returns the limit with fewer remaining calls. */
const lowerOf = (own?: RateLimitState, upstream?: RateLimitState): RateLimitState | undefined =>
  own === undefined || (upstream !== undefined && upstream.remaining < own.remaining) ? upstream : own;

/** Returns the longest `retryAfterSeconds` of errors with the code RATE_LIMITED. */
function findRetryAfter(errors: readonly ClientError[]): number | undefined {
  const limited = errors.filter(({ extensions }) => extensions.code === 'RATE_LIMITED');
  const waits = limited.flatMap(({ extensions }) => extensions.retryAfterSeconds ?? []);
  return waits.length === 0 ? undefined : Math.max(...waits);
}

/** Creates the report of an operation; undefined if its request doesn't ask for it. */
function createUpstreamReport({ usage, budget, fieldCalls }: GatewayContext): UpstreamReport | undefined {
  if (fieldCalls === undefined) {
    return undefined;
  }
  const { requests, shared, retries, rateLimit, elapsedMs } = usage;
  const calls = budget.calls + budget.bulkItems;
  const cached = usage.cached - usage.refreshed; // A refresh sends or shares a request, as other calls do.
  const unsent = calls - shared - cached + retries - requests;
  return {
    calls,
    shared,
    cached,
    retries,
    ...(unsent > 0 && { unsent }),
    ...(rateLimit !== undefined && { rateLimitRemaining: rateLimit.remaining }),
    ms: Math.round(elapsedMs * 10) / 10,
    fields: fieldCalls.byField(),
  };
}
