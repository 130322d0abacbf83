import type { Endpoint } from './errors/errors.ts';
import type { paths } from './openapi.gen.ts';
import type { Expected } from './transport/body.ts';

/** One call of an endpoint. */
export interface UpstreamCall {
  /** The path template as the API documents it. */
  route: keyof paths;
  /** The ids in the template, as they are: encoding them is done here. */
  params?: Readonly<Record<string, string>>;
  query?: Readonly<Record<string, string | number | undefined>>;
  /** Form of the body of a success; any other breaks the contract. */
  expect: Expected;
}

export interface UpstreamWrite extends UpstreamCall {
  method: Exclude<Endpoint['method'], 'GET'>;
  body?: object;
  /** Sent as `Idempotency-Key`; at most 255 characters. */
  idempotencyKey?: string | undefined;
  /** Whether it is one item of a bulk write. @default false */
  isBulkItem?: boolean;
}

/** A call, ready to be sent: its caller's key, its path with encoded ids and query. */
export interface UpstreamRequest {
  endpoint: Endpoint;
  authorization: string;
  path: string;
  requestId: string;
  call: UpstreamCall & Partial<UpstreamWrite>;
}

/** The answer to a write. */
export interface WriteResult<T> {
  body: T;
  /** Whether this is the stored answer of an earlier write with the same idempotency key. */
  replayed: boolean;
}
