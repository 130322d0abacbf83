/** REST calls that an operation needs. */
export interface Explanation {
  /** REST calls, in the order in which they can start. */
  calls: ExplainedCall[];
  /** Cost against the call budget: calls, not counting items of `createSubscribers`. `limit` is the gateway's setting `maxUpstreamCalls`. */
  budget: ExplainedBudget;
  /** Items of bulk writes, which have a limit of their own. Absent if there are none. */
  bulkItems?: ExplainedBudget;
  /** Scopes that a token needs. */
  scopes: string[];
}

/** Cost of an operation, and its limit. */
export interface ExplainedBudget {
  min: number;
  max: number;
  limit: number;
}

/** Kind of REST call, with the number of times that it is made. */
export interface ExplainedCall {
  /** 1, 2, …; referred to by `after`. */
  id: number;
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Template of the path, without ids. */
  route: string;
  /** Fields that need it, as `Type.field`. */
  fields: string[];
  /** Ids of the calls whose data must arrive first. Empty if it starts at once. */
  after: number[];
  /** Minimum number of calls. Equals `max` unless data decides. */
  min: number;
  /** Maximum number of calls. */
  max: number;
  /** Reason why data decides the number, in one sentence. Absent if `min` and `max` are equal. */
  reason?: string;
  /**
   * State of the path in the gateway's cache; `unknown` if data decides the path. Absent if the response is never cached: it is a write,
   * or the cache is off.
   */
  cache?: { state: 'fresh' | 'stale' | 'absent' | 'unknown'; freshSeconds: number };
  /** Whether operations with the same credential that need it at the same time share one request. True for reads. */
  shared: boolean;
  /** Command that sends the call, with the key masked. Absent if data decides the path. */
  curl?: string;
}
