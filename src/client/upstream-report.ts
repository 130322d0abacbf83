/** REST calls that an operation made. Requests sent to the service are `calls - shared - cached - unsent + retries`. */
export interface UpstreamReport {
  /** Calls that fields needed: as in the budget, and items of bulk writes. */
  calls: number;
  /** Calls that used the response of an identical call of another operation or field. */
  shared: number;
  /** Calls that were answered from the cache. */
  cached: number;
  /** Requests that the gateway sent again after a failure. */
  retries: number;
  /** Calls that failed before a request was sent. Absent if there are none. */
  unsent?: number;
  /** Calls that the service still permits in its current window. Absent if it doesn't say. */
  rateLimitRemaining?: number;
  /** Time during which at least one call was in flight, in milliseconds. */
  ms: number;
  /** Calls per field, such as `{ 'Query.workflows': 20 }`. A call that several fields needed counts for each. */
  fields: Record<string, number>;
}
