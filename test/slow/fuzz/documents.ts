// Generates requests for a schema, with their variables.

import {
  type GraphQLArgument,
  type GraphQLCompositeType,
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLSchema,
  getNamedType,
  isCompositeType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isObjectType,
  isUnionType,
  OperationTypeNode,
} from 'graphql';
import type { Choices } from '../../support/choices.ts';

export interface GeneratedRequest {
  query: string;
  variables: Record<string, unknown>;
  operationName: string | undefined;
}

/** Literals of each scalar, and values of variables of that type. */
export type Scalars = Readonly<
  Record<string, readonly [literals: [string, ...string[]], values: [unknown, ...unknown[]]]>
>;

const BUILT_IN: Scalars = {
  ID: [
    ['"w1"', '7', '"../x"'],
    ['w1', 7, 'é'],
  ],
  String: [
    ['"a"', '""', '"""block"""'],
    ['a', '', '__proto__'],
  ],
  Int: [
    ['1', '0', '-3'],
    [1, 0, 30],
  ],
  Float: [
    ['1.5', '2', '-0.5e3'],
    [1.5, 2, -1],
  ],
  Boolean: [
    ['true', 'false'],
    [true, false],
  ],
};

const MAX_DEPTH = 5;
const WRONG: [unknown, ...unknown[]] = [{ a: 1 }, [], 'wrong', 1.5, true, null, [[null]]];

/** Generates documents that are valid by construction. */
export class DocumentGenerator {
  readonly #schema: GraphQLSchema;
  readonly #choices: Choices;
  readonly #scalars: Scalars;
  /** Field behind each response key, so that fields of the same key can always be merged. */
  readonly #fieldOfKey = new Map<string, string>();
  readonly #fragments: { name: string; type: GraphQLCompositeType; text: string }[] = [];
  readonly #variableDefinitions: string[] = [];
  readonly #variables: Record<string, unknown> = {};
  #fieldsLeft = 60;
  #hasDirectives = true;

  constructor(schema: GraphQLSchema, choices: Choices, scalars: Scalars = {}) {
    this.#schema = schema;
    this.#choices = choices;
    this.#scalars = { ...BUILT_IN, ...scalars };
  }

  generate(): GeneratedRequest {
    const choices = this.#choices;
    const kind = choices.of([
      OperationTypeNode.QUERY,
      OperationTypeNode.QUERY,
      OperationTypeNode.MUTATION,
      OperationTypeNode.SUBSCRIPTION,
    ]);
    const operation = this.#schema.getRootType(kind) ? kind : OperationTypeNode.QUERY;
    const root = this.#schema.getRootType(operation);
    if (root == null) {
      throw new Error('The schema has no query type.');
    }
    // graphql-js' validation throws on conditions with variables in subscriptions.
    this.#hasDirectives = operation !== OperationTypeNode.SUBSCRIPTION;
    // The specification allows only one root field in subscriptions.
    const selections =
      operation === OperationTypeNode.SUBSCRIPTION ? `{ ${this.#field(root, 0, false)} }` : this.#selectionSet(root, 0);
    const definitions = this.#variableDefinitions.length > 0 ? `(${this.#variableDefinitions.join(', ')})` : '';
    const hasOther = choices.oneIn(10);
    return {
      query: [
        `${operation} Main${definitions} ${selections}`,
        ...this.#fragments.map(({ text }) => text),
        ...(hasOther ? ['query Other { __typename }'] : []),
      ].join('\n'),
      variables: this.#variables,
      operationName: hasOther ? choices.of<string | undefined>(['Main', 'Main', 'Main', undefined, 'None']) : undefined,
    };
  }

  #selectionSet(type: GraphQLCompositeType, depth: number): string {
    const selections: string[] = [];
    const count = 1 + this.#choices.pick(5);
    for (let index = 0; index < count; index += 1) {
      selections.push(this.#selection(type, depth));
    }
    return `{ ${selections.join(' ')} }`;
  }

