// Coerces the variables of an operation to their types.

import {
  type ASTNode,
  GraphQLError,
  GraphQLID,
  type GraphQLInputObjectType,
  type GraphQLInputType,
  type GraphQLLeafType,
  type GraphQLSchema,
  isEnumType,
  isInputObjectType,
  isInputType,
  isListType,
  isNonNullType,
  type OperationDefinitionNode,
  print,
  typeFromAST,
} from 'graphql';
import { didYouMean } from 'graphql/jsutils/didYouMean.js';
import { inspect } from 'graphql/jsutils/inspect.js';
import { printPathArray } from 'graphql/jsutils/printPathArray.js';
import { suggestionList } from 'graphql/jsutils/suggestionList.js';
import { excerpt, isGraphQLError, setNodes, truncateMessage } from '../../errors/located-error.ts';
import { coerceLiteral, defaultOf, type VariablePlan, Variables } from '../execution/graphql-js.ts';
import type { Limits } from '../execution/result-limits.ts';

/** Maximum errors of variables in one response. One more error says that there are others, as in graphql-js. */
const MAX_ERRORS = 5;

type CoercedVariables =
  | { readonly errors: readonly GraphQLError[]; readonly variables?: undefined }
  | { readonly variables: Variables; readonly errors?: undefined };

type RawVariables = Readonly<Record<string, unknown>>;

/** Maximum objects in one variable, more than a request body can contain. */
const MAX_NODES = 1_000_000;

/** Thrown when the maximum number of errors is reached. */
const TOO_MANY_ERRORS = Symbol('too many errors');

export const planVariables = (
  schema: GraphQLSchema,
  { variableDefinitions = [] }: OperationDefinitionNode,
): readonly VariablePlan[] =>
  variableDefinitions.map((definition) => {
    const type = typeFromAST(schema, definition.type);
    return { name: definition.variable.name.value, definition, type: isInputType(type) ? type : undefined };
  });

/** Returns errors if any variable is invalid. */
export function coerceVariables(
  plans: readonly VariablePlan[],
  rawVariables: RawVariables | null | undefined,
  { maxInputListItems, hideSuggestions }: Pick<Limits, 'maxInputListItems' | 'hideSuggestions'>,
): CoercedVariables {
  const raw = rawVariables ?? {};
  for (const { name } of plans) {
    if (Object.hasOwn(raw, name) && hasListLongerThan(maxInputListItems, raw[name])) {
      const message = `Variable "$${name}" has a list of more than ${maxInputListItems} items. Send at most ${maxInputListItems} in one list.`;
      return { errors: [new GraphQLError(message, { extensions: { code: 'BAD_USER_INPUT' } })] };
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
  return errors.length > 0 ? { errors } : { variables: new Variables(coerced, plans, raw) };
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
        this.#set(name, coerceLiteral(definition.defaultValue, type));
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
    const hideSuggestions = this.#hideSuggestions || containsLongText(value);
    const input: Input = {
      hideSuggestions,
      reject: (invalid, path, reason) => {
        const place = path.length > 0 ? ` at "${name}${printPathArray(path)}"` : '';
        const error = typeof reason === 'string' ? undefined : reason;
        this.#addError(
          `Variable "$${name}" got invalid value ${inspect(excerpt(invalid))}${place}; ${error?.message ?? reason}`,
          definition,
          error,
        );
      },
    };
    this.#set(name, coerceValue(input, value, type, []));
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

interface Input {
  readonly hideSuggestions: boolean;
  readonly reject: (invalid: unknown, path: Path, reason: string | GraphQLError) => void;
}

type Path = readonly (string | number)[];

/** Coerces a value of a variable. graphql-js 16 and 17 have functions for this that differ. Returns undefined if it is invalid. */
function coerceValue(input: Input, value: unknown, type: GraphQLInputType, path: Path): unknown {
  if (isNonNullType(type)) {
    return value == null
      ? input.reject(value, path, `Expected non-nullable type "${type}" not to be null.`)
      : coerceValue(input, value, type.ofType, path);
  }
  if (value == null) {
    return null;
  }
  if (isListType(type)) {
    return Array.isArray(value)
      ? value.map((item, index) => coerceValue(input, item, type.ofType, [...path, index]))
      : [coerceValue(input, value, type.ofType, path)];
  }
  return isInputObjectType(type) ? coerceObject(input, value, type, path) : coerceLeaf(input, value, type, path);
}

function coerceObject(input: Input, value: unknown, type: GraphQLInputObjectType, path: Path): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return input.reject(value, path, `Expected type "${type.name}" to be an object.`);
  }
  const fields = type.getFields();
  const coerced: Record<string, unknown> = {};
  for (const field of Object.values(fields)) {
    const sent: unknown = Object.hasOwn(value, field.name) ? Reflect.get(value, field.name) : undefined;
    const fallback = sent === undefined ? defaultOf(field) : undefined;
    if (sent !== undefined) {
      coerced[field.name] = coerceValue(input, sent, field.type, [...path, field.name]);
    } else if (fallback !== undefined) {
      coerced[field.name] = fallback;
    } else if (isNonNullType(field.type)) {
      input.reject(value, path, `Field "${field.name}" of required type "${field.type}" was not provided.`);
    }
  }
  for (const name of Object.keys(value)) {
    if (!Object.hasOwn(fields, name)) {
      const suggestion = input.hideSuggestions ? '' : didYouMean(suggestionList(name, Object.keys(fields)));
      input.reject(value, path, `Field "${name}" is not defined by type "${type.name}".${suggestion}`);
    }
  }
  if (type.isOneOf) {
    const keys = Object.keys(coerced);
    const [key = ''] = keys;
    if (keys.length !== 1) {
      input.reject(value, path, `Exactly one key must be specified for OneOf type "${type.name}".`);
    } else if (coerced[key] === null) {
      input.reject(null, [...path, key], `Field "${key}" must be non-null.`);
    }
  }
  return coerced;
}

/** Whether a value of the type ID is a number that JavaScript can't hold exactly. Parsing JSON has already changed it. */
export const isInexactId = (type: GraphQLLeafType, value: unknown): boolean =>
  type === GraphQLID && typeof value === 'number' && Math.abs(value) > Number.MAX_SAFE_INTEGER;

export const INEXACT_ID = 'ID cannot represent this number exactly; send it as a string.';

function coerceLeaf(input: Input, value: unknown, type: GraphQLLeafType, path: Path): unknown {
  if (isInexactId(type, value)) {
    return input.reject(value, path, INEXACT_ID);
  }
  let coerced: unknown;
  try {
    coerced = isEnumType(type) ? type.parseValue(value, input.hideSuggestions) : type.parseValue(value);
  } catch (error) {
    const reason = `Expected type "${type.name}". ${error instanceof Error ? error.message : ''}`;
    return input.reject(value, path, isGraphQLError(error) ? error : reason);
  }
  return coerced === undefined ? input.reject(value, path, `Expected type "${type.name}".`) : coerced;
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

/** Checks the length of all lists in a value. Doesn't use recursion, because JSON.parse accepts nesting that would overflow the stack. */
function hasListLongerThan(maxItems: number, value: unknown): boolean {
  if (typeof value !== 'object' || value === null) {
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
