const WIDTH = 80;
const INDENT = ' '.repeat(24);

/** Formats terms and their descriptions, wrapped to `WIDTH`. */
export const writeEntries = (entries: readonly (readonly [term: string, description: string])[]): string =>
  entries.map(([term, description]) => writeEntry(term, description)).join('');

function writeEntry(term: string, description: string): string {
  const lines: string[] = [];
  let line = `  ${term}`.padEnd(INDENT.length);
  if (!line.endsWith(' ')) {
    lines.push(line);
    line = INDENT;
  }
  for (const word of description.split(' ')) {
    if (line.length + word.length + 1 > WIDTH) {
      lines.push(line);
      line = INDENT;
    }
    line += line.endsWith(' ') ? word : ` ${word}`;
  }
  return `${[...lines, line].join('\n')}\n`;
}
