import { executeField } from './execute-fields.ts';
import type { Execution } from './execution.ts';
import { STOPPED } from './limits.ts';
import { type Destination, Pending } from './pending.ts';
import type { FieldPlan, SelectionPlan } from './selection-plan.ts';

/** Execution of a mutation's fields, each after the previous one has completed. */
export class SerialExecution extends Pending implements Destination {
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
