// Puts values into the result once their promises resolve.

import type { GraphQLResolveInfo, ResponsePath } from 'graphql';
import type { Awaited, Execution, Position } from '../execution/execution.ts';
import { STOPPED } from '../execution/result-limits.ts';
import type { Complete, ValuePlan } from '../selections.ts';

export interface Destination {
  /** Whether it accepts no more values. */
  readonly isSettled: boolean;
  put(key: string | number, value: unknown): void;
  /** Called if a non-null value failed. */
  fail(error: unknown): void;
}

/** Value that is not complete yet. Cheaper than a promise, because it has exactly one destination. */
export class Pending {
  readonly execution: Execution;
  readonly #position: Position | undefined;
  readonly #path: ResponsePath | undefined;
  #destination: Destination | undefined;
  #key: string | number = '';

  /** @param position position of its errors; undefined for the root of the data */
  constructor(execution: Execution, position: Position | undefined, path: ResponsePath | undefined) {
    this.execution = execution;
    this.#position = position;
    this.#path = path;
  }

  setDestination(destination: Destination, key: string | number): void {
    this.#destination = destination;
    this.#key = key;
  }

  /** Passes the value to the destination, or replaces this pending value with another one. */
  resolve(value: unknown): void {
    if (!(value instanceof Pending)) {
      this.#destination?.put(this.#key, value);
    } else if (this.#destination !== undefined) {
      value.setDestination(this.#destination, this.#key);
    }
  }

  /** Reports the error, and passes null or the error to the destination. */
  reject(error: unknown): void {
    const position = this.#position;
    const destination = this.#destination;
    if (position === undefined || this.#path === undefined) {
      destination?.fail(error);
      return;
    }
    if (position.isNonNull && destination?.isSettled) {
      return; // Avoids creating errors that are ignored: a list of rejected promises has one per item.
    }
    let value: null;
    try {
      value = this.execution.handleError(error, position, this.#path);
    } catch (located) {
      destination?.fail(located);
      return;
    }
    destination?.put(this.#key, value);
  }
}

/** Object or list with pending members. Ignores members that settle after it has failed. */
abstract class PendingContainer<Result> extends Pending implements Destination {
  readonly result: Result;
  isSettled = false;
  #pendingMembers = 0;
  #failure: { error: unknown } | undefined;

  constructor(execution: Execution, position: Position | undefined, path: ResponsePath | undefined, result: Result) {
    super(execution, position, path);
    this.result = result;
  }

  protected abstract set(key: string | number, value: unknown): void;

  get isPending(): boolean {
    return this.#pendingMembers > 0;
  }

  add(member: Pending, key: string | number): void {
    this.hold();
    member.setDestination(this, key);
  }

  /** Delays completion until `release` is called once more. */
  hold(): void {
    this.#pendingMembers += 1;
  }

  /** Ends one delay. Completes the container after the last. */
  release(): void {
    this.#pendingMembers -= 1;
    if (this.#pendingMembers === 0 && !this.isSettled) {
      this.isSettled = true;
      if (this.#failure === undefined) {
        this.resolve(this.result);
      } else {
        this.reject(this.#failure.error);
      }
    }
  }

  put(key: string | number, value: unknown): void {
    if (!this.isSettled) {
      this.set(key, value);
      this.release();
    }
  }

  fail(error: unknown): void {
    if (!this.isSettled) {
      this.isSettled = true;
      this.reject(this.#failure === undefined ? error : this.#failure.error);
    }
  }

  /** Fails when the members added so far have settled or one of them fails, like graphql-js. */
  failWhenSettled(error: unknown): void {
    this.#failure = { error };
  }
}

export class PendingObject extends PendingContainer<Record<string, unknown>> {
  protected override set(key: string, value: unknown): void {
    this.result[key] = value;
  }
}

export class PendingList extends PendingContainer<unknown[]> {
  protected override set(index: number, value: unknown): void {
    this.result[index] = value;
  }
}

/** Pending value of a promise, until execution ends. What the promise does later is ignored. */
class AwaitedValue extends Pending implements Awaited {
  before: Awaited = this;
  after: Awaited = this;

  override resolve(value: unknown): void {
    if (this.execution.settle(this)) {
      super.resolve(value);
    }
  }

  override reject(error: unknown): void {
    if (this.execution.settle(this)) {
      super.reject(error);
    }
  }
}

/** Completes the value of a promise when it resolves. Yields to the event loop if enough values were completed in this turn. */
export function awaitValue(
  execution: Execution,
  promise: PromiseLike<unknown>,
  plan: ValuePlan,
  info: GraphQLResolveInfo,
  path: ResponsePath,
  complete: Complete,
): Pending {
  const pending = new AwaitedValue(execution, plan, path);
  const settle = (value: unknown): void => {
    if (execution.isStopped) {
      pending.reject(STOPPED);
      return;
    }
    if (execution.shouldYield) {
      execution.runLater(() => settle(value));
      return;
    }
    let completed: unknown;
    try {
      completed = complete(execution, plan, info, path, value);
    } catch (error) {
      pending.reject(error);
      return;
    }
    pending.resolve(completed);
  };
  // Promise.resolve handles thenables that call back synchronously or twice, or whose `then` returns nothing.
  const settled = Promise.resolve(promise);
  execution.await(pending);
  settled.then(settle, (error) => pending.reject(error));
  return pending;
}
