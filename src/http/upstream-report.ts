import type { GatewayContext } from '../graphql/context.ts';

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

/** Creates the report of an operation; undefined if its request doesn't ask for it. */
export function createUpstreamReport({
  usage,
  fieldCalls,
}: Pick<GatewayContext, 'usage' | 'fieldCalls'>): UpstreamReport | undefined {
  if (fieldCalls === undefined) {
    return undefined;
  }
  const { requests, shared = 0, retries = 0, rateLimit, timer } = usage;
  const calls = usage.calls + usage.bulkItems;
  const cached = (usage.cached ?? 0) - (usage.refreshed ?? 0); // A refresh sends or shares a request, as other calls do.
  const unsent = calls - shared - cached + retries - requests;
  return {
    calls,
    shared,
    cached,
    retries,
    ...(unsent > 0 && { unsent }),
    ...(rateLimit !== undefined && { rateLimitRemaining: rateLimit.remaining }),
    ms: Math.round((timer?.elapsedMs() ?? 0) * 10) / 10,
    fields: fieldCalls.byField(),
  };
}
