import type { Scope } from '../settings/scopes.ts';
import type { DeclaredEndpoint } from '../upstream/endpoint.ts';
import type { FieldContext, LoaderEndpoints } from './loaders.ts';

type Args = Readonly<Record<string, unknown>>;

/** Function of a field's arguments. It can declare their types, because parameters of methods are not compared strictly. */
type MaxOf = { of(args: Args): number }['of'];

/** Options of `declareCalls`: a loader or an endpoint, and how many of its records or calls one value of the field needs. */
export type DependentCallsOptions = (
  | { readonly loader: LoaderEndpoints; readonly endpoint?: undefined }
  | { readonly endpoint: DeclaredEndpoint; readonly loader?: undefined }
) & {
  /** Maximum, including those that follow no other call. Throws if the resolver rejects the arguments. @default 1 */
  readonly max?: number | MaxOf;
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
    const endpoint = options.loader?.get ?? options.endpoint;
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
    try {
      const parts = this.#argsOf(readArguments());
      return parts.reduce((sum, args) => sum + (typeof max === 'number' ? max : Math.max(0, max(args))), 0);
    } catch {
      return 0;
    }
  }
}

/**
 * Returns the `extensions` of a field that doesn't make exactly one REST call.
 *
 * @param calls number of calls, for the documentation
 * @param dependentCalls calls that only data shows, for the explanation of operations: those that follow another call of the field, and all calls of
 * fields that are not of `Query` or `Mutation`. @default none
 */
export const declareCalls = (calls: string, ...dependentCalls: readonly DependentCallsOptions[]) => ({
  calls,
  dependentCalls: dependentCalls.map((each) => new DependentCalls(each)),
});

/** Returns the calls in the `extensions` of a field or type. */
export const dependentCallsOf = ({ dependentCalls }: Readonly<{ dependentCalls?: unknown }> = {}): DependentCalls[] =>
  [dependentCalls].flat().filter((each) => each instanceof DependentCalls);

/** Declares the scope that a field requires, or all fields that return a type: `extensions: requireScopes('groups:read')`. */
export const requireScopes = (scope: Scope): { scope: Scope } => ({ scope });

/** Extension of a mutation's field that changes or deletes nothing that exists, for AI agents: `extensions: ADDS_ONLY`. */
export const ADDS_ONLY = { addsOnly: true } as const;

/** Returns the record that has this key, or null. */
export type LoadByKey = (key: string, context: FieldContext) => Promise<object | null>;

/** Identity of a type's records in a federated graph, declared with the type: `extensions: { entity: new Entity({ id: … }) }`. */
export class Entity {
  /** Fields that identify a record, each with the function that loads it; null if the service has no endpoint that reads it. */
  readonly keys: Map<string, LoadByKey | null>;

  constructor(keys: Readonly<Record<string, LoadByKey | null>>) {
    this.keys = new Map(Object.entries(keys));
  }

  /** Makes records loadable by a key that had no endpoint. */
  resolveBy(key: string, load: LoadByKey): void {
    this.keys.set(key, load);
  }

  /** Whether the service can be asked for a record. */
  get isResolvable(): boolean {
    return [...this.keys.values()].some((load) => load !== null);
  }
}

/** Returns the entity of a type; undefined if other subgraphs can't refer to its records. */
export const entityOf = ({ extensions }: { extensions: { entity?: unknown } }): Entity | undefined =>
  extensions.entity instanceof Entity ? extensions.entity : undefined;
