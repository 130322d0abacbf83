import type { ExecutionArgs } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { isRecord } from '../../lib/is-record.ts';
import { listDeprecated } from './deprecated-elements.ts';
import { createReadDeprecatedUsage } from './deprecated-usage.ts';

/** Counts of deprecated elements. */
export interface DeprecatedUsageCounter {
  /** Adds elements without counting them, so that an unused element has the count 0. */
  declare(coordinates: readonly string[]): void;
  /** Counts an operation that uses the elements. */
  add(coordinates: readonly string[]): void;
}

/** Part of an operation's context that counting sets. */
export interface DeprecatedUsage {
  /** Coordinates of the deprecated elements that the operation uses; undefined if it uses none. */
  readonly deprecated?: readonly string[] | undefined;
}

/** Creates the function that counts the deprecated elements that an operation uses, and adds them to its context. */
export function createCountDeprecatedUsage(
  counter: Pick<DeprecatedUsageCounter, 'add'>,
): (args: ExecutionArgs) => void {
  const read = createReadDeprecatedUsage();
  return (args) => {
    const deprecated = read(args);
    if (deprecated.length > 0) {
      counter.add(deprecated);
      const context: unknown = args.contextValue;
      if (isRecord(context)) {
        context.deprecated = deprecated;
      }
    }
  };
}

/** Creates a plugin that declares the deprecated elements of the schema. */
export const useDeprecatedElements = (counter: Pick<DeprecatedUsageCounter, 'declare'>): Plugin => ({
  onSchemaChange({ schema }) {
    counter.declare(listDeprecated(schema));
  },
});
