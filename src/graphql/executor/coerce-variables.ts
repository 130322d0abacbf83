import {
  type ASTNode,
  coerceInputValue,
  GraphQLError,
  type GraphQLInputType,
  type GraphQLSchema,
  isInputType,
  isNonNullType,
  type OperationDefinitionNode,
  print,
  typeFromAST,
  type VariableDefinitionNode,
  valueFromAST,
} from 'graphql';
import { inspect } from 'graphql/jsutils/inspect.js';
import { printPathArray } from 'graphql/jsutils/printPathArray.js';
import { excerpt, setNodes, truncateMessage } from '../located-error.ts';
import type { Limits } from './limits.ts';

/** Maximum errors of variables in one response. One more error says that there are others, as in graphql-js. */
const MAX_ERRORS = 5;

/** Coerced variables, or the errors found. */
export type CoercedVariables =
  | { readonly errors: readonly GraphQLError[]; readonly coerced?: undefined }
  | { readonly coerced: Record<string, unknown>; readonly errors?: undefined };

/** Options of `coerceVariables`. */
export interface CoerceVariablesOptions extends Pick<Limits, 'maxInputListItems'> {
  /** Whether messages leave out suggestions, which reveal names of the schema. */
  hideSuggestions: boolean;
}

type RawVariables = Readonly<Record<string, unknown>>;

/** Maximum objects in one variable, more than a request body can contain. */
const MAX_NODES = 1_000_000;

const NO_VARIABLES: RawVariables = {};

/** Thrown when the maximum number of errors is reached. */
const TOO_MANY_ERRORS = Symbol('too many errors');

/** Variable of an operation with its type. */
export interface VariablePlan {
  readonly name: string;
  readonly definition: VariableDefinitionNode;
  /** Undefined if the schema has no such input type. */
  readonly type: GraphQLInputType | undefined;
}

/** Looks up the types of an operation's variables. */
export const planVariables = (
  schema: GraphQLSchema,
  { variableDefinitions = [] }: OperationDefinitionNode,
): readonly VariablePlan[] =>
  variableDefinitions.map((definition) => {
    const type = typeFromAST(schema, definition.type);
    return { name: definition.variable.name.value, definition, type: isInputType(type) ? type : undefined };
  });

/** Coerces the variables of an operation to their types. Returns errors if any is invalid. */
export function coerceVariables(
  plans: readonly VariablePlan[],
  rawVariables: RawVariables | null | undefined,
  { maxInputListItems, hideSuggestions }: CoerceVariablesOptions,
): CoercedVariables {
  const raw = rawVariables ?? NO_VARIABLES;
  for (const { name } of plans) {
    if (Object.hasOwn(raw, name) && hasListLongerThan(maxInputListItems, raw[name])) {
      return { errors: [inputListError(name, maxInputListItems)] };
    }
  }
  const coercion = new Coercion(raw, hideSuggestions);
  try {
    for (const plan of plans) {
      coercion.coerce(plan);
    }
  } catch (error) {
    if (error !== TOO_MANY_ERRORS) {
      throw error;
    }
  }
  const { coerced, errors } = coercion;
  return errors.length > 0 ? { errors } : { coerced };
}

/**
 * Coercion of one operation's variables. Replaces `getVariableValues` of graphql-js, whose messages quote whole values (5 errors of an
 * object with 20,000 unknown fields took 100 ms) and whose errors scan the source for their locations.
 */
class Coercion {
  readonly coerced: Record<string, unknown> = {};
  readonly errors: GraphQLError[] = [];
  readonly #raw: RawVariables;
  readonly #hideSuggestions: boolean;

  constructor(raw: RawVariables, hideSuggestions: boolean) {
    this.#raw = raw;
    this.#hideSuggestions = hideSuggestions;
  }

  coerce({ name, definition, type }: VariablePlan): void {
    if (type === undefined) {
      const typeText = print(definition.type);
      const message = `Variable "$${name}" expected value of type "${typeText}" which cannot be used as an input type.`;
      this.#addError(message, definition.type);
      return;
    }
    if (!Object.hasOwn(this.#raw, name)) {
      if (definition.defaultValue !== undefined) {
        this.#set(name, valueFromAST(definition.defaultValue, type));
      } else if (isNonNullType(type)) {
        this.#addError(`Variable "$${name}" of required type "${type}" was not provided.`, definition);
      }
      return;
    }
    const value = this.#raw[name];
    if (value === null && isNonNullType(type)) {
      this.#addError(`Variable "$${name}" of non-null type "${type}" must not be null.`, definition);
      return;
    }
    const onError = (path: readonly (string | number)[], invalidValue: unknown, error: GraphQLError): void => {
      const place = path.length > 0 ? ` at "${name}${printPathArray(path)}"` : '';
      this.#addError(
        `Variable "$${name}" got invalid value ${inspect(excerpt(invalidValue))}${place}; ${error.message}`,
        definition,
        error,
      );
    };
    this.#set(name, coerceInputValue(value, type, onError, this.#hideSuggestions || containsLongText(value)));
  }

  #set(name: string, value: unknown): void {
    if (name === '__proto__') {
      Object.defineProperty(this.coerced, name, { value, configurable: true, enumerable: true, writable: true });
    } else {
      this.coerced[name] = value;
    }
  }

  #addError(message: string, node: ASTNode, originalError?: GraphQLError): void {
    if (this.errors.length === MAX_ERRORS) {
      this.errors.push(
        new GraphQLError('Too many errors processing variables, error limit reached. Execution aborted.'),
      );
      throw TOO_MANY_ERRORS;
    }
    this.errors.push(
      setNodes(new GraphQLError(truncateMessage(message), { originalError: originalError ?? null }), [node]),
    );
  }
}

/** Length of quoted text from which messages are truncated before their suggestion. Finding a suggestion takes 5 ms for 250 KB. */
const MAX_QUOTED = 300;

/** Checks whether a value, or a key or member of it, is text that fills a message. */
function containsLongText(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) {
    return isLongText(value);
  }
  for (const key in value) {
    if (key.length > MAX_QUOTED || isLongText(Reflect.get(value, key))) {
      return true;
    }
  }
  return false;
}

const isLongText = (value: unknown): boolean => typeof value === 'string' && value.length > MAX_QUOTED;

const inputListError = (name: string, maxInputListItems: number): GraphQLError =>
  new GraphQLError(
    `Variable "$${name}" has a list of more than ${maxInputListItems} items. Send at most ${maxInputListItems} in one list.`,
    { extensions: { code: 'BAD_USER_INPUT' } },
  );

/** Checks the length of all lists in a value. Doesn't use recursion, because JSON.parse accepts nesting that would overflow the stack. */
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
