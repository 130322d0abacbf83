import { type ExecutionArgs, type ExecutionResult, OperationTypeNode } from 'graphql';
import { coerceVariables } from './coerce-variables.ts';
import { executeFields } from './execute-fields.ts';
import { Execution, type ExecutionInputs } from './execution.ts';
import { type Limits, pickLimits } from './limits.ts';
import type { OperationPlans } from './operation-plans.ts';
import { Pending, type PendingObject } from './pending.ts';
import type { SelectionPlan } from './selection-plan.ts';
import { SerialExecution } from './serial.ts';

/** Result of an execution, at once if no resolver returned a promise. */
export type ExecuteResult = ExecutionResult | Promise<ExecutionResult>;

/** Inputs of an execution besides its operation, as for `execute` of graphql-js. */
export type ExecuteInputs = ExecutionInputs & Pick<ExecutionArgs, 'variableValues'>;

/** Executes an operation with its plans. */
export type Execute = (plans: OperationPlans, inputs: ExecuteInputs) => ExecuteResult;

/**
 * Creates a function that executes operations like `execute` of graphql-js, but with limits and with plans that were made once. See
 * `docs/contributing/graphql-execution.md` for the differences.
 */
export function createExecutor(settings: Limits): Execute {
  const limits = pickLimits(settings);
  return (plans, inputs) => {
    const { variableValues } = inputs;
    if (variableValues != null && typeof variableValues !== 'object') {
      throw new TypeError('Variables must be an object of values by name.');
    }
    const coercion = coerceVariables(plans.variables, variableValues, {
      maxInputListItems: limits.maxInputListItems,
      hideSuggestions: !limits.introspection,
    });
    if (coercion.errors !== undefined) {
      return { errors: coercion.errors };
    }
    const execution = new Execution(plans, coercion.variables, inputs, limits);
    try {
      const data = executeRoot(execution, plans.root(coercion.variables));
      return data instanceof Pending ? resultOf(execution, data) : execution.finish(data);
    } catch (error) {
      return execution.fail(error);
    }
  };
}

function executeRoot(
  execution: Execution,
  root: SelectionPlan,
): Record<string, unknown> | PendingObject | SerialExecution {
  return execution.operation.operation === OperationTypeNode.MUTATION
    ? new SerialExecution(execution, root).run()
    : executeFields(execution, root, execution.rootValue, undefined, undefined);
}

const resultOf = (execution: Execution, pending: PendingObject | SerialExecution): Promise<ExecutionResult> =>
  new Promise((resolve) => {
    pending.setDestination(
      {
        isSettled: false,
        put: () => resolve(execution.finish(pending.result)),
        fail: (error) => resolve(execution.fail(error)),
      },
      'data',
    );
    execution.limitTime();
  });
