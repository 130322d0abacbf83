// Queues what several owners want, such as the people behind one API key, and serves them in turn.

import { removeItem } from '../../lib/lists.ts';

/** Items of one owner, the oldest first. */
interface Turn<T> {
  readonly owner: string;
  readonly items: T[];
}

/** Queue that serves its owners in turn: how long one of them waits doesn't depend on how much the others add. */
export class FairQueue<T> {
  /** Owners with items, in the order of their turns. */
  readonly #turns: Turn<T>[] = [];

  get size(): number {
    return this.#turns.reduce((sum, { items }) => sum + items.length, 0);
  }

  itemsOf(owner: string): readonly T[] {
    return this.#find(owner)?.items ?? [];
  }

  /** Adds an item behind those of its owner. An owner who had none gets the last turn. */
  add(owner: string, item: T): void {
    const turn = this.#find(owner);
    if (turn === undefined) {
      this.#turns.push({ owner, items: [item] });
    } else {
      turn.items.push(item);
    }
  }

  remove(owner: string, item: T): void {
    const turn = this.#find(owner);
    if (turn !== undefined && removeItem(turn.items, item) && turn.items.length === 0) {
      removeItem(this.#turns, turn);
    }
  }

  /** Removes and returns the oldest item of the first owner for which it is allowed. The owner gets the last turn. */
  next(isAllowed: (item: T) => boolean): T | undefined {
    const index = this.#turns.findIndex(({ items: [oldest] }) => oldest !== undefined && isAllowed(oldest));
    const [turn] = index < 0 ? [] : this.#turns.splice(index, 1);
    if (turn === undefined) {
      return undefined;
    }
    const item = turn.items.shift();
    if (turn.items.length > 0) {
      this.#turns.push(turn);
    }
    return item;
  }

  /** Returns the number of items for which a condition holds. */
  count(condition: (item: T) => boolean): number {
    return this.#turns.reduce((sum, { items }) => sum + items.filter(condition).length, 0);
  }

  #find(owner: string): Turn<T> | undefined {
    return this.#turns.find((turn) => turn.owner === owner);
  }
}
