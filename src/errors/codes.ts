// Codes of the errors that clients see, and refusals: they reject a request before it is executed.

/** Meaning of a code, and the remedy. */
export interface ErrorCodeEntry {
  /** HTTP status of a request that is rejected with this code. Codes without one occur only in executed operations (200). */
  status?: number;
  /** Whether sending the same request again can succeed and is safe. `depends`: decided per error. @default false */
  retryable?: true | 'depends';
  /** Shown in docs/errors.md, in GraphiQL and in the client's types. */
  meaning: string;
  /** Shown in the same places. */
  remedy: string;
}

/** Every code in `errors[].extensions.code`, in the order of docs/errors.md. Codes are stable: clients match them, not messages. */
export const ERROR_CODES = {
  BAD_REQUEST: {
    status: 400,
    meaning: 'The request is not a GraphQL request.',
    remedy: 'Correct the request as the message says.',
  },
  GRAPHQL_PARSE_FAILED: {
    status: 400,
    meaning: 'The document has a syntax error.',
    remedy: 'Correct the document at `locations`.',
  },
  GRAPHQL_VALIDATION_FAILED: {
    status: 400,
    meaning: 'The document does not match the schema. At most five problems are listed.',
    remedy: 'Correct the document at `locations`.',
  },
  BAD_USER_INPUT: {
    status: 400,
    meaning: 'A variable or argument is invalid, or the service refused it on a read or after storing a part.',
    remedy: 'Correct the value.',
  },
  OPERATION_RESOLUTION_FAILURE: {
    status: 400,
    meaning: 'The document has several operations and no `operationName`, or none with that name.',
    remedy: 'Send the name of one of its operations.',
  },
  DOCUMENT_LIMIT_EXCEEDED: {
    status: 400,
    meaning: 'The document exceeds one of [the limits](settings.md#documents-and-results).',
    remedy: 'Request less data, or use several operations.',
  },
  PERSISTED_QUERY_NOT_FOUND: {
    status: 400,
    meaning: 'No manifest of the gateway contains a document with this id.',
    remedy: "Add the app's manifest to the gateway.",
  },
  PERSISTED_QUERY_NOT_SUPPORTED: {
    status: 400,
    meaning: 'The client sent a hash, but the gateway has no manifest. urql and Apollo Client then send texts.',
    remedy: 'Send the text of the document, or add a manifest to the gateway.',
  },
  DOCUMENT_NOT_TRUSTED: {
    status: 400,
    meaning: 'The document is not one of the [trusted documents](frontend.md#4-trusted-documents).',
    remedy: "Add it to a manifest, or to the token's documents.",
  },
  UNAUTHENTICATED: {
    status: 401,
    meaning: 'The credential is missing, or refused: by the gateway with a [`reason`](#reasons), or by the service.',
    remedy: 'Send a valid credential.',
  },
  SIGN_IN_UNAVAILABLE: {
    status: 503,
    retryable: true,
    meaning: "The issuer's signing keys are unavailable, so tokens cannot be verified.",
    remedy: 'Wait `retryAfterSeconds`.',
  },
  FORBIDDEN: {
    status: 403,
    meaning:
      'The credential does not permit this. The message names the missing scope, the setting, the key or the subject.',
    remedy: 'Use a credential that permits it, or ask the operator to permit it.',
  },
  CSRF_REFUSED: {
    status: 403,
    meaning: 'A GET request could have been sent by a page of another site.',
    remedy: 'Send `Authorization` or `GraphQL-Require-Preflight: true`; with a session of your own server, the latter.',
  },
  NOT_FOUND: {
    status: 404,
    meaning: 'The path is unknown.',
    remedy: 'Use the path in the message.',
  },
  METHOD_NOT_ALLOWED: {
    status: 405,
    meaning: 'The HTTP method is not supported here, or the operation is a mutation sent with GET.',
    remedy: 'Use a method listed in `Allow`.',
  },
  NOT_ACCEPTABLE: {
    status: 406,
    meaning: 'The response cannot have any media type listed in `Accept`.',
    remedy: 'Accept `application/graphql-response+json` or `application/json`.',
  },
  PAYLOAD_TOO_LARGE: {
    status: 413,
    meaning: 'The request body is larger than the limit.',
    remedy: 'Send a smaller request.',
  },
  UNSUPPORTED_MEDIA_TYPE: {
    status: 415,
    meaning: 'The request body is not JSON, or is compressed.',
    remedy: 'Send uncompressed JSON with `Content-Type: application/json`.',
  },
  EXPECTATION_FAILED: {
    status: 417,
    meaning: 'The request has an `Expect` header other than `100-continue`.',
    remedy: 'Send the request without it.',
  },
  MISDIRECTED_REQUEST: {
    status: 421,
    meaning:
      'The host and path select no upstream, or another one than the token is for. Or the gateway has [no such host name](network.md#hosts). Nothing was sent.',
    remedy: 'Use the address of [the upstream](several-upstreams.md), or a name in the setting `hosts`.',
  },
  RATE_LIMITED: {
    status: 429,
    retryable: true,
    meaning:
      'Without a `path`: a limit of the gateway, on calls per time or [requests in flight](reliability.md#requests-in-flight); nothing was executed. With one: the limit of the service.',
    remedy: 'Wait `retryAfterSeconds`.',
  },
  CLIENT_CLOSED: {
    status: 499,
    meaning: 'The client disconnected. Appears only in the log and the metrics.',
    remedy: 'Nothing. No client receives it.',
  },
  OVERLOADED: {
    status: 503,
    retryable: true,
    meaning:
      'The gateway is at a limit: requests, in total or for this service, waiting calls with this key, connections, or memory.',
    remedy: 'Wait `retryAfterSeconds`.',
  },
  BODY_ALREADY_READ: {
    status: 500,
    meaning: "The server that contains the gateway has already read the request's body.",
    remedy: '[Mount the gateway](embedding.md#in-your-own-server) before body parsers.',
  },
  INTERNAL_SERVER_ERROR: {
    status: 500,
    meaning: 'A bug of the gateway. Its log has the details under `errorId`.',
    remedy: 'Report it with the `errorId`.',
  },
  UPSTREAM_UNAVAILABLE: {
    retryable: 'depends',
    meaning:
      'The service is down or unreachable, the connection broke, or an earlier request with the idempotency key is in progress.',
    remedy: 'Try again if `retryable`.',
  },
  UPSTREAM_TIMEOUT: {
    retryable: 'depends',
    meaning: 'The service did not respond completely in time, or the operation took too long.',
    remedy: 'Try again if `retryable`.',
  },
  UPSTREAM_ERROR: {
    meaning: 'The service failed on this request. `errorId` is its own id of the failure.',
    remedy: 'Report it to the operator of the service.',
  },
  UPSTREAM_BAD_RESPONSE: {
    meaning: 'The response does not match the contract, or something else answered for the service, such as a proxy.',
    remedy: 'Report it to the operator of the service. With status 404 or a redirect, the base address may be wrong.',
  },
  AUDIT_UNAVAILABLE: {
    status: 503,
    retryable: true,
    meaning:
      'The change was not sent, or the token not issued, because [the audit log](audit.md) is required and cannot be written.',
    remedy: 'Wait `retryAfterSeconds`. The operator must free the disk or correct the log.',
  },
  BUDGET_EXCEEDED: {
    meaning: 'The operation needs more upstream calls than one operation may make.',
    remedy: 'Request less data, or use several operations.',
  },
  RESULT_LIMIT_EXCEEDED: {
    meaning: 'The result has too many errors or values, or is too large. Fields that were not completed are null.',
    remedy: 'Request less data, or use several operations.',
  },
} as const satisfies Record<string, ErrorCodeEntry>;