  #selection(type: GraphQLCompositeType, depth: number): string {
    const kind = this.#fieldsLeft > 0 && depth < MAX_DEPTH ? this.#choices.pick(8) : 0;
    if (kind === 6) {
      return this.#inlineFragment(type, depth);
    }
    return kind === 7 ? this.#fragmentSpread(type, depth) : this.#field(type, depth, true);
  }

  #inlineFragment(type: GraphQLCompositeType, depth: number): string {
    const condition = this.#choices.oneIn(4) ? undefined : this.#overlappingType(type);
    const on = condition === undefined ? '' : `on ${condition.name} `;
    return `... ${on}${this.#directives()} ${this.#selectionSet(condition ?? type, depth + 1)}`;
  }

  #fragmentSpread(type: GraphQLCompositeType, depth: number): string {
    const known = this.#fragments.filter((fragment) => overlaps(this.#schema, fragment.type, type));
    let fragment = known.length > 0 && this.#choices.oneIn(2) ? known[this.#choices.pick(known.length)] : undefined;
    if (fragment === undefined) {
      const condition = this.#overlappingType(type);
      // Adds the fragment when it is complete, so that it cannot spread itself.
      const selections = this.#selectionSet(condition, depth + 1);
      const name = `F${this.#fragments.length}`;
      fragment = { name, type: condition, text: `fragment ${name} on ${condition.name} ${selections}` };
      this.#fragments.push(fragment);
    }
    return `...${fragment.name}${this.#directives()}`;
  }

  #overlappingType(type: GraphQLCompositeType): GraphQLCompositeType {
    const types = Object.values(this.#schema.getTypeMap())
      .filter(isCompositeType)
      .filter((other) => !other.name.startsWith('__') && overlaps(this.#schema, other, type));
    return this.#choices.of([type, ...types]);
  }

  #field(type: GraphQLCompositeType, depth: number, mayBeTypename: boolean): string {
    this.#fieldsLeft -= 1;
    const isRoot = type === this.#schema.getQueryType();
    const fields = isUnionType(type) ? [] : Object.values(type.getFields());
    const usable = fields.filter(
      (field) => !isCompositeType(getNamedType(field.type)) || (depth < MAX_DEPTH && this.#fieldsLeft > 0),
    );
    if (isRoot && this.#choices.oneIn(40)) {
      return `__schema ${this.#directives()} { queryType { name fields { name args { defaultValue } } } }`;
    }
    const composite = usable.filter((field) => isCompositeType(getNamedType(field.type)));
    const candidates = composite.length > 0 && this.#choices.oneIn(2) ? composite : usable;
    const field = candidates[this.#choices.pick(candidates.length + 1)];
    if (field === undefined || usable.length === 0) {
      return mayBeTypename || usable[0] === undefined
        ? `${this.#key('__typename', '', 'String!')}__typename${this.#directives()}`
        : this.#fieldOf(usable[0], depth);
    }
    return this.#fieldOf(field, depth);
  }

  #fieldOf(field: GraphQLField<unknown, unknown>, depth: number): string {
    const parts = field.args.map((arg) => this.#argument(arg)).filter((text) => text !== undefined);
    const args = parts.length > 0 ? `(${parts.join(', ')})` : '';
    const key = this.#key(field.name, args, String(field.type));
    const named = getNamedType(field.type);
    const selections = isCompositeType(named) ? ` ${this.#selectionSet(named, depth + 1)}` : '';
    return `${key}${field.name}${args}${this.#directives()}${selections}`;
  }

  /** Returns an alias, or an empty string if the field name is not yet used for another field. */
  #key(name: string, args: string, type: string): string {
    const meaning = `${name}${args}: ${type}`;
    const wish = this.#choices.of([name, name, name, 'a', '__proto__', 'constructor', 'b']);
    for (let number = 0; ; number += 1) {
      const key = number === 0 ? wish : `${wish}${number}`;
      if ((this.#fieldOfKey.get(key) ?? meaning) === meaning) {
        this.#fieldOfKey.set(key, meaning);
        return key === name ? '' : `${key}: `;
      }
    }
  }

  #directives(): string {
    if (!this.#choices.oneIn(8) || !this.#hasDirectives) {
      return '';
    }
    const condition = this.#choices.of(['true', 'false', 'variable', 'default']);
    const text =
      condition === 'variable'
        ? this.#variable('Boolean!', [true, false])
        : condition === 'default'
          ? this.#variable('Boolean = true', [true, false, null])
          : condition;
    return ` @${this.#choices.of(['include', 'skip'])}(if: ${text})`;
  }

  #variable(type: string, values: readonly unknown[]): string {
    const name = `v${this.#variableDefinitions.length}`;
    this.#variableDefinitions.push(`$${name}: ${type}`);
    const choice = this.#choices.pick(24);
    if (choice === 23) {
      this.#variables[name] = this.#choices.of(WRONG);
    } else if (choice !== 22 && (choice < 18 || type.includes('!'))) {
      this.#variables[name] = values[this.#choices.pick(values.length)];
    }
    return `$${name}`;
  }

  #argument({ name, type, defaultValue }: GraphQLArgument): string | undefined {
    const isRequired = isNonNullType(type) && defaultValue === undefined;
    if (!isRequired && this.#choices.oneIn(3)) {
      return undefined;
    }
    if (this.#choices.oneIn(3)) {
      return `${name}: ${this.#argumentVariable(type, defaultValue !== undefined)}`;
    }
    return `${name}: ${this.#literal(type, 0)}`;
  }

  #argumentVariable(type: GraphQLInputType, hasDefault: boolean): string {
    const values = [this.#value(type, 0), this.#value(type, 0)];
    if (!isNonNullType(type)) {
      return this.#variable(String(type), [...values, null]);
    }
    if (hasDefault && this.#choices.oneIn(2)) {
      return this.#variable(String(type.ofType), [...values, null]);
    }
    return this.#choices.oneIn(3)
      ? this.#variable(`${type.ofType} = ${this.#constant(type)}`, [...values, null])
      : this.#variable(String(type), values);
  }

  /** Returns a literal without variables. */
  #constant(type: GraphQLInputType): string {
    return this.#literal(type, MAX_DEPTH);
  }

  #literal(type: GraphQLInputType, depth: number): string {
    const choices = this.#choices;
    if (isNonNullType(type)) {
      return this.#literal(type.ofType, depth + MAX_DEPTH);
    }
    if (depth < MAX_DEPTH && choices.oneIn(8)) {
      return 'null';
    }
    if (isListType(type)) {
      const items = Array.from({ length: choices.pick(3) }, () => this.#literal(type.ofType, depth));
      return choices.oneIn(4) ? (items[0] ?? '[]') : `[${items.join(', ')}]`;
    }
    if (isInputObjectType(type)) {
      const fields = Object.values(type.getFields())
        .filter((field) => isNonNullType(field.type) || (depth < 2 * MAX_DEPTH && choices.oneIn(3)))
        .map((field) => `${field.name}: ${this.#literal(field.type, depth + 1)}`);
      return `{ ${fields.join(', ')} }`;
    }
    if (isEnumType(type)) {
      return type.getValues()[choices.pick(type.getValues().length)]?.name ?? 'null';
    }
    return choices.of(this.#scalars[type.name]?.[0] ?? ['null']);
  }

  #value(type: GraphQLInputType, depth: number): unknown {
    const choices = this.#choices;
    if (isNonNullType(type)) {
      return this.#value(type.ofType, depth);
    }
    if (isListType(type)) {
      const items = Array.from({ length: choices.pick(3) }, () => this.#value(type.ofType, depth + 1));
      return choices.oneIn(4) ? items[0] : items;
    }
    if (isInputObjectType(type)) {
      const fields = Object.values(type.getFields()).filter((field) => isNonNullType(field.type) || choices.oneIn(3));
      const entries = fields.map((field) => [field.name, depth < 4 ? this.#value(field.type, depth + 1) : null]);
      return Object.fromEntries(choices.oneIn(20) ? [...entries, ['unknown', 1]] : entries);
    }
    if (isEnumType(type)) {
      return type.getValues()[choices.pick(type.getValues().length)]?.name;
    }
    return choices.oneIn(20) ? choices.of(WRONG) : choices.of(this.#scalars[type.name]?.[1] ?? [null]);
  }
}

function overlaps(schema: GraphQLSchema, one: GraphQLCompositeType, other: GraphQLCompositeType): boolean {
  const possible = (type: GraphQLCompositeType) => (isObjectType(type) ? [type] : schema.getPossibleTypes(type));
  return possible(one).some((type) => possible(other).includes(type));
}
