const INITIAL_BYTES = 16 * 1024;

/** Set of lines, with one bit per line of the file. */
export class AppliedLines {
  #bits = new Uint8Array(INITIAL_BYTES);
  #count = 0;

  /** Number of lines. */
  get size(): number {
    return this.#count;
  }

  has(line: number): boolean {
    return ((this.#bits[line >> 3] ?? 0) & (1 << (line & 7))) !== 0;
  }

  add(line: number): void {
    if (this.has(line)) {
      return;
    }
    if (line >> 3 >= this.#bits.length) {
      const bits = new Uint8Array(Math.max(this.#bits.length * 2, (line >> 3) + 1));
      bits.set(this.#bits);
      this.#bits = bits;
    }
    this.#bits[line >> 3] = (this.#bits[line >> 3] ?? 0) | (1 << (line & 7));
    this.#count += 1;
  }
}
