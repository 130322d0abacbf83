import type { CallBudget, UpstreamClient } from '../upstream/client.ts';
import { Endpoints } from '../upstream/endpoints/index.gen.ts';
import type { CallContext, LoaderEndpoints, Loaders } from './loaders/loaders.ts';
import { watchLoads } from './loaders/watch-loads.ts';

const GROUP_LIST = 'group list';
const workflowRecord = (key: string): string => `workflow ${key}`;
const groupRecord = (id: string): string => `group ${id}`;

/**
 * Counts the calls that each field of one operation needed. Exists only if the request asked for it.
 *
 * Calls belong to a field or, if a loader makes them, to a record. A field needs its own calls and those of the records that it loads.
 */
export class FieldCalls {
  readonly #client: UpstreamClient;
  readonly #budget: Readonly<CallBudget>;
  /** Number of calls by the name of a field or record. */
  readonly #calls = new Map<string, number>();
  /** Records that a field loaded, and the list that a record was taken from. */
  readonly #needs = new Map<string, Set<string>>();
  readonly #callers = new Map<string, CallContext>();

  constructor(client: UpstreamClient, budget: Readonly<CallBudget>) {
    this.#client = client;
    this.#budget = budget;
  }

  /** Returns the endpoints for the loaders, whose calls belong to records. */
  loaderEndpoints(): LoaderEndpoints {
    return {
      getWorkflow: (key) => this.#endpointsFor(workflowRecord(key)).getWorkflow(key),
      getNotificationGroup: (id) => this.#endpointsFor(groupRecord(id)).getNotificationGroup(id),
      listNotificationGroups: () => this.#endpointsFor(GROUP_LIST).listNotificationGroups(),
    };
  }

  /** Notes that these groups were taken from the list. */
  readonly takeFromList = (ids: readonly string[]): void => {
    for (const id of ids) {
      this.#need(groupRecord(id), GROUP_LIST);
    }
  };

  /** Returns the endpoints and loaders for the resolver of a field. Their calls count for the field. */
  callersOf(field: string, loaders: Loaders): CallContext {
    let callers = this.#callers.get(field);
    if (callers === undefined) {
      const watched = watchLoads(loaders, {
        onWorkflow: (key) => this.#need(field, workflowRecord(key)),
        onGroup: (id) => this.#need(field, groupRecord(id)),
        onGroupList: () => this.#need(field, GROUP_LIST),
      });
      callers = { upstream: this.#endpointsFor(field), loaders: watched };
      this.#callers.set(field, callers);
    }
    return callers;
  }

  /** Returns the number of calls by field, such as `Query.workflows`. A call that several fields needed counts for each. */
  byField(): Record<string, number> {
    const counts = [...this.#callers.keys()].map((field) => [field, this.#count(field)] as const);
    return Object.fromEntries(counts.filter(([, count]) => count > 0));
  }

  #endpointsFor(name: string): Endpoints {
    return new Endpoints({
      read: <T>(call: Parameters<UpstreamClient['read']>[0]) => this.#counted(name, () => this.#client.read<T>(call)),
      write: <T>(call: Parameters<UpstreamClient['write']>[0]) =>
        this.#counted(name, () => this.#client.write<T>(call)),
    });
  }

  /** Makes a call. It doesn't count if it is rejected before the client counts it. */
  #counted<Result>(name: string, call: () => Result): Result {
    const before = this.#budget.calls + this.#budget.bulkItems;
    const result = call();
    const made = this.#budget.calls + this.#budget.bulkItems - before;
    this.#calls.set(name, (this.#calls.get(name) ?? 0) + made);
    return result;
  }

  #need(name: string, record: string): void {
    const records = this.#needs.get(name) ?? new Set();
    this.#needs.set(name, records.add(record));
  }

  /** Counts each call once, even if several records came with it. */
  #count(name: string, counted = new Set<string>()): number {
    if (counted.has(name)) {
      return 0;
    }
    counted.add(name);
    let count = this.#calls.get(name) ?? 0;
    for (const record of this.#needs.get(name) ?? []) {
      count += this.#count(record, counted);
    }
    return count;
  }
}
