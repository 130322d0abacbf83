// Executes operations with their plans: the fields of a mutation run one after another.

import type { ExecutionArgs, ExecutionResult } from 'graphql';
import type { Deadline } from '../lib/signal.ts';
import { Execution, type ExecutionInputs } from './execution/execution.ts';
import { earlyEnd, FIXED_LIMITS, type Limits, STOPPED } from './execution/result-limits.ts';
import type { OperationPlans } from './plans.ts';
import type { FieldPlan, SelectionPlan } from './selections.ts';
import { coerceVariables } from './values/coerce-variables.ts';
import { executeField, executeFields } from './values/execute-fields.ts';
import { type Destination, Pending, type PendingObject } from './values/pending.ts';

/** Result of an execution, at once if no resolver returned a promise. */
export type ExecuteResult = ExecutionResult | Promise<ExecutionResult>;

/** Inputs of an execution besides its operation, as for `execute` of graphql-js. */
export type ExecuteInputs = ExecutionInputs & Pick<ExecutionArgs, 'variableValues'>;

/**
 * Creates a function that executes operations like `execute` of graphql-js, but with limits and with plans that were made once. See
 * `docs/contributing/graphql-execution.md` for the differences.
 *
 * @param others limits besides those that no setting changes
 */
export function createExecutor(others: Omit<Limits, keyof typeof FIXED_LIMITS> & Partial<Limits>) {
  const limits: Limits = { ...FIXED_LIMITS, ...others };
  return (plans: OperationPlans, inputs: ExecuteInputs): ExecuteResult => {
    const { variableValues } = inputs;
    if (variableValues != null && typeof variableValues !== 'object') {
      throw new TypeError('Variables must be an object of values by name.');
    }
    const coercion = coerceVariables(plans.variables, variableValues, limits);
    if (coercion.errors !== undefined) {
      return { errors: coercion.errors };
    }
    const execution = new Execution(plans, coercion.variables, inputs, limits);
    try {
      const root = plans.root(coercion.variables);
      const data = execution.isMutation
        ? new SerialExecution(execution, root).run()
        : executeFields(execution, root, execution.rootValue, undefined, undefined);
      return data instanceof Pending ? resultOf(execution, data) : execution.finish(data);
    } catch (error) {
      return execution.fail(error);
    }
  };
}

/** Runs an execution with hooks, which may never end. */
export const untilDeadline = (
  deadline: Deadline,
  isMutation: boolean,
  execute: () => Promise<ExecutionResult>,
): Promise<ExecutionResult> =>
  new Promise<ExecutionResult>((resolve, reject) => {
    const end = () => resolve({ data: null, errors: [earlyEnd(isMutation)] });
    const waiting = { stop: () => void setImmediate(() => setImmediate(end)) }; // The executor ends one turn earlier, with what is complete.
    deadline.add(waiting);
    void execute()
      .then(resolve, reject)
      .finally(() => deadline.remove(waiting));
  });

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

/** Execution of a mutation's fields, each after the previous one has completed. */
class SerialExecution extends Pending implements Destination {
  readonly isSettled = false;
  readonly #fields: readonly FieldPlan[];
  readonly result: Record<string, unknown>;
  #next = 0;
  /** Error of a non-null field. */
  #failure: { error: unknown } | undefined;

  constructor(execution: Execution, { fields, createResult }: SelectionPlan) {
    super(execution, undefined, undefined);
    this.#fields = fields;
    this.result = createResult();
  }

  /** Runs the next fields. Returns the data, or itself if a field is pending. Throws if the data is null. */
  run(): Record<string, unknown> | this {
    // After a limit has stopped execution, the loop continues to report the fields that are not executed.
    while (this.#failure === undefined || this.execution.isStopped) {
      const field = this.#fields[this.#next];
      if (field === undefined) {
        break;
      }
      this.#next += 1;
      const value = this.#executeField(field);
      if (value instanceof Pending) {
        this.result[field.key] = undefined;
        value.setDestination(this, field.key);
        return this;
      }
      this.result[field.key] = value;
    }
    if (this.#failure !== undefined) {
      throw this.#failure.error;
    }
    return this.result;
  }

  put(key: string, value: unknown): void {
    this.result[key] = value;
    this.#continue();
  }

  fail(error: unknown): void {
    this.#failure = { error };
    this.#continue();
  }

  #continue(): void {
    let value: Record<string, unknown> | this;
    try {
      value = this.run();
    } catch (error) {
      this.reject(error);
      return;
    }
    if (value !== this) {
      this.resolve(value);
    }
  }

  #executeField(field: FieldPlan): unknown {
    const { execution } = this;
    if (execution.isStopped && field.typename === undefined) {
      execution.reportNotApplied(field.nodes, { prev: undefined, key: field.key, typename: field.parentType.name });
      if (field.value.isNonNull) {
        this.#failure ??= { error: STOPPED };
      }
      return null;
    }
    try {
      return executeField(execution, field, execution.rootValue, undefined);
    } catch (error) {
      this.#failure = { error };
      return null;
    }
  }
}
