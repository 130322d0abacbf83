import type { CallBudget, UpstreamClient } from '../upstream/client.ts';
import type { DeclaredEndpoint } from '../upstream/endpoint.ts';
import { NotSent } from '../upstream/recorder.ts';
import type { DependentCalls } from './declarations.ts';
import {
  type FieldContext,
  type LoaderEndpoints,
  type LoaderReports,
  type Loaders,
  listName,
  recordName,
} from './loaders.ts';

/**
 * Calls that each field of one operation needs. Exists only if the request asks for them.
 *
 * A call has an owner: a field or, if a loader makes it, a record. A field needs its own calls and those of the records that it loads.
 */
export abstract class FieldCalls implements LoaderReports {
  /** Records that a field loads, and the call that a record is taken from. */
  readonly #needs = new Map<string, Set<string>>();
  /** Loaders of calls for all records. */
  readonly #lists = new Map<string, LoaderEndpoints>();
  readonly #contexts = new Map<string, FieldContext>();

  /** Returns the client for the calls of an owner. */
  abstract clientOf(owner: string): UpstreamClient;

  taken(records: readonly string[], call: string, loader: LoaderEndpoints): void {
    if (call === listName(loader)) {
      this.#lists.set(call, loader);
    }
    for (const record of records) {
      this.#need(record, call);
    }
  }

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

  /** Returns the records that are taken from the response of a call for all records, with their loader; undefined if it isn't such a call. */
  protected listOf(owner: string): { loader: LoaderEndpoints; records: string[] } | undefined {
    const loader = this.#lists.get(owner);
    const names = [...this.#needs].filter(([name, calls]) => !this.#contexts.has(name) && calls.has(owner));
    return loader && { loader, records: names.map(([name]) => name) };
  }

  /** Returns loaders that share the records of others, and note those that a field loads. */
  #watch(field: string, loaders: Loaders): Loaders {
    return {
      load: (loader, key) => {
        this.#need(field, recordName(loader, key));
        return loaders.load(loader, key);
      },
      list: (loader) => {
        this.#lists.set(listName(loader), loader);
        this.#need(field, listName(loader));
        return loaders.list(loader);
      },
      reset: () => loaders.reset(),
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
      read: (endpoint, args) => this.#counted(owner, () => this.#client.read(endpoint, args)),
      write: (endpoint, args) => this.#counted(owner, () => this.#client.write(endpoint, args)),
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

/** Field whose calls are compared with those that explanations list. */
interface CheckedField {
  /** Such as `Layout.author`. */
  name: string;
  /** Runs its resolver once more, as explanations do; undefined if they don't execute it. */
  run: ((context: FieldContext) => unknown) | undefined;
  declared: readonly DependentCalls[];
  args: Readonly<Record<string, unknown>>;
}

/** Calls by endpoint, and keys of records by loader. */
type Made = Map<object, Set<unknown>>;

/** Returns the calls that a resolver makes if reads have no data and writes are not sent: those that explanations find. */
async function rehearse(run: (context: FieldContext) => unknown): Promise<Made> {
  const made: Made = new Map();
  const note = (source: object, key: unknown) => void made.set(source, (made.get(source) ?? new Set()).add(key));
  try {
    await run({
      upstream: {
        async read(endpoint) {
          note(endpoint, {});
          return null;
        },
        async write(endpoint) {
          note(endpoint, {});
          throw new NotSent('The write is only counted.');
        },
      },
      loaders: {
        async load(loader, key) {
          note(loader, key);
          return null;
        },
        async list(loader) {
          note(loader.many?.endpoint ?? loader, loader);
          return null;
        },
        reset() {},
      },
    });
  } catch {
    // Without data, or at its first write, it ends here.
  }
  return made;
}

/** Returns the client and loaders for one run of a field's resolver. They report calls that explanations don't list. */
export function checkCalls(
  { upstream, loaders }: FieldContext,
  { name, run, declared, args }: CheckedField,
  report: (problem: string) => void,
): FieldContext {
  const made: Made = new Map();
  let isListed = run !== undefined; // Certainly, before the first response.
  let listed: Promise<Made> | undefined;

  async function check<Result>(source: DeclaredEndpoint | LoaderEndpoints, key: unknown, result: Promise<Result>) {
    const calls = made.get(source) ?? new Set();
    const before = calls.size; // A record that the field has loaded takes no further call.
    made.set(source, calls.add(key));
    const { size } = calls;
    const found = declared.filter(({ options }) => (options.loader ?? options.endpoint) === source);
    const max = found.reduce((sum, each) => sum + each.maxOf(() => args), 0);
    if (!isListed && size > Math.max(before, max)) {
      const [{ method, route }, part] = 'get' in source ? [source.get, 'loader'] : [source, 'endpoint'];
      const limit = max === 0 ? '' : ` more than ${max} times`;
      listed ??= run === undefined ? Promise.resolve(new Map()) : rehearse(run);
      if (size > Math.max(max, (await listed).get(source)?.size ?? 0)) {
        report(
          `${name} calls ${method} ${route}${limit}, which explanations don't list. Add the maximum to the extensions of the field, or of the entity's type: declareCalls('…', { ${part}, max: …, reason: '…' }).`,
        );
      }
    }
    try {
      return await result;
    } finally {
      isListed = false; // Before the resolver continues.
    }
  }

  return {
    upstream: {
      read: (endpoint, callArgs) => check(endpoint, {}, upstream.read(endpoint, callArgs)),
      write(endpoint, callArgs) {
        const result = upstream.write(endpoint, callArgs);
        const checked = run === undefined ? result : check(endpoint, {}, result); // Those of other fields are refused.
        checked.catch(() => {}); // As in the client: a refused write that nobody waits for must not end the process.
        return checked;
      },
    },
    loaders: {
      load: (loader, key) => check(loader, key, loaders.load(loader, key)),
      list: (loader) => check(loader.many?.endpoint ?? loader, loader, loaders.list(loader)),
      reset: () => loaders.reset(),
    },
  };
}
