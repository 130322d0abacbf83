import type { CallBudget, UpstreamClient } from '../upstream/client.ts';
import { type FieldContext, GROUP_LIST, groupRecord, type Loaders, workflowRecord } from './loaders.ts';

/**
 * Calls that each field of one operation needs. Exists only if the request asks for them.
 *
 * A call has an owner: a field or, if a loader makes it, a record. A field needs its own calls and those of the records that it loads.
 */
export abstract class FieldCalls {
  /** Records that a field loads, and the list that a record is taken from. */
  readonly #needs = new Map<string, Set<string>>();
  readonly #contexts = new Map<string, FieldContext>();

  /** Returns the client for the calls of an owner. */
  abstract clientOf(owner: string): UpstreamClient;

  /** Notes that these groups are taken from the list. */
  readonly takeFromList = (ids: readonly string[]): void => {
    for (const id of ids) {
      this.#need(groupRecord(id), GROUP_LIST);
    }
  };

  /** Returns the client and loaders for the resolver of a field. */
  contextOf(field: string, loaders: Loaders): FieldContext {
    let context = this.#contexts.get(field);
    if (context === undefined) {
      context = { upstream: this.clientOf(field), loaders: this.#watch(field, loaders) };
      this.#contexts.set(field, context);
    }
    return context;
  }

  /** Fields that were given a context. */
  protected get fields(): string[] {
    return [...this.#contexts.keys()];
  }

  /** Returns the owners of the calls that a field needs: itself, and the records that it loads. */
  protected ownersOf(field: string, owners = new Set<string>()): ReadonlySet<string> {
    if (!owners.has(field)) {
      owners.add(field);
      for (const record of this.#needs.get(field) ?? []) {
        this.ownersOf(record, owners);
      }
    }
    return owners;
  }

  /** Returns the records that are taken from the response of a call with this owner. */
  protected recordsFrom(owner: string): string[] {
    const names = [...this.#needs].filter(([name, records]) => !this.#contexts.has(name) && records.has(owner));
    return names.map(([name]) => name);
  }

  /** Returns loaders that share the records of others, and note those that a field loads. */
  #watch(field: string, { workflow, notificationGroup }: Loaders): Loaders {
    return {
      workflow: {
        ...workflow,
        load: (key) => {
          this.#need(field, workflowRecord(key));
          return workflow.load(key);
        },
      },
      notificationGroup: {
        ...notificationGroup,
        load: (id) => {
          this.#need(field, groupRecord(id));
          return notificationGroup.load(id);
        },
        list: () => {
          this.#need(field, GROUP_LIST);
          return notificationGroup.list();
        },
      },
    };
  }

  #need(name: string, record: string): void {
    const records = this.#needs.get(name) ?? new Set();
    this.#needs.set(name, records.add(record));
  }
}

/** Counts the calls that each field needed, for the report of an operation's cost. */
export class FieldCallCounts extends FieldCalls {
  readonly #client: UpstreamClient;
  readonly #budget: Readonly<CallBudget>;
  readonly #counts = new Map<string, number>();

  constructor(client: UpstreamClient, budget: Readonly<CallBudget>) {
    super();
    this.#client = client;
    this.#budget = budget;
  }

  /** Returns the number of calls by field, such as `Query.workflows`. A call that several fields needed counts for each. */
  byField(): Record<string, number> {
    const counts = this.fields.map((field) => {
      const owners = [...this.ownersOf(field)];
      return [field, owners.reduce((sum, owner) => sum + (this.#counts.get(owner) ?? 0), 0)] as const;
    });
    return Object.fromEntries(counts.filter(([, count]) => count > 0));
  }

  clientOf(owner: string): UpstreamClient {
    return {
      read: <T>(call: Parameters<UpstreamClient['read']>[0]) => this.#counted(owner, () => this.#client.read<T>(call)),
      write: <T>(call: Parameters<UpstreamClient['write']>[0]) =>
        this.#counted(owner, () => this.#client.write<T>(call)),
    };
  }

  /** Makes a call. It doesn't count if it is rejected before the client counts it. */
  #counted<Result>(owner: string, call: () => Result): Result {
    const before = this.#budget.calls + this.#budget.bulkItems;
    const result = call();
    const made = this.#budget.calls + this.#budget.bulkItems - before;
    this.#counts.set(owner, (this.#counts.get(owner) ?? 0) + made);
    return result;
  }
}
