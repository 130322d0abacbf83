/**
 * Puts rows in the order of the keys, as DataLoader wants them: one slot a key, null where no row has it. Rows that nobody asked
 * for are left out; of several with the same key the first one counts.
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
