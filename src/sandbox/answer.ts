import { STATUS_CODES } from 'node:http';

import type { Clock } from './clock.ts';
import type { ApiError } from './errors.ts';

/** What is sent: the body is text already, so that a repeated answer is the same to the byte. */
export interface Answer {
  status: number;
  body: string | null;
  headers: Record<string, string>;
}

/** The usual answer: the result in an object with one key `data`. */
export function dataAnswer(status: 200 | 201, data: unknown): Answer {
  return bareAnswer(status, { data });
}

export function bareAnswer(status: number, body: unknown): Answer {
  return { status, body: JSON.stringify(body), headers: {} };
}

export function emptyAnswer(): Answer {
  return { status: 204, body: null, headers: {} };
}

/** @param path the request's path and query as they came */
export function errorAnswer(error: ApiError, path: string, clock: Clock): Answer {
  return { ...bareAnswer(error.status, errorBody(error.status, error.sentences, path, clock)), headers: error.headers };
}

/** The answer to a request that met a bug; `errorId` names the log entry. */
export function bugAnswer(errorId: string, path: string, clock: Clock): Answer {
  const message = 'The sandbox failed on this request; its log says why.';
  return bareAnswer(500, { ...errorBody(500, message, path, clock), errorId });
}

function errorBody(statusCode: number, message: string | string[], path: string, clock: Clock) {
  return { statusCode, timestamp: clock().toISOString(), path, message, error: STATUS_CODES[statusCode] };
}
