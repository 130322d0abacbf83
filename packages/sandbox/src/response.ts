// Forms of requests and responses, and the bodies of errors.

import { type IncomingMessage, STATUS_CODES } from 'node:http';
import type { ApiError } from './errors.ts';

/** A response before it is sent. The body is already encoded, so that a replayed response is identical to the byte. */
export interface SandboxResponse {
  status: number;
  body: string | null;
  headers: Record<string, string>;
}

/** Part of a `node:http` request that the sandbox uses. */
export type SandboxRequest = Pick<
  IncomingMessage,
  'method' | 'url' | 'headers' | 'socket' | 'iterator' | 'destroyed' | 'complete'
>;

/** Responds to a request, whatever happens. Returns undefined if the client disconnected before its request was complete. */
export type Respond = (request: SandboxRequest) => Promise<SandboxResponse | undefined>;

/** Wraps the result in an object with one key, `data`, as most endpoints do. */
export const dataResponse = (status: 200 | 201, data: unknown): SandboxResponse => bareResponse(status, { data });

/** Creates a response whose body is the given value, not wrapped in `data`. */
export function bareResponse(status: number, body: unknown): SandboxResponse {
  return { status, body: JSON.stringify(body), headers: {} };
}

export const emptyResponse = (): SandboxResponse => ({ status: 204, body: null, headers: {} });

/**
 * Creates the response to a request that failed.
 *
 * @param path path and query of the request, as received
 * @param errorId identifies the log entry of a bug
 */
export function errorResponse(
  { status, messages, headers }: ApiError,
  path: string,
  clock: () => Date,
  errorId?: string,
): SandboxResponse {
  const error = { statusCode: status, timestamp: clock().toISOString(), path, message: messages };
  return { ...bareResponse(status, { ...error, error: STATUS_CODES[status], errorId }), headers };
}
