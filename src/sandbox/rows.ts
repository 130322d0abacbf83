/** A row of the database or a decoded JSON object: its fields are unknown until one of the readers below has looked. */
export type Row = Record<string, unknown>;

export function isRow(value: unknown): value is Row {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Reads a field that is always a text. */
export function text(row: Row, field: string): string {
  const value = row[field];
  if (typeof value !== 'string') {
    throw new TypeError(`Expected a text in "${field}", found ${value === null ? 'null' : typeof value}`);
  }
  return value;
}

/** Reads a text that may be NULL or absent. */
export function optionalText(row: Row, field: string): string | null {
  return row[field] === null || row[field] === undefined ? null : text(row, field);
}

/** Reads a field that is always a number. */
export function integer(row: Row, field: string): number {
  const value = row[field];
  if (typeof value !== 'number') {
    throw new TypeError(`Expected a number in "${field}", found ${value === null ? 'null' : typeof value}`);
  }
  return value;
}

/** Reads a truth value, which SQLite keeps as 0 or 1. */
export function flag(row: Row, field: string): boolean {
  return integer(row, field) !== 0;
}

/** Reads a text that holds JSON. */
export function json(row: Row, field: string): unknown {
  return JSON.parse(text(row, field));
}
