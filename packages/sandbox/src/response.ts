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
export function dataResponse(status: 200 | 201, data: unknown): SandboxResponse {
  return bareResponse(status, { data });
}

/** Creates a response whose body is the given value, not wrapped in `data`. */
export function bareResponse(status: number, body: unknown): SandboxResponse {
  return { status, body: JSON.stringify(body), headers: {} };
}

export function emptyResponse(): SandboxResponse {
  return { status: 204, body: null, headers: {} };
}

/**
 * Creates the response to a rejected request.
 *
 * @param path path and query of the request, as received
 */
export function errorResponse(error: ApiError, path: string, clock: () => Date): SandboxResponse {
  return {
    ...bareResponse(error.status, errorBody(error.status, error.messages, path, clock)),
    headers: error.headers,
  };
}

/** Creates the response to a request that failed because of a bug. `errorId` identifies the log entry. */
export function unexpectedErrorResponse(errorId: string, path: string, clock: () => Date): SandboxResponse {
  const message = 'Unexpected error in the sandbox. See its log for details.';
  return bareResponse(500, { ...errorBody(500, message, path, clock), errorId });
}

/** Creates the response to a write that wasn't made because the file can't be written. */
export function unwritableFileResponse(path: string, clock: () => Date): SandboxResponse {
  const message = "The sandbox can't write its file, so nothing was changed. See its log for the reason.";
  return bareResponse(507, errorBody(507, message, path, clock));
}

function errorBody(statusCode: number, message: string | string[], path: string, clock: () => Date) {
  return { statusCode, timestamp: clock().toISOString(), path, message, error: STATUS_CODES[statusCode] };
}
