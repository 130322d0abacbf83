// Reads the text of metrics responses.

/** Returns the values of the metrics whose lines match the pattern, from the text of a metrics response. */
export function metricValues(text: string, name: RegExp): Record<string, number> {
  const lines = text.split('\n').filter((line) => name.test(line));
  return Object.fromEntries(
    lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.split(' ').at(-1))]),
  );
}
