// Defines the request and the result of a call.

import type { CallArgs, DeclaredEndpoint, WriteOptions } from './endpoint.ts';
import type { RateLimitState } from './errors.ts';

/** Call that is ready to be sent, with the caller's credential. */
export interface UpstreamRequest {
  endpoint: DeclaredEndpoint;
  credential: string;
  /** Person who shares the credential with others, or the credential itself for servers. */
  callerId: string;
  /** Path with encoded ids and query. */
  path: string;
  requestId: string;
  args: CallArgs & WriteOptions;
  /** Headers that the endpoint declares; undefined if there are none. */
  headers: Readonly<Record<string, string>> | undefined;
  /** Body as it is sent; undefined if there is none. */
  body: string | undefined;
  /** Earlier response of a read, which the service can confirm with a 304. @default none */
  known?: Required<Pick<UpstreamResult, 'etag' | 'body' | 'bytes'>>;
}

/** Whether a call is of a person, who has only a token and shares the credential. Servers have the credential itself. */
export const isOfPerson = ({ callerId, credential }: Pick<UpstreamRequest, 'callerId' | 'credential'>): boolean =>
  callerId !== credential;

export interface WriteResult<T> {
  /** Response body without its envelope. */
  body: T;
  /** Whether the service returned its stored response to an earlier write with the same idempotency key. */
  replayed: boolean;
  /** Members of the body that were to be cleared, but have a value in the response. Absent if the endpoint clears none. */
  uncleared?: readonly string[];
  /** Members of the body that have another value in the response. Absent if the endpoint confirms none. */
  unapplied?: readonly string[];
  /** Header `Date` of the response, by which its times can be compared. Absent if the endpoint clears nothing. */
  date?: string | undefined;
}

export interface UpstreamResult extends WriteResult<unknown> {
  status: number;
  rateLimit: RateLimitState | undefined;
  /** `ETag` of a read. Absent if there is none, or it is invalid. */
  etag?: string;
  /** Size of the received body, in bytes. */
  bytes: number;
}

/** Headers that propagate the trace context upstream. */
export interface TraceHeaders {
  traceparent: string;
  tracestate?: string;
}
