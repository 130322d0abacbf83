// Executes requests with graphql-js and with the gateway's executor, and makes the results comparable.

import { type ExecutionResult, execute, GraphQLError, type GraphQLSchema, parse, validate } from 'graphql';
import { FIXED_LIMITS, type Limits } from '../../../src/executor/execution/result-limits.ts';
import { executorWith } from '../../support/executor.ts';
import type { GeneratedRequest } from './documents.ts';
import { VirtualTime } from './virtual-time.ts';

/** Settings without limits, because graphql-js has none. */
const UNLIMITED: Limits = {
  ...FIXED_LIMITS,
  hideSuggestions: false,
  maxErrors: Number.POSITIVE_INFINITY,
  maxResultValues: Number.POSITIVE_INFINITY,
  maxResponseBytes: Number.POSITIVE_INFINITY,
  valuesPerTurn: Number.POSITIVE_INFINITY,
};
const executeOurs = executorWith(UNLIMITED);
const executeInTurns = executorWith({ ...UNLIMITED, valuesPerTurn: 1 });

/** Creates the root value and context of one execution. */
export type CreateSources = (time: VirtualTime) => { rootValue?: unknown; contextValue: unknown };

/** Executes a request with graphql-js and with our executor. @returns the results as text; `inTurns` yields after each value */
export async function executeBoth(
  schema: GraphQLSchema,
  { query, variables, operationName }: GeneratedRequest,
  seed: number,
  createSources: CreateSources,
): Promise<{ expected: string; actual: string; inTurns: () => Promise<string> }> {
  const document = parse(query);
  const invalid = validate(schema, document);
  if (invalid.length > 0) {
    throw new Error(`The generator made an invalid document: ${invalid.join('\n')}\n${query}`);
  }
  const run = async (executeFn: typeof execute): Promise<string> => {
    const time = new VirtualTime(seed);
    const result = executeFn({
      schema,
      document,
      variableValues: variables,
      operationName,
      options: { maxCoercionErrors: 5 },
      ...createSources(time),
    });
    return toText(await time.run(result));
  };
  // graphql-js leaves rejections unhandled when a later item of the same list throws.
  const { value: expected } = await catchUnhandledRejections(() => run(execute));
  // The first run creates the plan, the second one reuses it.
  const { value: first, rejections } = await catchUnhandledRejections(() => run(executeOurs));
  const actual = await run(executeOurs);
  if (rejections.length > 0) {
    throw new Error('A rejection was not handled.', { cause: rejections[0] });
  }
  return {
    expected,
    actual: first === actual ? actual : `${first}\nand then\n${actual}`,
    inTurns: () => run(executeInTurns),
  };
}

/** Returns the data from the text of a result, without its errors. */
export const dataOf = (text: string): string =>
  text
    .slice(text.indexOf('\n'))
    .replace(/^\{"message".*$/gm, '')
    .trimEnd();

/** Runs the work and returns the rejections that were left unhandled meanwhile. */
async function catchUnhandledRejections<T>(work: () => Promise<T>): Promise<{ value: T; rejections: unknown[] }> {
  const listeners = process.listeners('unhandledRejection');
  const rejections: unknown[] = [];
  const record = (reason: unknown) => rejections.push(reason);
  process.removeAllListeners('unhandledRejection');
  process.on('unhandledRejection', record);
  try {
    return { value: await work(), rejections };
  } finally {
    process.off('unhandledRejection', record);
    for (const listener of listeners) {
      process.on('unhandledRejection', listener);
    }
  }
}

/** Formats a result so that equal results have equal texts, with keys in order and errors sorted. */
function toText(result: ExecutionResult): string {
  const errors = result.errors?.map((error) => JSON.stringify(toComparable(error), showValue)).sort();
  return [Object.keys(result).join(), JSON.stringify(result.data, showValue, 1), ...(errors ?? [])].join('\n');
}

const toComparable = (error: GraphQLError) => ({
  // The executor shortens messages that quote input.
  message: error.message.slice(0, 299),
  path: error.path,
  locations: error.locations,
  extensions: error.extensions,
  nodes: error.nodes?.length,
  isGraphQLError: error instanceof GraphQLError && Object.prototype.toString.call(error) === '[object GraphQLError]',
  // Decides whether the error is masked.
  isMasked: error.originalError !== undefined && !(error.originalError instanceof GraphQLError),
});

function showValue(_key: string, value: unknown): unknown {
  if (typeof value === 'bigint' || typeof value === 'symbol' || typeof value === 'function') {
    return String(value);
  }
  return typeof value === 'number' && !Number.isFinite(value) ? String(value) : value;
}
