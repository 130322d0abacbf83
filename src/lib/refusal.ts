import type { ServerResponse } from 'node:http';

/** Error of a rejected request. All members except `message` appear in `extensions` of the error in the response. */
export interface RefusalError {
  /** One of the codes of `settings/error-codes.ts`. */
  code: string;
  /** One or two sentences for the caller: the problem, then the remedy. */
  message: string;
  /** Whether sending the same request again can succeed. */
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

/**
 * Sends the response to a request that is rejected before the gateway sees it. The connection is closed if the rest of the request will not
 * be read.
 */
export function sendRefusal(response: ServerResponse, refusal: Refusal, { closes = false } = {}): void {
  const body = Buffer.from(JSON.stringify({ errors: refusalErrors(refusal, {}) }));
  response.writeHead(refusal.status, {
    'content-type': 'application/json',
    'content-length': body.length,
    'cache-control': 'no-store',
    ...refusal.headers,
    ...(closes && { connection: 'close' }),
  });
  response.end(body);
}
