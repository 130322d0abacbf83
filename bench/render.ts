/** Table of results, for the terminal and the docs. */
export interface Table {
  title: string;
  head: string[];
  rows: string[][];
  /** Sentence below the table. */
  note?: string;
}

/** Formats a table for the terminal. */
export function asText({ title, head, rows, note }: Table): string {
  const widths = head.map((name, column) => Math.max(name.length, ...rows.map((row) => row[column]?.length ?? 0)));
  const line = (cells: string[]) =>
    cells
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd();
  return `${title}\n${[head, ...rows].map((cells) => `  ${line(cells)}\n`).join('')}${note === undefined ? '' : `  ${note}\n`}`;
}

/** Formats a table as Markdown with its title. */
export const asMarkdown = (table: Table): string =>
  `### ${table.title}\n\n${asMarkdownTable(table)}${table.note === undefined ? '' : `\n${table.note}\n`}`;

/** Formats a table as Markdown. Columns of numbers are aligned to the right. */
export function asMarkdownTable({ head, rows }: Pick<Table, 'head' | 'rows'>): string {
  const isFigure = head.map((_, column) =>
    rows.every((row) => /^(—|[+−]?[\d.]+( \S{1,2})?|)$/.test(row[column] ?? '')),
  );
  const line = (cells: string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |\n`;
  const rule = `|${isFigure.map((right, column) => (right && head[column] !== '' ? ' ---: ' : ' --- ')).join('|')}|\n`;
  return `${line(head)}${rule}${rows.map(line).join('')}`;
}
