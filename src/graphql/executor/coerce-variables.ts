import { GraphQLError, type GraphQLSchema, getVariableValues, type OperationDefinitionNode } from 'graphql';
import { DEFAULT_LIMITS, type ExecutionLimits } from './limits.ts';
import { truncateMessage } from './located-error.ts';

/** Errors of variables in one response. */
const MAX_ERRORS = 5;

export type CoercedVariables =
  | { readonly errors: readonly GraphQLError[]; readonly coerced?: undefined }
  | { readonly coerced: Record<string, unknown>; readonly errors?: undefined };

export type CoerceVariablesOptions = Pick<ExecutionLimits, 'maxInputListItems' | 'hideSuggestions'>;

/** More than a request body can hold. */
const MAX_NODES = 1_000_000;

const NONE: Readonly<Record<string, unknown>> = {};

/** Coerces the variables of an operation to their types, or returns what is wrong with them. */
export function coerceVariables(
  schema: GraphQLSchema,
  { variableDefinitions = [] }: OperationDefinitionNode,
  rawVariables: Readonly<Record<string, unknown>> | null | undefined,
  {
    maxInputListItems = DEFAULT_LIMITS.maxInputListItems,
    hideSuggestions = DEFAULT_LIMITS.hideSuggestions,
  }: CoerceVariablesOptions = {},
): CoercedVariables {
  const raw = rawVariables ?? NONE;
  for (const { variable } of variableDefinitions) {
    const name = variable.name.value;
    if (Object.hasOwn(raw, name) && hasListLongerThan(maxInputListItems, raw[name])) {
      return { errors: [inputListError(name, maxInputListItems)] };
    }
  }
  const { coerced, errors } = getVariableValues(schema, variableDefinitions, raw, {
    maxErrors: MAX_ERRORS,
    hideSuggestions,
  });
  return coerced === undefined ? { errors: errors.map(truncated) } : { coerced };
}

const inputListError = (name: string, maxInputListItems: number): GraphQLError =>
  new GraphQLError(
    `Variable "$${name}" has a list of more than ${maxInputListItems} items. Send at most ${maxInputListItems} in one list.`,
    { extensions: { code: 'BAD_USER_INPUT' } },
  );

/** Walks without recursion, because JSON.parse accepts nesting that would overflow the stack. */
function hasListLongerThan(maxItems: number, value: unknown): boolean {
  if (typeof value !== 'object' || value === null || maxItems === Number.POSITIVE_INFINITY) {
    return false;
  }
  const values: object[] = [value];
  let nodes = 0;
  for (let next = values.pop(); next !== undefined; next = values.pop()) {
    nodes += 1;
    if ((Array.isArray(next) && next.length > maxItems) || nodes > MAX_NODES) {
      return true;
    }
    for (const child of Array.isArray(next) ? next : Object.values(next)) {
      if (typeof child === 'object' && child !== null) {
        values.push(child);
      }
    }
  }
  return false;
}

function truncated(error: GraphQLError): GraphQLError {
  const message = truncateMessage(error.message);
  return message === error.message
    ? error
    : new GraphQLError(message, {
        nodes: error.nodes ?? null,
        originalError: error.originalError ?? null,
        extensions: error.extensions,
      });
}
