// Plans operations once for many executions: the fields, arguments and value types of their selections. Limits the size of all plans.

import {
  assertValidSchema,
  type DocumentNode,
  type FieldNode,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  getNullableType,
  isAbstractType,
  isLeafType,
  isListType,
  isNonNullType,
  type OperationDefinitionNode,
  SchemaMetaFieldDef,
  type SelectionSetNode,
  TypeMetaFieldDef,
  TypeNameMetaFieldDef,
} from 'graphql';
import { LRUCache } from 'lru-cache';
import { DocumentError } from '../errors/located-error.ts';
import type { PlanSource } from './execution/execution.ts';
import { type VariablePlan, Variables } from './execution/graphql-js.ts';
import {
  type Complete,
  collectFields,
  createReadArguments,
  type FieldPlan,
  findConditionVariables,
  fragmentsOf,
  type SelectionPlan,
  type ValuePlan,
} from './selections.ts';
import { planVariables } from './values/coerce-variables.ts';
import { createLeafCompletion, createListCompletion } from './values/complete-value.ts';
import {
  createAbstractCompletion,
  createObjectCompletion,
  createResultFactory,
  type PlanSelection,
} from './values/execute-fields.ts';

/** Maximum plans per operation. Clients choose the values of `@skip` and `@include`, so the number must be limited. */
const MAX_PLANS = 16;

/** Maximum fields of all plans of a gateway. With its functions and its share of the result class, one takes 600 to 1,400 bytes of heap. */
const MAX_FIELDS = 6_000;

interface Root {
  readonly selection: SelectionPlan;
  readonly entry: SizeEntry;
}

/** Entry for a plan in the cache of sizes. Doesn't refer to the plan, because that would keep its document alive. */
interface SizeEntry {
  readonly key: string;
  readonly roots: WeakRef<Map<string, Root>>;
}

/** Part of `LRUCache` that plans use. The types of the package name none of the bundled `lru-cache`. */
export interface PlanSizes {
  get(entry: SizeEntry): true | undefined;
  has(entry: SizeEntry): boolean;
  set(entry: SizeEntry, value: true, options: { size: number }): unknown;
  delete(entry: SizeEntry): boolean;
}

/** Creates a cache that limits the total size of plans, and evicts the least recently used. */
export const createPlanSizes = (): PlanSizes =>
  new LRUCache<SizeEntry, true>({
    maxSize: MAX_FIELDS,
    dispose: (_, { key, roots }) => roots.deref()?.delete(key),
  });

/** Plans of one operation: of its variables, and of its selections for each combination of conditions. */
export class OperationPlans implements PlanSource {
  readonly schema: GraphQLSchema;
  readonly fragments: PlanSource['fragments'];
  readonly operation: OperationDefinitionNode;
  readonly variables: readonly VariablePlan[];
  readonly #conditionVariables: readonly string[];
  readonly #fieldsPerPlan: number;
  readonly #sizes: PlanSizes;
  readonly #roots = new Map<string, Root>();

  /**
   * @param fields number of fields of the operation
   * @throws {Error} if the schema is invalid
   */
  constructor(
    schema: GraphQLSchema,
    document: DocumentNode,
    operation: OperationDefinitionNode,
    fields: number,
    sizes: PlanSizes,
  ) {
    assertValidSchema(schema);
    this.schema = schema;
    this.operation = operation;
    this.fragments = fragmentsOf(document);
    this.variables = planVariables(schema, operation);
    this.#conditionVariables = findConditionVariables(document);
    this.#fieldsPerPlan = fields + 1;
    this.#sizes = sizes;
  }

