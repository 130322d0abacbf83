// Counts values that stand for the absence of a value, and warns of them.

import { listAll } from '../../../../src/settings/define.ts';
import { formatCount } from './report.ts';

/** Lines that a warning names. */
const NAMED_LINES = 3;

/** Counts the values of a file that are placeholders. */
export class Placeholders {
  readonly #texts = new Set<string>();
  readonly #lines: string[] = [];
  #count = 0;

  add(line: number, texts: readonly string[] = []): void {
    if (texts.length > 0 && this.#lines.length < NAMED_LINES) {
      this.#lines.push(String(line));
    }
    for (const text of texts) {
      this.#texts.add(text);
      this.#count += 1;
    }
  }

  /** Returns a line with a warning; nothing if there are no placeholders. */
  describe(path: string): string {
    const texts = [...this.#texts];
    const values = `${formatCount(this.#count)} ${this.#count === 1 ? 'value is' : 'values are'} ${listAll(texts)}`;
    const options = texts.map((text) => `--null "${text}"`).join(' ');
    const lines = `${this.#lines.length === 1 ? 'line' : 'first in lines'} ${listAll(this.#lines)}`;
    return this.#count === 0
      ? ''
      : `${path}:${this.#lines[0]}: warning: ${values} (${lines}). To read such values as empty, use ${options}.\n`;
  }
}
