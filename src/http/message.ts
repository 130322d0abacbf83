// Requests and responses as the pipeline and the other routes see them, and how many are in flight.

import { randomUUID } from 'node:crypto';
import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import type { Readable, Writable } from 'node:stream';
import { createCondition } from '../lib/promises.ts';
import type { Signal } from '../lib/signal.ts';

/** Request of `node:http` or `node:http2`. */
export type NodeMessage = Readable & Pick<IncomingMessage, 'method' | 'url' | 'headers' | 'rawHeaders' | 'socket'>;

/** Response of `node:http` or `node:http2`. */
export type NodeReply = Writable & { writeHead(status: number, headers: OutgoingHttpHeaders): unknown };

/** Request from `node:http` or the Fetch API, in the form that the pipeline reads. */
export interface IncomingRequest {
  readonly method: string;
  /** Path and query, as received; undefined if the host or the request target is not valid in a URL, or there is another `problem`. */
  readonly target: string | undefined;
  /** Why the request is malformed, in a sentence or two. @default the host or the target is not valid, if the latter is undefined */
  readonly problem?: string | undefined;
  /** Scheme that the client used, as far as it is known: behind a proxy, from `X-Forwarded-Proto`. */
  readonly scheme: 'http' | 'https';
  /** Host and port that the client addressed; undefined if it sent none. */
  readonly host: string | undefined;
  /** IP address at the other end of the connection; undefined if it is unknown. */
  readonly remoteAddress: string | undefined;
  /** Request as the host has passed it; undefined for one of the gateway itself, such as the call of a tool. */
  readonly source?: NodeMessage | Request;
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

/** Returns the scheme that the client used: `https` if the connection is encrypted, or was at the first of the proxies in front. */
export const schemeOf = (isEncrypted: boolean, request: Pick<IncomingRequest, 'header'>): IncomingRequest['scheme'] =>
  isEncrypted || /^\s*https\s*(?:,|$)/i.test(request.header('x-forwarded-proto') ?? '') ? 'https' : 'http';

export interface OutgoingResponse {
  status: number;
  headers: Readonly<Record<string, string>>;
  body: string | Uint8Array<ArrayBuffer> | undefined;
}

/** Name of the header with the id of a request, in requests and responses. Both services have it in their logs. */
export const REQUEST_ID = 'x-request-id';

/** Form of ids from clients, which must fit into a header and a log line. */
const REQUEST_ID_FORM = /^[\w.:-]{1,128}$/;

/** Returns the client's id if it is acceptable, otherwise a new one. */
export const toRequestId = (given: string | undefined): string =>
  given !== undefined && REQUEST_ID_FORM.test(given) ? given : randomUUID();

/** Handles one request. Never rejects. */
export type HandleRequest = (request: IncomingRequest) => Promise<OutgoingResponse>;

/** Exact paths, and what handles their requests. */
export interface Route {
  readonly paths: ReadonlySet<string>;
  readonly route: HandleRequest;
}

/** Counts the requests in flight, so that what they use is closed after them. */
export class RunningRequests {
  #running = 0;
  readonly #idle = createCondition(() => this.#running === 0);

  enter(): void {
    this.#running += 1;
  }

  leave(): void {
    this.#running -= 1;
    this.#idle.check();
  }

  /** Counts a request until it has ended. */
  track(request: Promise<unknown>): void {
    this.enter();
    const leave = () => this.leave();
    void request.then(leave, leave);
  }

  finished(): Promise<void> {
    return this.#idle.met();
  }
}

/** Cost of an operation, in `extensions.upstream` of its response. */
export interface UpstreamReport {
  /** Calls that fields needed: as in the call budget, and items of bulk writes. */
  calls: number;
  /** Calls that used the response of an identical call, of another operation or another field. */
  shared: number;
  /** Calls that were answered from the cache, without a request. */
  cached: number;
  /** Requests that were sent again. Sent requests = calls - shared - cached - unsent + retries. */
  retries: number;
  /** Calls that failed before a request was sent. Absent if there are none. */
  unsent?: number;
  /** Calls that the service still permits in its current window; absent if it says nothing. */
  rateLimitRemaining?: number;
  /** Time during which at least one call was in flight, in milliseconds. */
  ms: number;
  /** Calls by field, such as `Query.workflows`. A call that several fields needed counts for each. */
  fields: Record<string, number>;
}
