// Finds the calls that each field of an operation needs, and counts them for the report of its cost.

import type { OperationClient, UpstreamClient } from '../../upstream/calls.ts';
import {
  type FieldContext,
  type LoaderEndpoints,
  type LoaderReports,
  type Loaders,
  listName,
  recordName,
} from '../loaders.ts';

/**
 * Calls that each field of one operation needs. Exists only if the request asks for them.
 *
 * A call has an owner: a field or, if a loader makes it, a record. A field needs its own calls and those of the records that it loads.
 */
export abstract class FieldCalls implements LoaderReports {
  /** Records that a field loads, and the call that a record is taken from. */
  readonly #needs = new Map<string, Set<string>>();
  /** Fields that have run. */
  protected readonly fields = new Set<string>();

  abstract clientOf(owner: string): UpstreamClient;

  taken(keys: readonly string[], call: string, loader: LoaderEndpoints): void {
    for (const key of keys) {
      this.#need(recordName(loader, key), call);
    }
  }

  /** Returns a field's own client, and loaders that share the records of others and note those that it loads. */
  contextOf(field: string, loaders: Loaders): FieldContext {
    this.fields.add(field);
    return {
      upstream: this.clientOf(field),
      loaders: {
        load: (loader, key) => {
          this.#need(field, recordName(loader, key));
          return loaders.load(loader, key);
        },
        list: (loader) => {
          this.#need(field, listName(loader));
          return loaders.list(loader);
        },
        reset: () => loaders.reset(),
      },
    };
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

  #need(name: string, record: string): void {
    const records = this.#needs.get(name) ?? new Set();
    this.#needs.set(name, records.add(record));
  }
}

/** Counts the calls that each field needed, for the report of an operation's cost. */
export class FieldCallCounts extends FieldCalls {
  readonly #client: OperationClient;
  readonly #counts = new Map<string, number>();

  constructor(client: OperationClient) {
    super();
    this.#client = client;
  }

  /** Returns the number of calls by field, such as `Query.workflows`. A call that several fields needed counts for each. */
  byField(): Record<string, number> {
    const counts = [...this.fields].map((field) => {
      const owners = [...this.ownersOf(field)];
      return [field, owners.reduce((sum, owner) => sum + (this.#counts.get(owner) ?? 0), 0)] as const;
    });
    return Object.fromEntries(counts.filter(([, count]) => count > 0));
  }

  clientOf(owner: string): UpstreamClient {
    return {
      read: (endpoint, args) => this.#counted(owner, () => this.#client.read(endpoint, args)),
      write: (...call) => this.#counted(owner, () => this.#client.write(...call)),
    };
  }

  /** Makes a call. It doesn't count if it is rejected before the client counts it. */
  #counted<Result>(owner: string, call: () => Result): Result {
    const { budget } = this.#client;
    const before = budget.calls + budget.bulkItems;
    const result = call();
    this.#counts.set(owner, (this.#counts.get(owner) ?? 0) + budget.calls + budget.bulkItems - before);
    return result;
  }
}
