// Defines the plan of an operation's REST calls, as GraphiQL shows it.

import type { RecordedCache } from '../upstream/calls.ts';

/** Plan of an operation's REST calls, in `extensions.explain` of the response. */
export interface Explanation {
  /** REST calls, in the order in which they can start. */
  calls: ExplainedCall[];
  /** Cost against the call budget. Items of bulk writes don't count. `limit` is `maxUpstreamCalls`. */
  budget: Range & { limit: number };
  /** Items of bulk writes, which have a limit of their own. Absent if there are none. */
  bulkItems?: Range & { limit: number };
  /** Fields of mutations that were not run, because what they do is unknown. Absent if there are none. */
  notExplained?: string[];
  scopes: string[];
}

export interface Range {
  min: number;
  max: number;
}

/** REST call, or several if data decides their number. */
export interface ExplainedCall extends Range {
  /** Number from 1 that `after` refers to. */
  id: number;
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Template of the path, without ids. */
  route: string;
  /** Fields that need it, as `Type.field`. */
  fields: string[];
  /** Ids of the calls whose data must arrive first. Empty if it starts at once. */
  after: number[];
  /** Reason why data decides the number, in one sentence. Absent if `min` and `max` are equal. */
  reason?: string;
  /** Use of the cache. Absent if the response is never cached: it is a write, or the cache is off. */
  cache?: RecordedCache;
  /** Whether operations with the same credential that need it at the same time share one request. True for reads. */
  shared: boolean;
  /** Command that sends it, with `***` in place of the key. Absent if data decides the path, or if another part contains the key. */
  curl?: string;
}
