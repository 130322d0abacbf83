import type { Endpoint, UpstreamRateLimit } from './errors.ts';
import type { paths } from './openapi.gen.ts';

/** Call of one REST endpoint. */
export interface UpstreamCall {
  /** Path template from the API's documentation. */
  route: keyof paths;
  /** Ids for the template's parameters, not encoded. */
  params?: Readonly<Record<string, string>>;
  /** Query parameters; undefined values are left out. */
  query?: Readonly<Record<string, string | number | undefined>>;
  /** Form of the body of a successful response. Any other form violates the contract. */
  expect: Expected;
}

/** Call that changes data. */
export interface UpstreamWrite extends UpstreamCall {
  /** HTTP method. */
  method: Exclude<Endpoint['method'], 'GET'>;
  /** Sent as JSON. */
  body?: object;
  /** Sent as `Idempotency-Key`; at most 255 characters. */
  idempotencyKey?: string | undefined;
  /** Whether the call is one item of a bulk write, which has a separate limit. @default false */
  isBulkItem?: boolean;
}

/** Call that is ready to be sent, with the caller's credential. */
export interface UpstreamRequest {
  endpoint: Endpoint;
  authorization: string;
  /** Path with encoded ids and query. */
  path: string;
  requestId: string;
  call: UpstreamCall & Partial<UpstreamWrite>;
  /** Earlier response of a read, which the service can confirm with a 304. @default none */
  known?: KnownResponse;
}

/** Earlier response. */
export interface KnownResponse {
  /** Its `ETag`. */
  etag: string;
  body: unknown;
  /** Size of the body as received, in bytes. */
  bytes: number;
}

/** Result of a write. */
export interface WriteResult<T> {
  /** Response body without its envelope. */
  body: T;
  /** Whether the service returned its stored response to an earlier write with the same idempotency key. */
  replayed: boolean;
}

/** Form of a successful response: one object, a list of objects, or a body that is ignored. */
export type Expected = 'record' | 'list' | 'nothing';

/** Decoded response. */
export interface UpstreamResult extends WriteResult<unknown> {
  status: number;
  rateLimit: UpstreamRateLimit | undefined;
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
