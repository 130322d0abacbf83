import type { UpstreamCall, UpstreamRequest } from '../../upstream/request.ts';
import type { ExplainedCall, Range } from './explanation.ts';

/** Call of the plan, before the cache is looked up. */
export interface PlannedCall extends Omit<ExplainedCall, 'route' | 'cache' | 'curl' | 'shared'> {
  route: UpstreamCall['route'];
  /** The call itself; undefined if data decides its path. */
  request: UpstreamRequest | undefined;
}

/** Calls of which data decides the number. */
export interface OpenCalls extends Pick<UpstreamCall, 'route'> {
  fields: Iterable<string>;
  after: Iterable<number>;
  max: number;
  /** Number of certain calls that they can displace, from `displace`. @default 0 */
  displaced?: number;
  reason: string;
  /** Returns the call, if data decides only whether it is made. @default data decides its path */
  request?: () => UpstreamRequest;
}

const BUDGET_REASON = 'None if earlier calls use up the call budget.';

/** Plan of an operation's calls. Applies the call budget. */
export class CallPlan {
  readonly calls: PlannedCall[] = [];
  /** Calls, and items of bulk writes. */
  readonly budget: Range = { min: 0, max: 0 };
  readonly bulkItems: Range = { min: 0, max: 0 };
  readonly #limit: number;

  /** @param limit maximum calls of the operation */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Adds a call that is made whatever the data is. Identical reads that start at the same time become one entry. */
  addCertain(request: UpstreamRequest, fields: readonly string[], after: readonly number[]): PlannedCall {
    const { endpoint, call, path } = request;
    const isCertain = call.isBulkItem === true || this.budget.max < this.#limit;
    const used = call.isBulkItem ? this.bulkItems : this.budget;
    used.min += 1;
    used.max = call.isBulkItem ? used.max + 1 : Math.min(used.max + 1, this.#limit);
    const min = isCertain ? 1 : 0;
    const same = this.calls.find(
      (other) =>
        isCertain &&
        endpoint.method === 'GET' &&
        other.method === 'GET' &&
        other.request?.path === path &&
        other.after.join() === after.join(),
    );
    if (same !== undefined) {
      same.min += 1;
      same.max += 1;
      same.fields = [...new Set([...same.fields, ...fields])];
      return same;
    }
    return this.#add({
      method: endpoint.method,
      route: call.route,
      fields: [...new Set(fields)],
      after: [...after],
      min,
      max: 1,
      ...(!isCertain && { reason: BUDGET_REASON }),
      request,
    });
  }

  /** Adds reads whose number data decides. Returns undefined if there can be none. */
  addOpen({ route, fields, after, max, displaced = 0, reason, request }: OpenCalls): PlannedCall | undefined {
    const most = Math.min(max, this.#limit - this.budget.min + displaced);
    if (most <= 0) {
      return undefined;
    }
    this.budget.max = Math.min(this.budget.max + most, this.#limit);
    return this.#add({
      method: 'GET',
      route,
      fields: [...new Set(fields)],
      after: [...new Set(after)].sort((a, b) => a - b),
      min: 0,
      max: most,
      reason,
      request: request?.(),
    });
  }

  /**
   * Makes certain calls that wait for others uncertain, the last ones first, as far as up to `count` open calls can take their place in the budget.
   * Returns their number.
   */
  displace(waiting: readonly number[], count: number): number {
    const unused = this.#limit - this.budget.min;
    const displaced = Math.max(0, Math.min(count - unused, waiting.length));
    const last = new Set(waiting.slice(waiting.length - displaced));
    for (const call of this.calls.filter(({ id }) => last.has(id))) {
      call.min = 0;
      call.reason = BUDGET_REASON;
    }
    return displaced;
  }

  /** Adds fields that use the data of a planned call. */
  addFields(id: number, fields: Iterable<string>): void {
    for (const call of this.calls.filter((planned) => planned.id === id)) {
      call.fields = [...new Set([...call.fields, ...fields])];
    }
  }

  #add(call: Omit<PlannedCall, 'id'>): PlannedCall {
    const added = { id: this.calls.length + 1, ...call };
    this.calls.push(added);
    return added;
  }
}
