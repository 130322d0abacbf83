import type { Signal } from '../upstream/transport/signal.ts';

/** Request from `node:http` or the Fetch API, in the form that the pipeline reads. */
export interface IncomingRequest {
  readonly method: string;
  /** Path and query, as received; undefined if the header `Host` or the request target is not valid in a URL. */
  readonly target: string | undefined;
  /** Host and port that the client addressed; undefined if it sent none. */
  readonly host: string | undefined;
  /** Aborted when the client disconnects. */
  readonly signal: Signal;
  /** Returns the value of a header. The name must be in lower case. */
  header(name: string): string | undefined;
  /**
   * Reads the body as UTF-8.
   *
   * @throws {Refusal} PAYLOAD_TOO_LARGE if it exceeds `maxBytes`, without reading the rest; BAD_REQUEST if it is not UTF-8;
   * CLIENT_CLOSED if the client disconnects; BODY_ALREADY_READ if the host has read it and left nothing
   */
  body(maxBytes: number): Promise<string>;
  /** Returns the request without its body as a Fetch `Request`, for plugins. */
  toFetchRequest(): Request;
}

/** Complete response. */
export interface OutgoingResponse {
  status: number;
  headers: Readonly<Record<string, string>>;
  body: string | Uint8Array<ArrayBuffer> | undefined;
}

/** Handles one request. Never rejects. */
export type HandleRequest = (request: IncomingRequest) => Promise<OutgoingResponse>;

/** Returns the path of a request, without its query. */
export function pathOf({ target = '' }: IncomingRequest): string {
  const mark = target.indexOf('?');
  return mark < 0 ? target : target.slice(0, mark);
}

/** Returns the query string of a request, without the question mark. */
export function queryOf({ target = '' }: IncomingRequest): string {
  const mark = target.indexOf('?');
  return mark < 0 ? '' : target.slice(mark + 1);
}
