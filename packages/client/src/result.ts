// Types of results, and how they are read.

import type { KnownErrorCode } from './error-codes.gen.ts';

/** Code of an error; see docs/errors.md. A later gateway may have more. */
export type ErrorCode = KnownErrorCode | (string & Record<never, never>);

/** Details of an error besides its message. */
export interface ErrorExtensions {
  code: ErrorCode;
  /** Whether sending the same request again can succeed and is safe. */
  retryable: boolean;
  /** Id of the request in the gateway's log. */
  requestId?: string;
  /** Seconds to wait before sending the request again. */
  retryAfterSeconds?: number;
  /** Outcome of a failed mutation. After `UNKNOWN`, check whether it was applied before you repeat it. */
  outcome?: 'NOT_APPLIED' | 'UNKNOWN';
  /** Present if the service stored the failure under the idempotency key. Only a request with a new key can succeed. */
  replayed?: true;
  /** Missing scope, with `FORBIDDEN`. */
  scope?: string;
  /** Problem of the credential, such as `TOKEN_EXPIRED`, with `UNAUTHENTICATED`. */
  reason?: string;
  /** Id of the failure in the log of the gateway or the service. */
  errorId?: string;
  /** Failed call. `route` is a template without ids. */
  upstream?: { status?: number; method: string; route: string };
}

/** Failure that is not part of a mutation's result. */
export interface GatewayError {
  /** One or two sentences for developers. */
  message: string;
  /** Path of the failed field. Without it, the operation was not executed. */
  path?: readonly (string | number)[];
  /** Positions in the document. */
  locations?: readonly { line: number; column: number }[];
  extensions: ErrorExtensions;
}

/** Details of a response besides its data. Plugins of the gateway can add more. */
export interface ResponseExtensions {
  /** Present if the service failed, and data that the gateway had kept was used instead. */
  cache?: {
    stale: true;
    /** Age of the oldest data. */
    ageSeconds: number;
  };
  /** REST calls that the operation needs, if `explain` asked for them. */
  explain?: Explanation;
  /** REST calls that the operation made, if the option `cost` asked for them. */
  upstream?: UpstreamReport;
  [name: string]: unknown;
}

interface ResponseHead {
  /** HTTP status. */
  status: number;
  headers: Headers;
  /** Number of times that the request was sent. */
  attempts: number;
  /** Absent if there are none. */
  extensions?: ResponseExtensions;
}

/** Result of an operation: all of its data, or errors with partial data. */
export type OperationResult<Result> = ResponseHead & ResultBody<Result>;

/** Plan of an operation, or the errors that prevent it. */
export type ExplainResult = ResponseHead &
  (
    | { explanation: Explanation; errors?: readonly GatewayError[] }
    | { explanation?: undefined; errors: readonly GatewayError[] }
  );

type ResultBody<Result> =
  | { data: Result; errors?: undefined }
  | { data: Result | null; errors: readonly GatewayError[] };

/** Thrown if the response is not from a gateway, but from another server or a proxy in between, or if it is a redirect, which isn't followed. */
export class UnexpectedResponseError extends Error {
  override readonly name = 'UnexpectedResponseError';
  /** `REDIRECTED` if the URL leads to another one. */
  readonly code: 'UNEXPECTED_RESPONSE' | 'REDIRECTED';
  /** Outcome of a mutation; undefined if the response doesn't decide it. */
  outcome: 'NOT_APPLIED' | 'UNKNOWN' | undefined;
  /** HTTP status. Browsers say 0 for a redirect. */
  readonly status: number;
  readonly headers: Headers;
  /** First 1,000 characters of the body. */
  readonly body: string;

  constructor(response: Response, body: string, redirect?: Redirect) {
    const type = response.headers.get('content-type') ?? 'no content type';
    super(
      redirect === undefined
        ? `This is not a response of a Notigraph gateway: HTTP ${response.status}, ${type}. Is the URL its GraphQL endpoint?`
        : explain(redirect),
    );
    this.code = redirect === undefined ? 'UNEXPECTED_RESPONSE' : 'REDIRECTED';
    this.outcome = redirect?.isFollowed === false ? 'NOT_APPLIED' : undefined;
    this.status = response.status;
    this.headers = response.headers;
    this.body = body.slice(0, 1000);
  }
}

interface Redirect {
  /** Absent in browsers, which don't tell. */
  target: string | undefined;
  /** Whether `fetch` has followed it, as that of React Native always does. */
  isFollowed: boolean;
}

const explain = ({ target }: Redirect): string =>
  target === undefined
    ? "The request was redirected to an address that isn't known here; use the GraphQL endpoint's own address as url."
    : `The request was redirected to ${target}; use this as url if it is the gateway's GraphQL endpoint.`;

/** Returns the redirect that a response is, or that `fetch` has followed. */
function findRedirect(response: Response, url: string | URL): Redirect | undefined {
  if (response.type === 'opaqueredirect' || [301, 302, 303, 307, 308].includes(response.status)) {
    const location = response.headers.get('location');
    return { target: location === null ? undefined : resolve(location, response.url || url), isFollowed: false };
  }
  const target = withoutSecrets(response.url);
  const isFollowed = response.redirected ?? target !== withoutSecrets(String(url)); // React Native doesn't say so itself.
  return isFollowed ? { target, isFollowed } : undefined;
}

