// Computes the scopes that an operation requires, given its variables.

import {
  type DocumentNode,
  type GraphQLNamedType,
  type GraphQLSchema,
  getNamedType,
  isCompositeType,
  isUnionType,
  Kind,
  type NamedTypeNode,
  type OperationDefinitionNode,
  type SelectionNode,
  type SelectionSetNode,
  type ValueNode,
  valueFromASTUntyped,
  visit,
} from 'graphql';
import { LRUCache } from 'lru-cache';
import { findConditionVariables, fragmentsOf } from '../../executor/selections.ts';
import { scopesOfField, scopesOfType } from '../../graphql/scopes.ts';
import { isRecord } from '../../lib/is-record.ts';
import { memoizeByObject } from '../../lib/memoize.ts';
import type { Scope } from '../../settings/scopes.ts';

type Variables = Readonly<Record<string, unknown>>;

/** Returns the scopes that an operation requires and that are not granted, in the order of the document. */
export type FindMissingScopes = (granted: ReadonlySet<Scope>, variables: Variables) => readonly Scope[];

/** Maximum remembered combinations of conditions. Clients choose them, so the number must be limited. */
const MAX_COMBINATIONS = 16;

const NO_SCOPES: readonly Scope[] = [];

/**
 * Creates the function that finds the missing scopes of an operation of a valid document. The required ones are computed once for each combination of the
 * conditions in `@skip` and `@include`.
 */
export function createFindMissingScopes(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
): FindMissingScopes {
  const conditions = findConditionVariables(document);
  const defaults = defaultsOf(operation);
  const byCombination = new LRUCache<string, readonly Scope[]>({ max: MAX_COMBINATIONS });
  const readRepresentations = findRepresentations(schema, document, operation);
  const scopesOf = memoizeByObject((type: GraphQLNamedType) => scopesOfType(schema, type));

  /** Returns the value of a variable that decides about selections. One that is no boolean can include them, depending on the executor. */
  function conditionOf(name: string, variables: Variables): boolean | undefined {
    const sent = variables[name];
    const value = sent === undefined ? defaults[name] : sent;
    return typeof value === 'boolean' ? value : undefined;
  }

  /** Returns the scopes of the fields that can be included with these variables. */
  function scopesOfFields(variables: Variables): readonly Scope[] {
    const key = conditions.length === 0 ? '' : conditions.map((name) => conditionOf(name, variables)).join();
    let scopes = byCombination.get(key);
    if (scopes === undefined) {
      scopes = collectScopes(schema, document, operation, (name) => conditionOf(name, variables));
      byCombination.set(key, scopes);
    }
    return scopes;
  }

  /** Returns the scopes of the record that a representation refers to. Loading it requires them, whatever is selected. */
  function scopesOfRecord(representation: unknown): readonly Scope[] {
    const name = isRecord(representation) ? representation.__typename : undefined;
    const type = typeof name === 'string' ? schema.getType(name) : undefined;
    return type === undefined ? NO_SCOPES : scopesOf(type);
  }

  return (granted, variables) => {
    const ofFields = scopesOfFields(variables);
    const lists = [...new Set(readRepresentations?.(variables))];
    const required =
      lists.length === 0 ? ofFields : [...new Set([...ofFields, ...lists.flat().flatMap(scopesOfRecord)])];
    return required.every((scope) => granted.has(scope)) ? NO_SCOPES : required.filter((scope) => !granted.has(scope));
  };
}

/** Returns the defaults of an operation's variables by name. */
const defaultsOf = ({ variableDefinitions = [] }: OperationDefinitionNode): Variables =>
  Object.fromEntries(
    variableDefinitions.flatMap(({ variable, defaultValue }) =>
      defaultValue === undefined ? [] : [[variable.name.value, valueFromASTUntyped(defaultValue)]],
    ),
  );

/** Returns false only if `@skip` or `@include` certainly exclude a selection. */
function canInclude({ directives = [] }: SelectionNode, conditionOf: (variable: string) => boolean | undefined) {
  return directives.every(({ name, arguments: args = [] }) => {
    const condition = args.find((argument) => argument.name.value === 'if')?.value;
    const literal = condition?.kind === Kind.BOOLEAN ? condition.value : undefined;
    const value = condition?.kind === Kind.VARIABLE ? conditionOf(condition.name.value) : literal;
    return !((name.value === 'skip' && value === true) || (name.value === 'include' && value === false));
  });
}

/** Collects the scopes of an operation and its fragments, each of which is walked once. */
function collectScopes(
  schema: GraphQLSchema,
  document: DocumentNode,
  { operation, selectionSet: root }: OperationDefinitionNode,
  conditionOf: (variable: string) => boolean | undefined,
): readonly Scope[] {
  const fragments = fragmentsOf(document);
  const walked = new Set<string>();
  const scopes: Scope[] = [];
  const typeOf = (node: NamedTypeNode | undefined) => node && schema.getType(node.name.value);

  function walk(selectionSet: SelectionSetNode | undefined, parent: GraphQLNamedType | null | undefined): void {
    if (selectionSet === undefined || !isCompositeType(parent)) {
      return;
    }
    for (const selection of selectionSet.selections.filter((each) => canInclude(each, conditionOf))) {
      if (selection.kind === Kind.FIELD) {
        const { value: name } = selection.name;
        scopes.push(...scopesOfField(schema, parent, name)); // `__typename` and introspection require none.
        walk(selection.selectionSet, getNamedType(isUnionType(parent) ? undefined : parent.getFields()[name]?.type));
      } else if (selection.kind === Kind.INLINE_FRAGMENT) {
        walk(selection.selectionSet, typeOf(selection.typeCondition) ?? parent);
      } else {
        const { value: name } = selection.name;
        const fragment = walked.has(name) ? undefined : fragments[name];
        walked.add(name);
        walk(fragment?.selectionSet, typeOf(fragment?.typeCondition));
      }
    }
  }

  walk(root, schema.getRootType(operation));
  return [...new Set(scopes)];
}

/**
 * Returns the representations that an operation passes to `_entities`, for the variables that the client sent: one list per use of the field. Uses
 * with the same variable share a list.
 */
export type ReadRepresentations = (variables: Variables) => readonly (readonly unknown[])[];

/**
 * Finds the representations of an operation. Also counts those of fields that are skipped, because that can only lead to a refusal that
 * explains itself.
 *
 * @returns undefined if the operation doesn't use `_entities`, or the schema doesn't have it
 */
export function findRepresentations(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
): ReadRepresentations | undefined {
  if (schema.getQueryType()?.getFields()._entities === undefined) {
    return undefined;
  }
  const values: ValueNode[] = [];
  for (const definition of document.definitions) {
    if (definition === operation || definition.kind === Kind.FRAGMENT_DEFINITION) {
      visit(definition, {
        Field: ({ name, arguments: args = [] }) => {
          values.push(...(name.value === '_entities' ? args.map(({ value }) => value) : []));
        },
      });
    }
  }
  if (values.length === 0) {
    return undefined;
  }
  const defaults = defaultsOf(operation);
  return (variables) => {
    const withDefaults = { ...defaults, ...variables };
    return values.map((node) => {
      const value = valueFromASTUntyped(node, withDefaults);
      const list: readonly unknown[] = Array.isArray(value) ? value : [value]; // A single value is a list of one item.
      return value == null ? [] : list; // Not a copy: a long list can be used under many names.
    });
  };
}
