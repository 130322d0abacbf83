import {
  defaultFieldResolver,
  defaultTypeResolver,
  type ExecutionArgs,
  type ExecutionResult,
  type FieldNode,
  type GraphQLError,
  type GraphQLFieldResolver,
  type GraphQLSchema,
  type GraphQLTypeResolver,
  type OperationDefinitionNode,
  OperationTypeNode,
  type ResponsePath,
} from 'graphql';
import type { Fragments, PlanSource } from './collect-fields.ts';
import { type Limits, outcomeError, STOPPED, type StopReason, stopError } from './limits.ts';
import { locate, toOperationError } from './located-error.ts';

interface ExecutionOptions extends PlanSource {
  args: ExecutionArgs;
  operation: OperationDefinitionNode;
  variableValues: Record<string, unknown>;
  limits: Limits;
}

/** Position of the document that values are completed at. */
export interface Position {
  /** The nodes that errors of the value name. */
  readonly nodes: readonly FieldNode[];
  readonly isNonNull: boolean;
}

/** State of one execution: its inputs, its errors and what its limits count. */
export class Execution implements PlanSource {
  readonly schema: GraphQLSchema;
  readonly fragments: Fragments;
  readonly operation: OperationDefinitionNode;
  readonly variableValues: Record<string, unknown>;
  readonly rootValue: unknown;
  readonly contextValue: unknown;
  readonly fieldResolver: GraphQLFieldResolver<unknown, unknown>;
  readonly typeResolver: GraphQLTypeResolver<unknown, unknown>;
  readonly limits: Limits;
  /** Once set, nothing more is resolved or completed. */
  isStopped = false;
  /** Estimated size of the result so far. */
  bytes = 0;

  readonly #errors: GraphQLError[] = [];
  /** Lists that `isFirstLook` was asked about. */
  #seenLists: WeakSet<object> | undefined;
  /** Positions that an error made null. */
  #nulledPaths: Set<ResponsePath> | undefined;
  #stopReason: StopReason | undefined;
  #values = 0;
  #yieldAt: number;
  #tasks: (() => void)[] = [];
  #isScheduled = false;

  constructor({ args, schema, fragments, operation, variableValues, limits }: ExecutionOptions) {
    this.schema = schema;
    this.fragments = fragments;
    this.operation = operation;
    this.variableValues = variableValues;
    this.rootValue = args.rootValue;
    this.contextValue = args.contextValue;
    this.fieldResolver = args.fieldResolver ?? defaultFieldResolver;
    this.typeResolver = args.typeResolver ?? defaultTypeResolver;
    this.limits = limits;
    this.#yieldAt = limits.valuesPerTurn;
  }

  get isMutation(): boolean {
    return this.operation.operation === OperationTypeNode.MUTATION;
  }

  /** Counts values that are about to be completed. Throws STOPPED if they are too many. */
  charge(values: number, bytes: number): void {
    this.#values += values;
    if (this.#values > this.limits.maxResultValues) {
      this.stop('maxValues');
    }
    this.addBytes(bytes);
  }

  /** Adds to the size of the result. Throws STOPPED if it is too large. */
  addBytes(bytes: number): void {
    this.bytes += bytes;
    if (this.bytes > this.limits.maxResponseBytes) {
      this.stop('maxResponseBytes');
    }
  }

  /** Stops execution: from here on every value is STOPPED. */
  stop(reason: StopReason): never {
    this.isStopped = true;
    this.#stopReason ??= reason;
    throw STOPPED;
  }

  /** Turns an error at a position into its value, null, or throws it on to the next position that may be null. */
  handleError(error: unknown, { isNonNull, nodes }: Position, path: ResponsePath): null {
    if (error === STOPPED) {
      this.#reportOutcome(nodes, path);
    }
    if (isNonNull) {
      throw error === STOPPED ? error : locate(error, nodes, path);
    }
    if (error !== STOPPED) {
      this.#addError(error, nodes, path);
    }
    return null;
  }

  /** Reports a mutation that does not run because execution has stopped. */
  reportNotApplied(nodes: readonly FieldNode[], path: ResponsePath): void {
    this.#errors.push(locate(outcomeError('NOT_APPLIED'), nodes, path));
  }

  /** Returns the result. Errors that come later are dropped. */
  finish(data: Record<string, unknown> | null): ExecutionResult {
    if (this.#stopReason !== undefined) {
      this.#errors.push(stopError(this.#stopReason, this.limits));
    }
    this.isStopped = true;
    return this.#errors.length === 0 ? { data } : { errors: this.#errors, data };
  }

  /** Returns the result of an execution whose data is null. */
  fail(error: unknown): ExecutionResult {
    if (error !== STOPPED) {
      this.#errors.push(toOperationError(error));
    }
    return this.finish(null);
  }

  /** Whether so much has been completed in this turn of the event loop that the rest should wait. */
  get shouldYield(): boolean {
    return this.#values >= this.#yieldAt;
  }

  /** Returns whether a list is looked at for the first time. */
  isFirstLook(list: object): boolean {
    this.#seenLists ??= new WeakSet();
    const isFirst = !this.#seenLists.has(list);
    this.#seenLists.add(list);
    return isFirst;
  }

  /** Counts work that is no value of its own, so that the event loop gets its turn as soon. */
  spend(values: number): void {
    this.#yieldAt -= values;
  }

  /** Runs a task in a later turn of the event loop. It must not throw. */
  later(task: () => void): void {
    this.#tasks.push(task);
    this.#scheduleTasks();
  }

  #scheduleTasks(): void {
    if (!this.#isScheduled && this.#tasks.length > 0) {
      this.#isScheduled = true;
      setImmediate(() => this.#runTasks());
    }
  }

  #runTasks(): void {
    this.#yieldAt = this.#values + this.limits.valuesPerTurn;
    const tasks = this.#tasks;
    let done = 0;
    do {
      tasks[done]?.();
      done += 1;
    } while (done < tasks.length && !this.shouldYield);
    this.#tasks = tasks.slice(done);
    this.#isScheduled = false;
    this.#scheduleTasks();
  }

  #addError(error: unknown, nodes: readonly FieldNode[], path: ResponsePath): void {
    const isOutcome = this.isMutation && path.prev === undefined;
    if ((this.isStopped && !isOutcome) || this.#isNulled(path)) {
      return;
    }
    if (this.#errors.length >= this.limits.maxErrors && !isOutcome) {
      this.isStopped = true;
      this.#stopReason ??= 'maxErrors';
      return;
    }
    this.#nulledPaths ??= new Set();
    this.#nulledPaths.add(path);
    this.#errors.push(locate(error, nodes, path));
  }

  /** Nobody waits for what is pending below a position that became null: its errors come late, if at all. */
  #isNulled(path: ResponsePath): boolean {
    let at: ResponsePath | undefined = this.#nulledPaths && path;
    while (at !== undefined && !this.#nulledPaths?.has(at)) {
      at = at.prev;
    }
    return at !== undefined;
  }

  #reportOutcome(nodes: readonly FieldNode[], path: ResponsePath): void {
    if (this.isMutation && path.prev === undefined) {
      this.#errors.push(locate(outcomeError('UNKNOWN'), nodes, path));
    }
  }
}
