import type { Scope } from '../settings/scopes.ts';
import type { FieldContext, LoaderEndpoints } from './loaders.ts';

/** Calls that a field makes although neither its arguments nor those of its parents determine which: data does. */
export class DependentCalls {
  /** Loader of the records. */
  readonly loader: LoaderEndpoints;
  /** Returns the maximum number of records that one value of the field needs. Throws if the resolver rejects these arguments. */
  readonly maxRecords: (args: Readonly<Record<string, unknown>>) => number;
  /** Reason why data decides the number of calls, in one sentence. */
  readonly reason: string;
  /** Reason why the read of all records may not be made. @default reason */
  readonly listReason: string;
  /** Reason why data decides the number of reads that follow it. @default reason */
  readonly reasonAfterList: string;

  constructor({
    loader,
    maxRecords = () => 1,
    reason,
    listReason = reason,
    reasonAfterList = reason,
  }: DependentCallsOptions) {
    this.loader = loader;
    this.maxRecords = maxRecords;
    this.reason = reason;
    this.listReason = listReason;
    this.reasonAfterList = reasonAfterList;
  }
}

/** Options of `declareCalls`. */
export type DependentCallsOptions = Pick<DependentCalls, 'loader' | 'reason'> & Partial<DependentCalls>;

/**
 * Returns the `extensions` of a field that doesn't make exactly one REST call.
 *
 * @param calls number of calls, for the documentation
 * @param dependentCalls calls that data decides, for the explanation of operations. @default none
 */
export const declareCalls = (calls: string, dependentCalls?: DependentCallsOptions) => ({
  calls,
  ...(dependentCalls !== undefined && { dependentCalls: new DependentCalls(dependentCalls) }),
});

/** Returns the calls in the `extensions` of a field. */
export function dependentCallsOf(extensions: Readonly<{ dependentCalls?: unknown }> = {}): DependentCalls | undefined {
  const { dependentCalls } = extensions;
  return dependentCalls instanceof DependentCalls ? dependentCalls : undefined;
}

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
