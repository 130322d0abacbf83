/**
 * Returns one row per key, in the order of the keys, as DataLoader requires. The entry is null if no row has the key. Other rows are omitted;
 * of several rows with the same key, the first is used.
 */
export function alignByKey<Row>(
  keys: readonly string[],
  rows: readonly Row[],
  keyOf: (row: Row) => string | undefined,
): (Row | null)[] {
  const byKey = new Map<string, Row>();
  for (const row of rows) {
    const key = keyOf(row);
    if (key !== undefined && !byKey.has(key)) {
      byKey.set(key, row);
    }
  }
  return keys.map((key) => byKey.get(key) ?? null);
}
