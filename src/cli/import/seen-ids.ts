import { hash } from 'node:crypto';

const INITIAL_SLOTS = 1024;

/** Words of an entry: four of the digest, and the line. */
const WORDS = 5;

/**
 * Lines of the subscribers of a file, by 16-byte digests of their ids. A `Map` of a million ids would take 100 MB of the heap. This table takes 27
 * to 53 bytes per id outside of it, and half as much again while it grows.
 */
export class SeenIds {
  #slots = INITIAL_SLOTS;
  #table = new Uint32Array(INITIAL_SLOTS * WORDS);
  #count = 0;

  /** Adds an id. Returns the line of its first occurrence, if there was one. */
  add(id: string, line: number): number | undefined {
    if (this.#count * 4 >= this.#slots * 3) {
      this.#grow();
    }
    const digest = hash('sha256', id, 'buffer');
    const entry = Uint32Array.of(...[0, 4, 8, 12].map((at) => digest.readUInt32LE(at)), line);
    const slot = this.#find(entry);
    const first = this.#table[slot + WORDS - 1];
    if (first !== 0) {
      return first;
    }
    this.#table.set(entry, slot);
    this.#count += 1;
    return undefined;
  }

  /** Returns the position of an entry's digest, or of the empty slot for it. */
  #find(entry: Uint32Array): number {
    for (let slot = (entry[0] ?? 0) % this.#slots; ; slot = (slot + 1) % this.#slots) {
      const at = slot * WORDS;
      const isEmpty = this.#table[at + WORDS - 1] === 0; // Lines start at 1.
      if (isEmpty || [0, 1, 2, 3].every((word) => this.#table[at + word] === entry[word])) {
        return at;
      }
    }
  }

  #grow(): void {
    const old = this.#table;
    this.#slots *= 2;
    this.#table = new Uint32Array(this.#slots * WORDS);
    for (let at = 0; at < old.length; at += WORDS) {
      if (old[at + WORDS - 1] !== 0) {
        const entry = old.subarray(at, at + WORDS);
        this.#table.set(entry, this.#find(entry));
      }
    }
  }
}
