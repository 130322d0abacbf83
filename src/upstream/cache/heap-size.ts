import { isRecord } from '../../lib/is-record.ts';

// Sizes on V8's heap in bytes, with 8-byte pointers. A test compares the estimates with the real heap.
const POINTER = 8;
/** Map, properties and elements of an object. */
const OBJECT = 24;
/** Object of an array, and the header of its elements. */
const ARRAY = 48;
/** Header of a string, and of a number that is not a small integer. */
const STRING = 16;
const NUMBER = 16;
/** Bookkeeping of V8 for a property that no other object has, in addition to its name. */
const OWN_PROPERTY = 112;
/** Property of an object with many: its name, value and details in a hash table. */
const TABLE_ENTRY = 3 * POINTER;
/** Number of properties from which an object has a hash table. */
const MIN_TABLE = 128;

const MAX_SMALL_INTEGER = 2 ** 31;

/** Depth up to which a value is measured. 10 KB of brackets are thousands deep, which would exceed the stack. */
const MAX_DEPTH = 200;

/** Maximum number of property names that count as shared by many objects. Services have a few hundred. */
const MAX_SHARED_NAMES = 1_000;

/** Estimates sizes on V8's heap. */
export class HeapEstimate {
  readonly #sharedNames = new Set<string>();

  /** Returns the size of a parsed JSON value, in bytes; infinity if it is too deep. Counts a value as often as it occurs. */
  sizeOf(value: unknown, depth = 0): number {
    if (typeof value === 'string') {
      return sizeOfText(value);
    }
    if (typeof value === 'number') {
      return Number.isInteger(value) && Math.abs(value) < MAX_SMALL_INTEGER ? 0 : NUMBER;
    }
    if (depth > MAX_DEPTH) {
      return Number.POSITIVE_INFINITY;
    }
    if (Array.isArray(value)) {
      return this.#sizeOfList(value, depth);
    }
    return isRecord(value) ? this.#sizeOfRecord(value, depth) : 0;
  }

  #sizeOfList(items: readonly unknown[], depth: number): number {
    let size = ARRAY + POINTER * items.length;
    for (const item of items) {
      size += this.sizeOf(item, depth + 1);
    }
    return size;
  }

  /** A loop without the arrays of `Object.entries`, which take twice the time. */
  #sizeOfRecord(record: Readonly<Record<string, unknown>>, depth: number): number {
    let size = OBJECT;
    let names = 0;
    let ownNames = 0;
    for (const name in record) {
      names += 1;
      size += POINTER + this.sizeOf(record[name], depth + 1);
      if (!this.#isShared(name)) {
        ownNames += 1;
        size += sizeOfText(name);
      }
    }
    return size + (names < MIN_TABLE ? ownNames * OWN_PROPERTY : TABLE_ENTRY * 2 ** Math.ceil(Math.log2(names * 1.5)));
  }

  /** Returns whether other objects have a property of this name. Names that the owner of a record can choose may be different each time. */
  #isShared(name: string): boolean {
    const isShared = this.#sharedNames.has(name);
    if (!isShared && this.#sharedNames.size < MAX_SHARED_NAMES) {
      this.#sharedNames.add(name);
    }
    return isShared;
  }
}

/** Returns the size of a text, in bytes. Its characters take two bytes each if one of them is not in Latin-1. */
export const sizeOfText = (text: string): number => align(STRING + text.length * (isTwoByte(text) ? 2 : 1));

const isTwoByte = (text: string): boolean => /[^\0-\xff]/.test(text);

/** Objects start at multiples of a pointer's size. */
const align = (size: number): number => Math.ceil(size / POINTER) * POINTER;
