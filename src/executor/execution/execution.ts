// Keeps the state of one execution: its inputs, its errors and the counters of its limits.

import {
  defaultFieldResolver,
  defaultTypeResolver,
  type ExecutionArgs,
  type ExecutionResult,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLError,
  type GraphQLFieldResolver,
  type GraphQLSchema,
  type GraphQLTypeResolver,
  type OperationDefinitionNode,
  OperationTypeNode,
  type ResponsePath,
} from 'graphql';
import { locate, toOperationError } from '../../errors/located-error.ts';
import type { Deadline, Waiting } from '../../lib/signal.ts';
import type { Variables } from './graphql-js.ts';
import { earlyEnd, type Limits, outcomeError, STOPPED, type StopReason, stopError } from './result-limits.ts';

/** Inputs of an execution besides its operation and variables, as for `execute` of graphql-js. */
export interface ExecutionInputs
  extends Pick<ExecutionArgs, 'rootValue' | 'contextValue' | 'fieldResolver' | 'typeResolver'> {
  /** Ends the execution, whatever resolvers do. @default it ends when all of them have */
  deadline?: Deadline | undefined;
}

/** Member of a ring: the values that an execution awaits, and the execution itself. Cheaper than a set. */
export interface Awaited {
  before: Awaited;
  after: Awaited;
  reject(error: unknown): void;
}

/** Parts of a document and its schema from which selections are planned. */
export interface PlanSource {
  readonly schema: GraphQLSchema;
  readonly fragments: Record<string, FragmentDefinitionNode>;
}

export interface Position {
  readonly nodes: readonly FieldNode[];
  readonly isNonNull: boolean;
}

export class Execution implements PlanSource, Awaited, Waiting {
  readonly schema: GraphQLSchema;
  readonly fragments: Record<string, FragmentDefinitionNode>;
  readonly operation: OperationDefinitionNode;
  readonly variables: Variables;
  readonly rootValue: unknown;
  readonly contextValue: unknown;
  readonly fieldResolver: GraphQLFieldResolver<unknown, unknown>;
  /** Whether fields without a resolver are properties of their object. */
  readonly readsProperties: boolean;
  readonly typeResolver: GraphQLTypeResolver<unknown, unknown>;
  readonly limits: Limits;
  /** Whether execution has stopped: no more fields are resolved and no more values completed. */
  isStopped = false;
  /** Estimated size of the result so far, in bytes. */
  bytes = 0;

  /** Error of incomplete values after execution has ended early. */
  endError: GraphQLError | undefined;
  before: Awaited = this;
  after: Awaited = this;

  readonly #deadline: Deadline | undefined;
  readonly #errors: GraphQLError[] = [];
  #visitedLists: WeakSet<object> | undefined;
  /** Paths that are null because of an error. */
  #nulledPaths: Set<ResponsePath> | undefined;
  #stopReason: StopReason | undefined;
  #values = 0;
  #yieldAt: number;
  #tasks: (() => void)[] = [];
  #isScheduled = false;

  constructor(
    { schema, fragments, operation }: PlanSource & { readonly operation: OperationDefinitionNode },
    variables: Variables,
    inputs: ExecutionInputs,
    limits: Limits,
  ) {
    this.schema = schema;
    this.fragments = fragments;
    this.operation = operation;
    this.variables = variables;
    this.rootValue = inputs.rootValue;
    this.contextValue = inputs.contextValue;
    this.fieldResolver = inputs.fieldResolver ?? defaultFieldResolver;
    this.readsProperties = this.fieldResolver === defaultFieldResolver;
    this.typeResolver = inputs.typeResolver ?? defaultTypeResolver;
    this.limits = limits;
    this.#deadline = inputs.deadline;
    this.#yieldAt = limits.valuesPerTurn;
  }

  get isMutation(): boolean {
    return this.operation.operation === OperationTypeNode.MUTATION;
  }

  /** Counts values to be completed, and the size of their result. Throws STOPPED if a limit is exceeded. */
  countValues(values: number, bytes: number): void {
    this.#values += values;
    if (this.#values > this.limits.maxResultValues) {
      this.#exceed('maxResultValues');
    }
    this.addBytes(bytes);
  }

