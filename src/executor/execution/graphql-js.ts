// What differs between graphql-js 16 and 17.

import type { ConstValueNode, GraphQLInputType, GraphQLResolveInfo, ValueNode, VariableDefinitionNode } from 'graphql';
import * as graphql from 'graphql';

/** Functions of graphql-js 17 that 16 does not have, or has in another form. */
interface Installed {
  readonly versionInfo: { readonly major: number };
  coerceInputLiteral?(node: ValueNode, type: GraphQLInputType, variables?: Variables): unknown;
  coerceInputValue(value: unknown, type: GraphQLInputType): unknown;
}

const installed: Installed = graphql;

const IS_17 = installed.versionInfo.major >= 17;

export interface VariablePlan {
  readonly name: string;
  readonly definition: VariableDefinitionNode;
  /** Undefined if the schema has no such input type. */
  readonly type: GraphQLInputType | undefined;
}

interface VariableSource {
  readonly signature: {
    readonly name: string;
    readonly type: GraphQLInputType;
    readonly default: { readonly literal: ConstValueNode } | undefined;
  };
  /** Value that the client sent. Absent if it sent none. */
  readonly value?: unknown;
}

/** Coerced variables of one operation, in the form of version 17. */
export class Variables {
  readonly coerced: Readonly<Record<string, unknown>>;
  readonly #plans: readonly VariablePlan[];
  readonly #raw: Readonly<Record<string, unknown>>;

  constructor(
    coerced: Readonly<Record<string, unknown>>,
    plans: readonly VariablePlan[] = [],
    raw: Readonly<Record<string, unknown>> = {},
  ) {
    this.coerced = coerced;
    this.#plans = plans;
    this.#raw = raw;
  }

  /** Made when a resolver or scalar reads it, which few do. */
  get sources(): Readonly<Record<string, VariableSource>> {
    const sources: Record<string, VariableSource> = {};
    for (const { name, definition, type } of this.#plans) {
      if (type !== undefined && Object.hasOwn(this.coerced, name)) {
        const literal = definition.defaultValue;
        const signature = { name, type, default: literal && { literal } };
        sources[name] = Object.hasOwn(this.#raw, name) ? { signature, value: this.#raw[name] } : { signature };
      }
    }
    return sources;
  }
}

/** Returns variables in the form in which the resolvers of the installed version get them: in 16, only the coerced values. */
export function toInfoVariables(variables: Variables): GraphQLResolveInfo['variableValues'] {
  const values: object = IS_17 ? variables : variables.coerced;
  return values as GraphQLResolveInfo['variableValues'];
}

/** Coerces a literal. Returns undefined if it is invalid. `valueFromAST` of 17 rounds ids, and 16 does not have its successor. */
export const coerceLiteral = (node: ValueNode, type: GraphQLInputType, variables?: Variables): unknown =>
  installed.coerceInputLiteral === undefined
    ? graphql.valueFromAST(node, type, variables?.coerced)
    : installed.coerceInputLiteral(node, type, variables);

/** Argument or input field. Version 17 has a second form of defaults, for its introspection and schemas from SDL. */
interface WithDefault {
  readonly type: GraphQLInputType;
  readonly defaultValue?: unknown;
  readonly default?: { readonly value?: unknown; readonly literal?: ValueNode } | undefined;
}

/** Returns the default of an argument or input field; undefined if there is none. */
export function defaultOf({ type, defaultValue, default: sent }: WithDefault): unknown {
  if (sent === undefined) {
    return defaultValue;
  }
  return sent.literal === undefined ? installed.coerceInputValue(sent.value, type) : coerceLiteral(sent.literal, type);
}

/** Member of the information for resolvers that 17 added. The context has the signal of the operation. */
export const getAbortSignal = (): undefined => undefined;

/** Member of the information for resolvers that 17 added. Nothing waits for work that a resolver leaves running. */
export const getAsyncHelpers = () => ({
  promiseAll: <T>(values: readonly T[]) => Promise.all(values),
  track: () => {},
});
