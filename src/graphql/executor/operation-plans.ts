import { assertValidSchema, type DocumentNode, type GraphQLSchema, Kind, type OperationDefinitionNode } from 'graphql';
import { DocumentError } from '../located-error.ts';
import type { Variables } from './arguments.ts';
import { planVariables, type VariablePlan } from './coerce-variables.ts';
import { conditionsKey, type Fragments, findConditionVariables, type PlanSource } from './collect-fields.ts';
import { planSelection } from './plan.ts';
import type { SelectionPlan } from './selection-plan.ts';

/** Maximum plans per operation. Clients choose the values of `@skip` and `@include`, so the number must be limited. */
const MAX_PLANS = 16;

/** Heap of a field's plan with its functions and its share of the result class. Measured: 600 to 1,400 bytes. */
const BYTES_PER_FIELD = 1_400;

/** Heap of a plan without its fields. */
const BYTES_PER_PLAN = 2_048;

/** Plans of one operation: of its variables, and of its selections for each combination of conditions. */
export class OperationPlans implements PlanSource {
  readonly schema: GraphQLSchema;
  readonly fragments: Fragments = Object.create(null);
  readonly operation: OperationDefinitionNode;
  readonly variables: readonly VariablePlan[];
  readonly #conditionVariables: readonly string[];
  readonly #roots = new Map<string, SelectionPlan>();
  readonly #bytesPerPlan: number;
  readonly #grow: (bytes: number) => boolean;

  /**
   * @param fields number of fields of the operation
   * @param grow counts the heap of a new plan, in bytes; returns false if it must not be kept
   * @throws {Error} if the schema is invalid
   */
  constructor(
    schema: GraphQLSchema,
    document: DocumentNode,
    operation: OperationDefinitionNode,
    fields: number,
    grow: (bytes: number) => boolean,
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
    this.#bytesPerPlan = BYTES_PER_PLAN + BYTES_PER_FIELD * fields;
    this.#grow = grow;
  }

  /** Returns the plan of the root selection. Throws if a condition has no value or the schema has no root type. */
  root(variables: Variables): SelectionPlan {
    const key = conditionsKey(this.#conditionVariables, variables);
    return this.#roots.get(key) ?? this.#planRoot(key, variables);
  }

  #planRoot(key: string, variables: Variables): SelectionPlan {
    const { operation } = this;
    const type = this.schema.getRootType(operation.operation);
    if (type == null) {
      throw new DocumentError(`Schema is not configured to execute ${operation.operation} operation.`, [operation]);
    }
    const plan = planSelection(this, type, [operation.selectionSet], variables);
    const [oldest] = this.#roots.keys();
    if (this.#roots.size >= MAX_PLANS && oldest !== undefined) {
      this.#roots.delete(oldest);
      this.#roots.set(key, plan);
    } else if (this.#grow(this.#bytesPerPlan)) {
      this.#roots.set(key, plan);
    }
    return plan;
  }
}
