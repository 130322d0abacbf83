// Changes lists in place.

/** Removes an item from a list, once. Returns whether the list had it. */
export function removeItem<T>(items: T[], item: T): boolean {
  const at = items.indexOf(item);
  if (at >= 0 && at === items.length - 1) {
    items.pop(); // Usual, and cheaper: every request removes several items.
  } else if (at >= 0) {
    items.splice(at, 1);
  }
  return at >= 0;
}
