import type { UpstreamResult } from '../transport/exchange.ts';
import type { Moment, Tag } from './store.ts';

/** Response in memory. */
export interface StoredEntry {
  readonly partition: Partition;
  readonly path: string;
  readonly result: UpstreamResult;
  readonly tags: readonly Tag[];
  /** Moment from which it is. */
  readonly number: number;
  /** Time at which its read started. */
  readonly startedAt: number;
  readonly expiresAt: number;
  /** Size on the heap, in bytes. */
  readonly size: number;
}

/** Write that is in progress, or that the service may still apply. */
export interface WriteMark {
  tags: readonly Tag[];
  /** Time at which it ends by itself, and counts as applied. */
  until: number;
}

/** Maximum tags whose last write is known. Entries from before the last write of a forgotten one are not used. */
const MAX_TAGS = 100;

/** Maximum marks. Further ones mark the whole partition. */
const MAX_MARKS = 500;

/** Entries of one credential, and the order of its reads and writes. */
export class Partition {
  /** Digest of its credential. */
  readonly digest: string;
  readonly entries = new Map<string, StoredEntry>();
  /** Entry whose size includes the partition. */
  counted: StoredEntry | undefined;
  /** Distinguishes it from an earlier partition of the same credential. */
  readonly #id: number;
  /** Number of the current moment. */
  #number = 0;
  /** Entries from before this moment are not used. */
  #floor = 0;
  /** Moments of the last writes, oldest first. */
  readonly #lastWrites = new Map<Tag, number>();
  readonly #marks = new Set<WriteMark>();
  /** Numbers of marks by tag. */
  readonly #marked = new Map<Tag, number>();
  /** Time of the next mark that ends by itself. Not later than the earliest one. */
  #nextEnd = Number.POSITIVE_INFINITY;
  /** Time until which the whole partition is marked. */
  #allMarkedUntil = 0;

  constructor(digest: string, id: number) {
    this.digest = digest;
    this.#id = id;
  }

  /** Returns the current moment. */
  moment(time: number): Moment {
    this.#settle(time);
    return `${this.#id}.${this.#number}`;
  }

  /** Returns the number of a moment; undefined if it isn't one of this partition. */
  numberOf(moment: Moment): number | undefined {
    const [id, number] = moment.split('.');
    return Number(id) === this.#id ? Number(number) : undefined;
  }

  /** Returns whether a response from a moment is certain to show all writes of the credential. */
  isCurrent(tags: readonly Tag[], number: number, time: number): boolean {
    this.#settle(time);
    if (number < this.#floor || time < this.#allMarkedUntil) {
      return false;
    }
    if (this.#marked.size === 0 && this.#lastWrites.size === 0) {
      return true; // In most cases: nothing was written.
    }
    return tags.every((tag) => !this.#marked.has(tag) && (this.#lastWrites.get(tag) ?? 0) <= number);
  }

  /** Whether there is nothing that a later read needs. */
  isIdle(time: number): boolean {
    this.#settle(time);
    return this.entries.size === 0 && this.#marks.size === 0 && time >= this.#allMarkedUntil;
  }

  /** Adds a mark. Its end makes another moment too. */
  mark(tags: readonly Tag[], until: number): WriteMark {
    this.#number += 1;
    const mark = { tags, until };
    if (this.#marks.size >= MAX_MARKS) {
      this.#allMarkedUntil = Math.max(this.#allMarkedUntil, until);
      return mark;
    }
    this.#marks.add(mark);
    this.#nextEnd = Math.min(this.#nextEnd, until);
    for (const tag of tags) {
      this.#marked.set(tag, (this.#marked.get(tag) ?? 0) + 1);
    }
    return mark;
  }

  /** Removes a mark, if it hasn't ended by itself. */
  unmark(mark: WriteMark): void {
    if (!this.#marks.delete(mark)) {
      return;
    }
    for (const tag of mark.tags) {
      const others = (this.#marked.get(tag) ?? 0) - 1;
      if (others > 0) {
        this.#marked.set(tag, others);
      } else {
        this.#marked.delete(tag);
      }
    }
  }

  /** Notes that tags were written. */
  written(tags: readonly Tag[]): void {
    this.#number += 1;
    for (const tag of tags) {
      this.#lastWrites.delete(tag);
      this.#lastWrites.set(tag, this.#number);
    }
    for (const [oldest, number] of this.#lastWrites) {
      if (this.#lastWrites.size <= MAX_TAGS) {
        break;
      }
      this.#lastWrites.delete(oldest);
      this.#floor = Math.max(this.#floor, number);
    }
  }

  /** Makes everything from before now unusable. Marks stay. */
  drop(): void {
    this.#number += 1;
    this.#floor = this.#number;
    this.#lastWrites.clear();
  }

  /** Ends the marks whose time has come. */
  #settle(time: number): void {
    if (this.#allMarkedUntil > 0 && time >= this.#allMarkedUntil) {
      this.#allMarkedUntil = 0;
      this.drop();
    }
    if (time < this.#nextEnd) {
      return;
    }
    this.#nextEnd = Number.POSITIVE_INFINITY;
    for (const mark of this.#marks) {
      if (mark.until <= time) {
        this.unmark(mark);
        this.written(mark.tags);
      } else {
        this.#nextEnd = Math.min(this.#nextEnd, mark.until);
      }
    }
  }
}
