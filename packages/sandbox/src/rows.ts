// Reads values of database rows and JSON objects.

/** A database row or a decoded JSON object. Its fields have unknown types; read them with the functions below. */
export type Row = Record<string, unknown>;

/** Whether a value is an object, but not null or an array. */
export function isRow(value: unknown): value is Row {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Reads a required string. */
export function text(row: Row, field: string): string {
  const value = row[field];
  if (typeof value !== 'string') {
    throw new TypeError(`Expected a string in "${field}", found ${value === null ? 'null' : typeof value}`);
  }
  return value;
}

/** Reads a string that may be NULL or absent. */
export function optionalText(row: Row, field: string): string | null {
  return row[field] === null || row[field] === undefined ? null : text(row, field);
}

/** Reads a required number. */
export function integer(row: Row, field: string): number {
  const value = row[field];
  if (typeof value !== 'number') {
    throw new TypeError(`Expected a number in "${field}", found ${value === null ? 'null' : typeof value}`);
  }
  return value;
}

/** Reads a boolean, which SQLite stores as 0 or 1. */
export function flag(row: Row, field: string): boolean {
  return integer(row, field) !== 0;
}

/** Reads a string that contains JSON, and decodes it. */
export function json(row: Row, field: string): unknown {
  return JSON.parse(text(row, field));
}
