// Declares the REST calls of a field: how many it makes, and those that only data shows. Defines the plan of an operation's calls, which they are declared for.

import { orUndefined } from '../lib/caught.ts';
import type { RecordedCache } from '../upstream/calls.ts';
import type { DeclaredEndpoint } from '../upstream/endpoint.ts';
import { type LoaderEndpoints, readOf } from './loaders.ts';

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