  /** Adds to the size of the result. Throws STOPPED if the limit is exceeded. */
  addBytes(bytes: number): void {
    this.bytes += bytes;
    if (this.bytes > this.limits.maxResponseBytes) {
      this.#exceed('maxResponseBytes');
    }
  }

  #exceed(limit: StopReason): never {
    this.isStopped = true;
    this.#stopReason ??= limit;
    throw STOPPED;
  }

  /** Ends execution at the deadline, or when the client disconnects. Called if it doesn't end at once. */
  limitTime(): void {
    if (this.#deadline?.endReason() === undefined) {
      this.#deadline?.add(this);
    } else {
      this.stop();
    }
  }

  stop(): void {
    setImmediate(() => this.reject(earlyEnd(this.isMutation))); // Calls that end for the same reason say more, and settle before.
  }

  await(value: Awaited): void {
    value.before = this.before;
    value.after = this;
    this.before.after = value;
    this.before = value;
  }

  /** Removes a value that has settled. Returns false if it was no longer awaited. */
  settle(value: Awaited): boolean {
    const { before, after } = value;
    before.after = after;
    after.before = before;
    value.before = value;
    value.after = value;
    return before !== value;
  }

  /** Fails all that is awaited or waits for its turn, and executes nothing more. */
  reject(error: GraphQLError): void {
    if (!this.isStopped) {
      this.isStopped = true;
      this.endError = error;
    }
    while (this.after !== this) {
      this.after.reject(this.endError ?? STOPPED);
    }
    for (const task of this.#tasks.splice(0)) {
      task();
    }
  }

  /** Reports an error at a position and returns null, or rethrows it if the position is non-null. */
  handleError(error: unknown, { isNonNull, nodes }: Position, path: ResponsePath): null {
    if (error === STOPPED && this.#isOfMutation(path)) {
      this.#errors.push(locate(outcomeError('UNKNOWN'), nodes, path)); // It was executed, but its result exceeds a limit.
    }
    if (isNonNull) {
      throw error === STOPPED ? error : locate(error, nodes, path);
    }
    if (error !== STOPPED) {
      this.#addError(error, nodes, path);
    }
    return null;
  }

  /** Reports a mutation that was not executed because execution had stopped. */
  reportNotApplied(nodes: readonly FieldNode[], path: ResponsePath): void {
    this.#errors.push(locate(outcomeError('NOT_APPLIED', this.endError), nodes, path));
  }

  /** Returns the result. Later errors are ignored. */
  finish(data: Record<string, unknown> | null): ExecutionResult {
    if (this.#stopReason !== undefined) {
      this.#errors.push(stopError(this.#stopReason, this.limits));
    }
    this.isStopped = true;
    this.endError = undefined;
    this.#deadline?.remove(this);
    return this.#errors.length === 0 ? { data } : { errors: this.#errors, data };
  }

  /** Returns the result of an execution whose data is null. */
  fail(error: unknown): ExecutionResult {
    if (error !== STOPPED) {
      this.#errors.push(toOperationError(error));
    }
    return this.finish(null);
  }

  /** Whether execution should yield, because enough values were completed in this turn of the event loop. */
  get shouldYield(): boolean {
    return this.#values >= this.#yieldAt;
  }

  /** Returns true if a list is passed for the first time. */
  isFirstVisit(list: object): boolean {
    this.#visitedLists ??= new WeakSet();
    const isFirst = !this.#visitedLists.has(list);
    this.#visitedLists.add(list);
    return isFirst;
  }

  /** Counts other work as a number of values, so that execution yields to the event loop after the same time. */
  countWork(values: number): void {
    this.#yieldAt -= values;
  }

  /** Runs a task in a later turn of the event loop. It must not throw. */
  runLater(task: () => void): void {
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
    const isOutcome = this.#isOfMutation(path);
    if ((this.isStopped && this.endError === undefined && !isOutcome) || this.#isNulled(path)) {
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

  /** Checks whether a path is at or below one that became null. Later errors there are ignored. */
  #isNulled(path: ResponsePath): boolean {
    let at: ResponsePath | undefined = this.#nulledPaths && path;
    while (at !== undefined && !this.#nulledPaths?.has(at)) {
      at = at.prev;
    }
    return at !== undefined;
  }

  /** Whether the path is that of a root field of a mutation. */
  #isOfMutation(path: ResponsePath): boolean {
    return this.isMutation && path.prev === undefined;
  }
}