  /** Returns the plan of the root selection. Throws if a condition has no value or the schema has no root type. */
  root(variables: Variables): SelectionPlan {
    const key = conditionsKey(this.#conditionVariables, variables);
    const root = this.#roots.get(key);
    if (root !== undefined) {
      this.#sizes.get(root.entry); // Marks it as recently used.
      return root.selection;
    }
    const { operation } = this;
    const type = this.schema.getRootType(operation.operation);
    if (type == null) {
      throw new DocumentError(`Schema is not configured to execute ${operation.operation} operation.`, [operation]);
    }
    const selection = planSelection(this, type, [operation.selectionSet], variables);
    this.#keep(key, selection);
    return selection;
  }

  #keep(key: string, selection: SelectionPlan): void {
    const [oldest] = this.#roots.values();
    if (this.#roots.size >= MAX_PLANS && oldest !== undefined) {
      this.#sizes.delete(oldest.entry);
    }
    const entry: SizeEntry = { key, roots: new WeakRef(this.#roots) };
    this.#sizes.set(entry, true, { size: this.#fieldsPerPlan });
    if (this.#sizes.has(entry)) {
      this.#roots.set(key, { selection, entry }); // Otherwise, it is larger than the limit itself.
    }
  }
}

/** Returns a key of the variables' values. Variables with the same key include the same selections. */
const conditionsKey = (names: readonly string[], variables: Variables): string =>
  names.length === 0 ? '' : names.map((name) => keyOf(variables, name)).join();

function keyOf({ coerced }: Variables, name: string): string {
  const value = Object.hasOwn(coerced, name) ? coerced[name] : undefined;
  return typeof value === 'boolean' || value == null ? String(value) : 'other';
}

/** Returns the variables of an operation whose field is resolved. */
export const variablesOf = ({ variableValues }: Pick<GraphQLResolveInfo, 'variableValues'>): Variables =>
  variableValues instanceof Variables ? variableValues : new Variables({ ...variableValues });

/** Plans the selection set of an operation, or the merged selection sets of a field's nodes, for one object type. */
export function planSelection(
  source: PlanSource,
  type: GraphQLObjectType,
  selectionSets: readonly SelectionSetNode[],
  variables: Variables,
): SelectionPlan {
  const fields: FieldPlan[] = [];
  let bytes = 2;
  for (const [key, nodes] of collectFields(source, type, selectionSets, variables)) {
    const field = planField(source.schema, type, key, nodes);
    if (field !== undefined) {
      fields.push(field);
      bytes += key.length + 4;
    }
  }
  return { fields, bytes, createResult: createResultFactory() };
}

function planField(
  schema: GraphQLSchema,
  parentType: GraphQLObjectType,
  key: string,
  nodes: readonly FieldNode[],
): FieldPlan | undefined {
  const [node] = nodes;
  const definition = node && findDefinition(schema, parentType, node.name.value);
  if (node === undefined || definition === undefined) {
    return undefined; // graphql-js skips unknown fields too.
  }
  return {
    key,
    nodes,
    definition,
    parentType,
    resolve: definition.resolve,
    readArguments: createReadArguments(definition, node),
    isProperty: definition.resolve === undefined && definition.args.length === 0,
    typename: definition === TypeNameMetaFieldDef ? parentType.name : undefined,
    value: planValue(definition.type, nodes),
  };
}

/** Fields of introspection. Types other than the root type of queries have only the first. */
const META_FIELDS = [TypeNameMetaFieldDef, SchemaMetaFieldDef, TypeMetaFieldDef];

function findDefinition(schema: GraphQLSchema, parentType: GraphQLObjectType, name: string) {
  const metaFields = parentType === schema.getQueryType() ? META_FIELDS : [TypeNameMetaFieldDef];
  return metaFields.find((field) => field.name === name) ?? parentType.getFields()[name];
}

function planValue(type: GraphQLOutputType, nodes: readonly FieldNode[]): ValuePlan {
  const nullable = getNullableType(type);
  const leafType = isLeafType(nullable) ? nullable : undefined;
  return { nodes, isNonNull: isNonNullType(type), complete: createCompletion(type, nodes), leafType };
}

function createCompletion(type: GraphQLOutputType, nodes: readonly FieldNode[]): Complete {
  if (isNonNullType(type)) {
    return createCompletion(type.ofType, nodes);
  }
  if (isListType(type)) {
    return createListCompletion(planValue(type.ofType, nodes));
  }
  if (isLeafType(type)) {
    return createLeafCompletion(type);
  }
  // Planned at the first object, with that execution's variables. Executions with the same plan have the same condition values.
  const planSubselection: PlanSelection = (objectType, execution) =>
    planSelection(
      execution,
      objectType,
      nodes.flatMap(({ selectionSet }) => selectionSet ?? []),
      execution.variables,
    );
  return isAbstractType(type)
    ? createAbstractCompletion(type, planSubselection)
    : createObjectCompletion(type, planSubselection);
}
