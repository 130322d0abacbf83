// Calls of fields: those that they declare, those that they make, and the comparison of both.

import { orUndefined } from '../lib/caught.ts';
import { ignoreRejection } from '../lib/promises.ts';
import type { CallBudget, UpstreamClient } from '../upstream/client.ts';
import type { DeclaredEndpoint } from '../upstream/endpoint.ts';
import {
  type FieldContext,
  type LoaderEndpoints,
  type LoaderReports,
  type Loaders,
  listName,
  readOf,
  recordName,
} from './loaders.ts';

type Args = Readonly<Record<string, unknown>>;

/** Options of `declareCalls`: a loader or an endpoint, and how many of its records or calls one value of the field needs. */
export type DependentCallsOptions = (
  | { readonly loader: LoaderEndpoints; readonly endpoint?: undefined }
  | { readonly endpoint: DeclaredEndpoint; readonly loader?: undefined }
) & {
  /**
   * Maximum, including those that follow no other call. A function throws if the resolver rejects the arguments, and can declare their types, because
   * parameters of methods are not compared strictly.
   *
   * @default 1
   */
  readonly max?: number | { of(args: Args): number }['of'];
  /** Reason why data decides the number, in one sentence. */
  readonly reason: string;
};

/** Calls of a field that only data shows: those that follow another call, and all calls of fields whose parent is a record. */
export class DependentCalls {
  readonly options: DependentCallsOptions;
  /** Endpoint that is called. That of a loader reads one record. */
  readonly endpoint: DeclaredEndpoint;
  readonly #argsOf: (args: Args) => readonly Args[];

  /** @param argsOf returns the arguments of each part of the field that makes the calls. @default it has no parts */
  constructor(options: DependentCallsOptions, argsOf = (args: Args): readonly Args[] => [args]) {
    const endpoint = options.loader ? readOf(options.loader) : options.endpoint;
    if (endpoint === undefined) {
      throw new TypeError('declareCalls needs a loader or an endpoint for calls that only data shows'); // From JavaScript.
    }
    this.options = options;
    this.endpoint = endpoint;
    this.#argsOf = argsOf;
  }

  /** Returns the maximum for one value of the field. With invalid arguments, it is 0, because the field fails. */
  maxOf(readArguments: () => Args): number {
    const { max = 1 } = this.options;
    const maxOfPart = (args: Args) => (typeof max === 'number' ? max : Math.max(0, max(args)));
    const parts = orUndefined(() => this.#argsOf(readArguments()).map(maxOfPart)) ?? [];
    return parts.reduce((sum, each) => sum + each, 0);
  }
}

/**
 * Returns the `extensions` of a field that doesn't make exactly one REST call.
 *
 * @param calls number of calls, for the documentation. A root field that makes one at least begins with that number, as in '1 per distinct id': it needs
 * no other proof that the service accepts the caller's key
 * @param dependentCalls calls that only data shows, for the explanation of operations: those that follow another call of the field, and all calls of
 * fields that are not of `Query` or `Mutation`. @default none
 */
export const declareCalls = (calls: string, ...dependentCalls: readonly DependentCallsOptions[]) => ({
  calls,
  dependentCalls: dependentCalls.map((each) => new DependentCalls(each)),
});

/** Whether a field or type declares one call at least. */
export const declaresCall = ({ calls }: Readonly<{ calls?: unknown }> = {}): boolean => /^[1-9]/.test(String(calls));

/** Returns the calls in the `extensions` of a field or type. */
export const dependentCallsOf = ({ dependentCalls }: Readonly<{ dependentCalls?: unknown }> = {}): DependentCalls[] =>
  [dependentCalls].flat().filter((each) => each instanceof DependentCalls);

/**
 * Calls that each field of one operation needs. Exists only if the request asks for them.
 *
 * A call has an owner: a field or, if a loader makes it, a record. A field needs its own calls and those of the records that it loads.
 */
export abstract class FieldCalls implements LoaderReports {
  /** Records that a field loads, and the call that a record is taken from. */
  readonly #needs = new Map<string, Set<string>>();
  readonly #contexts = new Map<string, FieldContext>();

  abstract clientOf(owner: string): UpstreamClient;

  taken(keys: readonly string[], call: string, loader: LoaderEndpoints): void {
    for (const key of keys) {
      this.#need(recordName(loader, key), call);
    }
  }

  contextOf(field: string, loaders: Loaders): FieldContext {
    let context = this.#contexts.get(field);
    if (context === undefined) {
      context = { upstream: this.clientOf(field), loaders: this.#watch(field, loaders) };
      this.#contexts.set(field, context);
    }
    return context;
  }

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

  /** Returns loaders that share the records of others, and note those that a field loads. */
  #watch(field: string, loaders: Loaders): Loaders {
    return {
      load: (loader, key) => {
        this.#need(field, recordName(loader, key));
        return loaders.load(loader, key);
      },
      list: (loader) => {
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
  /** Whether explanations execute it without data, and so find its calls before the first response. */
  isRoot: boolean;
  declared: readonly DependentCalls[];
  args: Readonly<Record<string, unknown>>;
}

/** Returns the client and loaders for one run of a field's resolver. They report calls that need a declaration, and have none. */
export function checkCalls(
  { upstream, loaders }: FieldContext,
  { name, isRoot, declared, args }: CheckedField,
  report: (problem: string) => void,
): FieldContext {
  /** Calls by endpoint, and keys of records by loader. */
  const made = new Map<object, Set<unknown>>();
  let isFound = isRoot;

  async function check<Result>(source: DeclaredEndpoint | LoaderEndpoints, key: unknown, result: Promise<Result>) {
    const calls = made.get(source) ?? new Set();
    const before = calls.size; // A record that the field has loaded takes no further call.
    made.set(source, calls.add(key));
    const same = declared.filter(({ options }) => (options.loader ?? options.endpoint) === source);
    const max = same.reduce((sum, each) => sum + each.maxOf(() => args), 0);
    if (!isFound && calls.size > Math.max(before, max)) {
      const [{ method, route }, part] = 'route' in source ? [source, 'endpoint'] : [readOf(source), 'loader'];
      const limit = max === 0 ? '' : ` more than ${max} times`;
      report(
        `${name} calls ${method} ${route}${limit}, which explanations list only if it is declared. Add the maximum to the extensions of the field, or of the entity's type: declareCalls('…', { ${part}, max: …, reason: '…' }).`,
      );
    }
    try {
      return await result;
    } finally {
      isFound = false; // Before the resolver continues.
    }
  }

  return {
    upstream: {
      read: (endpoint, callArgs) => check(endpoint, {}, upstream.read(endpoint, callArgs)),
      write(endpoint, callArgs) {
        const result = upstream.write(endpoint, callArgs);
        return isRoot ? ignoreRejection(check(endpoint, {}, result)) : result; // Those of other fields are refused.
      },
    },
    loaders: {
      load: (loader, key) => check(loader, key, loaders.load(loader, key)),
      list: (loader) => check(loader.many?.endpoint ?? loader, loader, loaders.list(loader)),
      reset: () => loaders.reset(),
    },
  };
}
