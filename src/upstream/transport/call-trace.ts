import { portOf } from '../../lib/urls.ts';
import type { Endpoint } from '../errors.ts';
import type { TraceHeaders, UpstreamResult } from './exchange.ts';

/** Address of the service. */
export interface ServerAddress {
  /** Host name or IP address. */
  host: string;
  port: number;
}

/** Request that is about to be sent. */
export interface TracedRequest {
  endpoint: Endpoint;
  server: ServerAddress;
  /** Number of earlier attempts of the same call. */
  resends: number;
}

/** Ids of an operation's span, with OpenTelemetry's names for fields of log lines. */
export interface TraceIds {
  readonly trace_id: string;
  readonly span_id: string;
}

/** Receiver of the upstream calls of one operation, for its trace. Its functions never throw. */
export interface CallTrace {
  /** For log lines. */
  readonly ids: TraceIds;
  /** Called when a call starts to wait for other calls of its credential. */
  queued(endpoint: Endpoint): void;
  /** Called when the wait has ended. */
  dequeued(endpoint: Endpoint, waitedMs: number): void;
  /** Called when a call pauses before it is retried. */
  retryDelayed(endpoint: Endpoint, delayMs: number): void;
  /** Called for every call. Records if it fails without being sent, because of a rate limit, the circuit breaker or a full queue. */
  watchCall(result: Promise<UpstreamResult>): void;
  /**
   * Sends a request with a span of its own.
   *
   * @param send sends the request with the headers of the span; undefined if there are none
   */
  send(
    request: TracedRequest,
    send: (headers: TraceHeaders | undefined) => Promise<UpstreamResult>,
  ): Promise<UpstreamResult>;
  /**
   * Called when the operation uses the result or the error of a request that was sent for another one, in flight or stored. Links the operation
   * to the span of that request.
   */
  share(endpoint: Endpoint, result: Promise<UpstreamResult>): void;
}

/** Returns the address in a URL. */
export const serverAddressOf = (url: URL): ServerAddress => ({ host: url.hostname, port: portOf(url) });
