import { assertValidSchema, type ExecutionArgs, type ExecutionResult, GraphQLError, OperationTypeNode } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { coerceVariables } from './coerce-variables.ts';
import { executeFields } from './execute-fields.ts';
import { Execution } from './execution.ts';
import { type Limits, pickLimits } from './limits.ts';
import { Pending, type PendingObject } from './pending.ts';
import { createPlanCache, findOperation } from './plan-cache.ts';
import type { SelectionPlan } from './selection-plan.ts';
import { SerialExecution } from './serial.ts';

/** Executes an operation. */
export type Execute = (args: ExecutionArgs) => ExecutionResult | Promise<ExecutionResult>;

/**
 * Creates a function that executes operations like `execute` of graphql-js, but with limits and cached plans. See
 * `docs/graphql-execution.md` for the differences.
 */
export function createExecutor(settings: Limits): Execute {
  const limits = pickLimits(settings);
  const plansOf = createPlanCache();

  return (args) => {
    const { schema, document, variableValues } = args;
    assertValidSchema(schema);
    if (variableValues != null && typeof variableValues !== 'object') {
      throw new TypeError('Variables must be an object of values by name.');
    }
    const operation = findOperation(document, args.operationName);
    if (operation instanceof GraphQLError) {
      return { errors: [operation] };
    }
    const variables = coerceVariables(schema, operation, variableValues, {
      maxInputListItems: limits.maxInputListItems,
      hideSuggestions: args.hideSuggestions ?? !limits.introspection,
    });
    if (variables.errors !== undefined) {
      return { errors: variables.errors };
    }
    const { fragments, planRoot } = plansOf(schema, document);
    const execution = new Execution({ args, schema, fragments, operation, variableValues: variables.coerced, limits });
    try {
      const data = executeRoot(execution, planRoot(operation, variables.coerced));
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
  });

/** Creates a plugin that executes operations with the gateway's executor. */
export function useExecutor(execute: Execute): Plugin {
  return {
    onExecute({ setExecuteFn }) {
      setExecuteFn(execute);
    },
  };
}
