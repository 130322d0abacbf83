import type { CallLog } from './call-log.ts';
import type { CallTimer } from './call-timer.ts';
import type { UpstreamRateLimit } from './errors.ts';
import type { Signal } from './signal.ts';
import type { CallTrace } from './transport/call-trace.ts';
import type { WriteAuthor } from './write-audit.ts';

/** Credential, deadline and cancellation of the operation that makes the calls. */
export interface Caller {
  /** `Authorization` header, forwarded unchanged. If undefined, every call fails before it is sent. */
  authorization: string | undefined;
  /** Aborts every call when the client disconnects. */
  signal: Signal;
  /** Deadline of the operation, on the clock of `performance.now()`. Queueing and retries count too. */
  deadlineAt: number;
  /** Sent as `X-Request-Id`, to correlate the logs of both services. */
  requestId: string;
  /** Updated with every call. */
  usage: Usage;
  /** Whether reads use no stored responses. Their responses are stored. @default false */
  bypassesCache?: boolean;
  /** Author of writes, for the audit log. @default none: writes are not recorded */
  author?: WriteAuthor;
}

/** Cost of an operation so far. */
export interface Usage {
  /** Calls made by resolvers and loaders. */
  calls: number;
  /** Items of bulk writes. */
  bulkItems: number;
  /** Requests sent for these calls: fewer if calls were coalesced, more if calls were retried. */
  requests: number;
  /** Calls that used the response of an identical call in flight. @default 0 */
  shared?: number;
  /** Requests that were sent again, after a failure or because a stored response could no longer be used. @default 0 */
  retries?: number;
  /** Reads that were answered from the cache. @default 0 */
  cached?: number;
  /** Reads among `cached` that first waited for a refresh, which failed or took too long. @default 0 */
  refreshed?: number;
  /** Age of the oldest stored response that was used because the service failed, in milliseconds. Absent if none was. */
  staleMs?: number;
  /** The service's own rate limit, from the response with the fewest calls remaining. Absent if the service reported none. */
  rateLimit?: UpstreamRateLimit;
  /** Records the calls for the log. @default none: the log does not have the level `debug` */
  log?: CallLog;
  /** Measures the time of the calls. @default none: the request doesn't ask for it */
  timer?: CallTimer;
  /** Trace of the operation. @default none */
  trace?: CallTrace;
}
