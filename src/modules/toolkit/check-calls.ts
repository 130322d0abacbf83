// Compares the calls that a field makes with those that it declares, so that explanations of operations with modules are right.

import type { DependentCalls } from '../../graphql/declared-calls.ts';
import { type FieldContext, type LoaderEndpoints, readOf } from '../../graphql/loaders.ts';
import { ignoreRejection } from '../../lib/promises.ts';
import type { DeclaredEndpoint } from '../../upstream/endpoint.ts';

/** Field whose calls are compared with those that explanations list. */
interface CheckedField {
  /** Such as `Layout.author`. */
  name: string;
  /** Whether explanations execute it without data, and so find its calls before the first response. */
  isRoot: boolean;
  declared: readonly DependentCalls[];
  args: Readonly<Record<string, unknown>>;
  /**
   * Runs of its resolver in the operation so far, with calls by endpoint and keys of records by loader. One run can make the calls of all, with a loader
   * that a module keeps by context.
   */
  runs: { count: number; readonly made: Map<object, Set<unknown>> };
}

/** Returns the client and loaders for one run of a field's resolver. They report calls that need a declaration, and have none. */
export function checkCalls(
  { upstream, loaders }: FieldContext,
  { name, isRoot, declared, args, runs }: CheckedField,
  report: (problem: string) => void,
): FieldContext {
  runs.count += 1;
  let isFound = isRoot;

  async function check<Result>(source: DeclaredEndpoint | LoaderEndpoints, key: unknown, result: Promise<Result>) {
    const calls = runs.made.get(source) ?? new Set();
    const before = calls.size; // A record that the field has loaded takes no further call.
    runs.made.set(source, calls.add(key));
    const same = declared.filter(({ options }) => (options.loader ?? options.endpoint) === source);
    const max = same.reduce((sum, each) => sum + each.maxOf(() => args), 0) * runs.count;
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
      write(endpoint, ...call) {
        const result = upstream.write(endpoint, ...call);
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