function resolve(location: string, base: string | URL): string {
  try {
    return withoutSecrets(new URL(location, base).href);
  } catch {
    return withoutSecrets(location); // The base is relative too.
  }
}

/** Returns an address without user name, password, query and fragment. */
const withoutSecrets = (address: string): string => address.replace(/[?#].*/s, '').replace(/\/\/[^/]*@/, '//');

/**
 * Reads the response of a gateway.
 *
 * @param url address to which the request was sent
 * @throws {UnexpectedResponseError}
 */
export async function readResult<Result>(response: Response, url: string | URL): Promise<OperationResult<Result>> {
  const { status, headers } = response;
  const redirect = findRedirect(response, url);
  const text = await response.text();
  const body = redirect?.isFollowed === false ? undefined : parse(text);
  // Behind a redirect, a refused request lacks what the redirect has dropped, such as the credential.
  if (isFailure<Result>(body) && (redirect === undefined || body.errors.some(({ path }) => path !== undefined))) {
    return { status, headers, attempts: 1, data: body.data ?? null, errors: body.errors, ...extensionsOf(body) };
  }
  if (isSuccess<Result>(body)) {
    return { status, headers, attempts: 1, data: body.data, ...extensionsOf(body) };
  }
  throw new UnexpectedResponseError(response, text, redirect);
}

const extensionsOf = ({ extensions }: { extensions?: ResponseExtensions }): Pick<ResponseHead, 'extensions'> =>
  isObject(extensions) ? { extensions } : {};

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

const isSuccess = <Result>(body: unknown): body is { data: Result; extensions?: ResponseExtensions } =>
  isObject(body) && isObject(body.data) && body.errors === undefined;

const isFailure = <Result>(
  body: unknown,
): body is { data?: Result | null; errors: GatewayError[]; extensions?: ResponseExtensions } =>
  isObject(body) && Array.isArray(body.errors) && body.errors.length > 0 && body.errors.every(isGatewayError);

const isGatewayError = (error: unknown): error is GatewayError =>
  isObject(error) &&
  typeof error.message === 'string' &&
  isObject(error.extensions) &&
  typeof error.extensions.code === 'string';

/** REST calls that an operation made. Requests sent to the service are `calls - shared - cached - unsent + retries`. */
export interface UpstreamReport {
  /** Calls that fields needed: as in the budget, and items of bulk writes. */
  calls: number;
  /** Calls that used the response of an identical call of another operation or field. */
  shared: number;
  /** Calls that were answered from the cache. */
  cached: number;
  /** Requests that the gateway sent again after a failure. */
  retries: number;
  /** Calls that failed before a request was sent. Absent if there are none. */
  unsent?: number;
  /** Calls that the service still permits in its current window. Absent if it doesn't say. */
  rateLimitRemaining?: number;
  /** Time during which at least one call was in flight, in milliseconds. */
  ms: number;
  /** Calls per field, such as `{ 'Query.workflows': 20 }`. A call that several fields needed counts for each. */
  fields: Record<string, number>;
}

/** REST calls that an operation needs. */
export interface Explanation {
  /** REST calls, in the order in which they can start. */
  calls: ExplainedCall[];
  /** Cost against the call budget: calls, not counting items of `createSubscribers`. `limit` is the gateway's setting `maxUpstreamCalls`. */
  budget: ExplainedBudget;
  /** Items of bulk writes, which have a limit of their own. Absent if there are none. */
  bulkItems?: ExplainedBudget;
  /** Fields of mutations that were not run, because a module does something of its own in them. Absent if there are none. */
  notExplained?: string[];
  /** Scopes that a token needs. */
  scopes: string[];
}

/** Cost of an operation, and its limit. */
export interface ExplainedBudget {
  min: number;
  max: number;
  limit: number;
}

/** Kind of REST call, with the number of times that it is made. */
export interface ExplainedCall {
  /** 1, 2, …; referred to by `after`. */
  id: number;
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Template of the path, without ids. */
  route: string;
  /** Fields that need it, as `Type.field`. */
  fields: string[];
  /** Ids of the calls whose data must arrive first. Empty if it starts at once. */
  after: number[];
  /** Minimum number of calls. Equals `max` unless data decides. */
  min: number;
  /** Maximum number of calls. */
  max: number;
  /** Reason why data decides the number, in one sentence. Absent if `min` and `max` are equal. */
  reason?: string;
  /**
   * State of the path in the gateway's cache; `unknown` if data decides the path. Absent if the response is never cached: it is a write,
   * or the cache is off.
   */
  cache?: { state: 'fresh' | 'stale' | 'absent' | 'unknown'; freshSeconds: number };
  /** Whether operations with the same credential that need it at the same time share one request. True for reads. */
  shared: boolean;
  /** Command that sends the call, with the key masked. Absent if data decides the path. */
  curl?: string;
}
