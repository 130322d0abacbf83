import { type DocumentNode, GraphQLError, type GraphQLSchema, Kind, type OperationDefinitionNode } from 'graphql';
import { LRUCache } from 'lru-cache';
import { createFieldCount } from '../documents/limits.ts';
import { DocumentError } from '../located-error.ts';
import type { Variables } from './arguments.ts';
import { conditionsKey, type Fragments, findConditionVariables } from './collect-fields.ts';
import { planSelection } from './plan.ts';
import type { SelectionPlan } from './selection-plan.ts';

/** Maximum plans per document. Clients choose the values of `@skip` and `@include`, so the number must be limited. */
const MAX_PLANS = 16;

/** Maximum heap of all plans, in bytes. 16 plans of a document take ten times the heap of its nodes. */
const MAX_PLAN_BYTES = 8 * 1024 * 1024;

/** Heap of a field's plan with its functions and its share of the result class. Measured: 600 to 1,400 bytes. */
const BYTES_PER_FIELD = 1_400;

/** Heap of a plan without its fields. */
const BYTES_PER_PLAN = 2_048;

/** Fragments and plans of one document. */
export interface DocumentPlans {
  readonly fragments: Fragments;
  /** Returns the root selection of an operation. Throws if a condition has no value or the schema has no root type. */
  planRoot(operation: OperationDefinitionNode, variables: Variables): SelectionPlan;
}

/** Entry for a plan in the cache of sizes. Doesn't refer to the plan, because that would keep its document alive. */
interface SizeEntry {
  readonly key: string;
  readonly roots: WeakRef<Roots>;
}

/** Cached plan of an operation. */
interface Root {
  readonly selection: SelectionPlan;
  readonly sizeEntry: SizeEntry;
}

type Roots = Map<string, Root>;

/** Sizes of all plans. Limits their total and evicts the least recently used. */
type PlanSizes = LRUCache<SizeEntry, true>;

const createPlanSizes = (): PlanSizes =>
  new LRUCache({ maxSize: MAX_PLAN_BYTES, dispose: (_, { key, roots }) => roots.deref()?.delete(key) });

/**
 * Creates a cache of plans by schema and document. A plan is kept as long as both are alive, unless it is evicted because all plans
 * together exceed the size limit.
 */
export function createPlanCache(): (schema: GraphQLSchema, document: DocumentNode) => DocumentPlans {
  const planSizes = createPlanSizes();
  const plansBySchema = new WeakMap<GraphQLSchema, WeakMap<DocumentNode, DocumentPlans>>();
  return (schema, document) => {
    let plansByDocument = plansBySchema.get(schema);
    if (plansByDocument === undefined) {
      plansByDocument = new WeakMap();
      plansBySchema.set(schema, plansByDocument);
    }
    let plans = plansByDocument.get(document);
    if (plans === undefined) {
      plans = createDocumentPlans(schema, document, planSizes);
      plansByDocument.set(document, plans);
    }
    return plans;
  };
}

function createDocumentPlans(schema: GraphQLSchema, document: DocumentNode, planSizes: PlanSizes): DocumentPlans {
  const fragments: Fragments = Object.create(null);
  for (const definition of document.definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) {
      fragments[definition.name.value] = definition;
    }
  }
  const conditionVariables = findConditionVariables(document);
  const countFields = createFieldCount(document);
  const roots: Roots = new Map();
  const reference = new WeakRef(roots);

  function cacheRoot(key: string, selection: SelectionPlan, operation: OperationDefinitionNode): void {
    const [oldest] = roots.values();
    if (roots.size >= MAX_PLANS && oldest !== undefined) {
      planSizes.delete(oldest.sizeEntry);
    }
    const sizeEntry: SizeEntry = { key, roots: reference };
    planSizes.set(sizeEntry, true, { size: BYTES_PER_PLAN + BYTES_PER_FIELD * countFields(operation) });
    // The entry is missing if the plan itself exceeds the limit.
    if (planSizes.has(sizeEntry)) {
      roots.set(key, { selection, sizeEntry });
    }
  }

  return {
    fragments,
    planRoot(operation, variables) {
      const key = `${operation.name?.value ?? ''} ${conditionsKey(conditionVariables, variables)}`;
      const cached = roots.get(key);
      if (cached !== undefined) {
        planSizes.get(cached.sizeEntry); // Marks it as recently used.
        return cached.selection;
      }
      const type = schema.getRootType(operation.operation);
      if (type == null) {
        throw new DocumentError(`Schema is not configured to execute ${operation.operation} operation.`, [operation]);
      }
      const selection = planSelection({ schema, fragments }, type, [operation.selectionSet], variables);
      cacheRoot(key, selection, operation);
      return selection;
    },
  };
}

/** Returns the operation to execute, or the same error as graphql-js. */
export function findOperation(
  { definitions }: DocumentNode,
  operationName: string | null | undefined,
): OperationDefinitionNode | GraphQLError {
  const operations = definitions.filter((definition) => definition.kind === Kind.OPERATION_DEFINITION);
  if (operationName == null) {
    if (operations.length > 1) {
      return new GraphQLError('Must provide operation name if query contains multiple operations.');
    }
    return operations[0] ?? new GraphQLError('Must provide an operation.');
  }
  const operation = operations.findLast(({ name }) => name?.value === operationName);
  return operation ?? new GraphQLError(`Unknown operation named "${operationName}".`);
}
