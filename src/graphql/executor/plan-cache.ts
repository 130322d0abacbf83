import { type DocumentNode, GraphQLError, type GraphQLSchema, Kind, type OperationDefinitionNode } from 'graphql';
import type { Variables } from './arguments.ts';
import type { Fragments } from './collect-fields.ts';
import { conditionsKey, findConditionVariables } from './conditions.ts';
import { DocumentError } from './located-error.ts';
import { planSelection, type SelectionPlan } from './plan.ts';

/** Plans of one document: a client chooses the values of the conditions, so they are bounded. */
const MAX_PLANS = 16;

/** A document and all that is derived from it. */
export interface DocumentPlans {
  readonly fragments: Fragments;
  /** Returns the root selection of an operation. Throws if a condition has no value or the schema no root type. */
  planRoot(operation: OperationDefinitionNode, variables: Variables): SelectionPlan;
}

/** Returns the plans of documents; they live as long as the document and the schema do. */
export function createPlanCache(): (schema: GraphQLSchema, document: DocumentNode) => DocumentPlans {
  const plansBySchema = new WeakMap<GraphQLSchema, WeakMap<DocumentNode, DocumentPlans>>();
  return (schema, document) => {
    let plansByDocument = plansBySchema.get(schema);
    if (plansByDocument === undefined) {
      plansByDocument = new WeakMap();
      plansBySchema.set(schema, plansByDocument);
    }
    let plans = plansByDocument.get(document);
    if (plans === undefined) {
      plans = createDocumentPlans(schema, document);
      plansByDocument.set(document, plans);
    }
    return plans;
  };
}

function createDocumentPlans(schema: GraphQLSchema, document: DocumentNode): DocumentPlans {
  const fragments: Fragments = Object.create(null);
  for (const definition of document.definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) {
      fragments[definition.name.value] = definition;
    }
  }
  const conditionVariables = findConditionVariables(document);
  const roots = new Map<string, SelectionPlan>();
  return {
    fragments,
    planRoot(operation, variables) {
      const key = `${operation.name?.value ?? ''} ${conditionsKey(conditionVariables, variables)}`;
      let root = roots.get(key);
      if (root === undefined) {
        const type = schema.getRootType(operation.operation);
        if (type == null) {
          throw new DocumentError(`Schema is not configured to execute ${operation.operation} operation.`, [operation]);
        }
        root = planSelection({ schema, fragments }, type, [operation.selectionSet], variables);
        if (roots.size >= MAX_PLANS) {
          const [oldest = ''] = roots.keys();
          roots.delete(oldest);
        }
        roots.set(key, root);
      }
      return root;
    },
  };
}

/** Returns the operation that is to be executed, or the error that graphql-js reports. */
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
