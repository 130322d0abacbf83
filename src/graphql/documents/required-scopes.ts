// Computes the scopes that an operation requires, given its variables.

import {
  type DirectiveNode,
  type DocumentNode,
  type FragmentDefinitionNode,
  type GraphQLCompositeType,
  type GraphQLNamedType,
  type GraphQLSchema,
  getNamedType,
  isCompositeType,
  isUnionType,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
  type ValueNode,
  valueFromASTUntyped,
  visit,
} from 'graphql';
import { isRecord } from '../../lib/is-record.ts';
import { memoizeByObject } from '../../lib/memoize.ts';
import type { Scope } from '../../settings/scopes.ts';
import { scopesOfField, scopesOfType } from '../scopes.ts';

/** Scopes that an operation requires, computed once for all of its executions. */
export interface RequiredScopes {
  /** Returns the required scopes that are not granted, in the order of the document. */
  missing(granted: ReadonlySet<Scope>, variables: Readonly<Record<string, unknown>>): readonly Scope[];
}

/** Condition of `@skip` or `@include` that depends on a variable. */
interface Condition {
  variable: string;
  value: boolean;
}

interface Requirement {
  scope: Scope;
  conditions: readonly Condition[];
}

const NO_SCOPES: readonly Scope[] = [];

/** Returns false only if the condition excludes the field. Values that are not booleans can include it, depending on the executor. */
function canHold(
  { variable, value }: Condition,
  variables: Readonly<Record<string, unknown>>,
  defaults: ReadonlyMap<string, boolean | undefined>,
): boolean {
  const sent = variables[variable];
  return (sent === undefined ? defaults.get(variable) : sent) !== !value;
}

/** Reads the scopes that an operation of a valid document requires. */
export function readRequiredScopes(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
): RequiredScopes {
  const root = schema.getRootType(operation.operation);
  if (root == null) {
    return { missing: () => NO_SCOPES };
  }
  const defaults = new Map(
    (operation.variableDefinitions ?? []).map(({ variable, defaultValue }) => [
      variable.name.value,
      defaultValue?.kind === Kind.BOOLEAN ? defaultValue.value : undefined,
    ]),
  );
  const requirements = collect(schema, document, operation.selectionSet, root);
  const readRepresentations = findRepresentations(schema, document, operation);
  const scopesOf = memoizeByObject((type: GraphQLNamedType) => scopesOfType(schema, type));
  /** Returns the scopes of the record that a representation refers to. Loading it requires them, whatever is selected. */
  function scopesOfRecord(representation: unknown): readonly Scope[] {
    const name = isRecord(representation) ? representation.__typename : undefined;
    const type = typeof name === 'string' ? schema.getType(name) : undefined;
    return type === undefined ? NO_SCOPES : scopesOf(type);
  }
  return {
    missing(granted, variables) {
      let missing: Set<Scope> | undefined;
      for (const { scope, conditions } of requirements) {
        if (!granted.has(scope) && conditions.every((condition) => canHold(condition, variables, defaults))) {
          missing ??= new Set();
          missing.add(scope);
        }
      }
      for (const representations of new Set(readRepresentations?.(variables))) {
        for (const scope of representations.flatMap(scopesOfRecord)) {
          if (!granted.has(scope)) {
            missing ??= new Set();
            missing.add(scope);
          }
        }
      }
      return missing === undefined ? NO_SCOPES : [...missing];
    },
  };
}

/** Collects the requirements of an operation and its fragments. */
function collect(
  schema: GraphQLSchema,
  document: DocumentNode,
  selectionSet: SelectionSetNode,
  root: GraphQLCompositeType,
): Requirement[] {
  const fragments = new Map(
    document.definitions
      .filter((definition): definition is FragmentDefinitionNode => definition.kind === Kind.FRAGMENT_DEFINITION)
      .map((fragment) => [fragment.name.value, fragment]),
  );
  const requirements: Requirement[] = [];
  /** Visited fragments. Each is walked at most twice: after a second spread it counts as always included. */
  const seen = new Map<string, 'sometimes' | 'always'>();

  function walk({ selections }: SelectionSetNode, parent: GraphQLCompositeType, outer: readonly Condition[]): void {
    for (const selection of selections) {
      const selectionConditions = conditionsOf(selection.directives);
      if (selectionConditions === undefined) {
        continue;
      }
      const conditions = [...outer, ...selectionConditions];
      switch (selection.kind) {
        case Kind.FIELD: {
          const field = isUnionType(parent) ? undefined : parent.getFields()[selection.name.value];
          if (isUnionType(parent) || field === undefined) {
            break; // `__typename` and introspection require no scope.
          }
          const type = getNamedType(field.type);
          const scopes = scopesOfField(schema, parent, field.name);
          requirements.push(...scopes.map((scope) => ({ scope, conditions })));
          if (selection.selectionSet !== undefined && isCompositeType(type)) {
            walk(selection.selectionSet, type, conditions);
          }
          break;
        }
        case Kind.INLINE_FRAGMENT:
          walk(selection.selectionSet, typeNamed(selection.typeCondition?.name.value) ?? parent, conditions);
          break;
        case Kind.FRAGMENT_SPREAD:
          walkFragment(selection.name.value, conditions);
      }
    }
  }

  function walkFragment(name: string, conditions: readonly Condition[]): void {
    const before = seen.get(name);
    const fragment = fragments.get(name);
    const type = typeNamed(fragment?.typeCondition.name.value);
    if (before === 'always' || fragment === undefined || type === undefined) {
      return;
    }
    const isUnconditional = before === 'sometimes' || conditions.length === 0;
    seen.set(name, isUnconditional ? 'always' : 'sometimes');
    walk(fragment.selectionSet, type, isUnconditional ? [] : conditions);
  }

  function typeNamed(name: string | undefined): GraphQLCompositeType | undefined {
    const type = name === undefined ? undefined : schema.getType(name);
    return isCompositeType(type) ? type : undefined;
  }

  walk(selectionSet, root, []);
  return requirements;
}

/** Returns the conditions of a selection, or undefined if it is never included. */
function conditionsOf(directives: readonly DirectiveNode[] = []): Condition[] | undefined {
  const conditions: Condition[] = [];
  for (const { name, arguments: args = [] } of directives) {
    const value = args.find((argument) => argument.name.value === 'if')?.value;
    if (name.value !== 'skip' && name.value !== 'include') {
      continue;
    }
    const isInclude = name.value === 'include';
    if (value?.kind === Kind.VARIABLE) {
      conditions.push({ variable: value.name.value, value: isInclude });
    } else if (value?.kind === Kind.BOOLEAN && value.value !== isInclude) {
      return undefined;
    }
  }
  return conditions;
}

/**
 * Returns the representations that an operation passes to `_entities`, for the variables that the client sent: one list per use of the field. Uses
 * with the same variable share a list.
 */
export type ReadRepresentations = (variables: Readonly<Record<string, unknown>>) => readonly (readonly unknown[])[];

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
  const defaults = Object.fromEntries(
    (operation.variableDefinitions ?? []).flatMap(({ variable, defaultValue }) =>
      defaultValue === undefined ? [] : [[variable.name.value, valueFromASTUntyped(defaultValue)]],
    ),
  );
  return (variables) => {
    const withDefaults = { ...defaults, ...variables };
    return values.map((node) => {
      const value = valueFromASTUntyped(node, withDefaults);
      return value == null ? [] : [value].flat(); // A single value is a list of one item.
    });
  };
}