/** Code of an error in a response. */
export type ErrorCode = keyof typeof ERROR_CODES;

/** Codes that a request can be refused with before it is executed. */
type RefusalCode = {
  [Code in ErrorCode]: (typeof ERROR_CODES)[Code] extends { status: number } ? Code : never;
}[ErrorCode];

export const isErrorCode = (code: unknown): code is ErrorCode =>
  typeof code === 'string' && Object.hasOwn(ERROR_CODES, code);

/** Error of a rejected request. All members except `message` appear in `extensions` of the error in the response. */
export interface RefusalError {
  /** One of `ERROR_CODES`. In a response, it can also be a code that a plugin has defined. */
  code: string;
  /** One or two sentences for the caller: the problem, then the remedy. */
  message: string;
  /** Whether sending the same request again can succeed and is safe. */
  retryable: boolean;
  retryAfterSeconds?: number;
  /** Reason for rejecting the credential, with UNAUTHENTICATED. */
  reason?: string;
  /** Missing scope, with FORBIDDEN. */
  scope?: string;
}

/** Rejects a request before it is executed. Contains the status, headers and errors of the response. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly errors: readonly RefusalError[];

  constructor(status: number, errors: readonly [RefusalError, ...RefusalError[]], headers: Refusal['headers'] = {}) {
    super(errors[0].message);
    this.status = status;
    this.errors = errors;
    this.headers = headers;
  }
}

/** Returns the errors of a refusal as they appear in the response, with further extensions. */
export const refusalErrors = <Extensions extends object>({ errors }: Refusal, extensions: Extensions) =>
  errors.map(({ message, ...details }) => ({ message, extensions: { ...details, ...extensions } }));

/** Creates a refusal with the status and `retryable` of its code. `retryAfterSeconds` is also sent as `Retry-After`. */
export function refuse(
  code: RefusalCode,
  message: string,
  {
    headers,
    ...details
  }: Pick<RefusalError, 'retryAfterSeconds' | 'reason' | 'scope'> & { headers?: Refusal['headers'] } = {},
): Refusal {
  const { status, retryable = false }: { status: number; retryable?: boolean } = ERROR_CODES[code];
  const { retryAfterSeconds } = details;
  return new Refusal(status, [{ code, message, retryable, ...details }], {
    ...(retryAfterSeconds !== undefined && { 'retry-after': String(retryAfterSeconds) }),
    ...headers,
  });
}

/** Creates the refusal of a gateway that handles too many requests. */
export const gatewayOverloaded = (): Refusal =>
  refuse('OVERLOADED', 'The gateway is overloaded. Send the request again in a moment.', { retryAfterSeconds: 1 });

/** Creates the error for a body that is too large. The rest of it is never read, so the connection can't be reused. */
export const bodyTooLarge = (maxBytes: number): Refusal =>
  refuse('PAYLOAD_TOO_LARGE', `The request body is larger than ${maxBytes} bytes. Send a smaller one.`, {
    headers: { connection: 'close' },
  });
