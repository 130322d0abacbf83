// Caches the plans of operations, and limits their total size.

import { assertValidSchema, type DocumentNode, type GraphQLSchema, Kind, type OperationDefinitionNode } from 'graphql';
import { LRUCache } from 'lru-cache';
import { DocumentError } from '../../errors/located-error.ts';
import { planVariables } from './coerce-variables.ts';
import { type Fragments, findConditionVariables, type PlanSource } from './collect-fields.ts';
import type { VariablePlan, Variables } from './graphql-js.ts';
import { planSelection } from './plan.ts';
import type { SelectionPlan } from './selection-plan.ts';

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
  readonly fragments: Fragments = Object.create(null);
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
    for (const definition of document.definitions) {
      if (definition.kind === Kind.FRAGMENT_DEFINITION) {
        this.fragments[definition.name.value] = definition;
      }
    }
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
  names.length === 0 ? '' : names.map((name) => keyOf(variables, name)).join('');

function keyOf({ coerced }: Variables, name: string): string {
  if (!Object.hasOwn(coerced, name)) {
    return '-';
  }
  const value = coerced[name];
  if (typeof value === 'boolean') {
    return value ? 't' : 'f';
  }
  return value == null ? 'n' : 'o';
}
