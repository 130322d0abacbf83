/** The codes of errors; see docs/errors.md. A later gateway may know more. */
export type ErrorCode =
  | 'BAD_REQUEST'
  | 'BAD_USER_INPUT'
  | 'BUDGET_EXCEEDED'
  | 'CLIENT_CLOSED'
  | 'CSRF_REFUSED'
  | 'DOCUMENT_NOT_TRUSTED'
  | 'DOCUMENT_LIMIT_EXCEEDED'
  | 'FORBIDDEN'
  | 'GRAPHQL_PARSE_FAILED'
  | 'GRAPHQL_VALIDATION_FAILED'
  | 'INTERNAL_SERVER_ERROR'
  | 'METHOD_NOT_ALLOWED'
  | 'NOT_ACCEPTABLE'
  | 'NOT_FOUND'
  | 'OPERATION_RESOLUTION_FAILURE'
  | 'OVERLOADED'
  | 'PAYLOAD_TOO_LARGE'
  | 'PERSISTED_QUERY_NOT_FOUND'
  | 'RATE_LIMITED'
  | 'RESULT_LIMIT_EXCEEDED'
  | 'SIGN_IN_UNAVAILABLE'
  | 'UNAUTHENTICATED'
  | 'UNSUPPORTED_MEDIA_TYPE'
  | 'UPSTREAM_BAD_RESPONSE'
  | 'UPSTREAM_ERROR'
  | 'UPSTREAM_TIMEOUT'
  | 'UPSTREAM_UNAVAILABLE'
  | (string & Record<never, never>);

/** What the gateway says of an error besides its message. */
export interface ErrorExtensions {
  code: ErrorCode;
  /** Whether sending the same again can help, and is safe. */
  retryable: boolean;
  /** Finds the request in the gateway's log. */
  requestId?: string;
  /** Seconds to wait before sending it again. */
  retryAfterSeconds?: number;
  /** On mutations, what became of the write: after `UNKNOWN` look before you repeat it. */
  outcome?: 'NOT_APPLIED' | 'UNKNOWN';
  /** With `FORBIDDEN`: the scope that the token lacks. */
  scope?: string;
  /** With `UNAUTHENTICATED`: what is wrong with the token, such as `TOKEN_EXPIRED`. */
  reason?: string;
  /** Finds the failure in a log, the gateway's or the service's. */
  errorId?: string;
  /** The call that failed; `route` is a template, without ids. */
  upstream?: { status?: number; method: string; route: string };
}

/** A failure that is no part of a mutation's result. */
export interface GatewayError {
  /** For people. */
  message: string;
  /** The field that failed. Without it the operation was not executed at all. */
  path?: readonly (string | number)[];
  /** Places in the document. */
  locations?: readonly { line: number; column: number }[];
  extensions: ErrorExtensions;
}

interface ResponseHead {
  /** The HTTP status. */
  status: number;
  headers: Headers;
}

/** What an operation came to: all of its data, or errors and what could be had besides them. */
export type OperationResult<Result> = ResponseHead & ResultBody<Result>;

type ResultBody<Result> =
  | { data: Result; errors?: undefined }
  | { data: Result | null; errors: readonly GatewayError[] };

/** What came back is no answer of the gateway: another server, a proxy, or a page in between has spoken. */
export class UnexpectedResponseError extends Error {
  override readonly name = 'UnexpectedResponseError';
  /** The HTTP status. */
  readonly status: number;
  /** The first 1,000 characters of what came. */
  readonly body: string;

  constructor(response: Response, body: string) {
    const type = response.headers.get('content-type') ?? 'no content type';
    super(
      `This is not a response of a Notigraph gateway: HTTP ${response.status}, ${type}. Is the URL its GraphQL endpoint?`,
    );
    this.status = response.status;
    this.body = body.slice(0, 1000);
  }
}

/** @throws {UnexpectedResponseError} when the body is no answer of the gateway */
export async function readResult<Result>(response: Response): Promise<OperationResult<Result>> {
  const { status, headers } = response;
  const text = await response.text();
  const body = parse(text);
  if (isFailure<Result>(body)) {
    return { status, headers, data: body.data ?? null, errors: body.errors };
  }
  if (isSuccess<Result>(body)) {
    return { status, headers, data: body.data };
  }
  throw new UnexpectedResponseError(response, text);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

const isSuccess = <Result>(body: unknown): body is { data: Result } =>
  isObject(body) && isObject(body.data) && body.errors === undefined;

const isFailure = <Result>(body: unknown): body is { data?: Result | null; errors: GatewayError[] } =>
  isObject(body) && Array.isArray(body.errors) && body.errors.length > 0 && body.errors.every(isGatewayError);

const isGatewayError = (error: unknown): error is GatewayError =>
  isObject(error) &&
  typeof error.message === 'string' &&
  isObject(error.extensions) &&
  typeof error.extensions.code === 'string';
