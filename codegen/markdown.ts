// Formats tables and text of the docs, and replaces the generated part of a page.

export const code = (text: string): string => `\`${text}\``;

const row = (cells: readonly string[]): string =>
  `|${cells.map((cell) => (cell === '' ? ' ' : ` ${cell.replaceAll('|', '\\|')} `)).join('|')}|\n`;

export const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows].map(row).join('');

const joinBy =
  (separator: string) =>
  (...parts: readonly string[]): string =>
    parts.filter((part) => part !== '').join(separator);

/** Joins the parts of a page that are not empty. */
export const join = joinBy('\n');

export const joinSentences = joinBy(' ');

/**
 * Replaces the generated part of a page, between `<!-- generated: <name> -->` and `<!-- /generated -->`.
 *
 * @throws {Error} if the page lacks one of them
 */
export function replaceGenerated(page: string, name: string, content: string): string {
  const begin = `<!-- generated: ${name} -->\n`;
  const start = page.indexOf(begin);
  const end = page.indexOf('<!-- /generated -->', start);
  if (start === -1 || end === -1) {
    throw new Error(`The page lacks "${begin.trim()}" or "<!-- /generated -->" after it.`);
  }
  return page.slice(0, start + begin.length) + content + page.slice(end);
}
