/**
 * Makes something of what is read, and makes it anew only when another thing is read.
 *
 * @param read gives the same thing as long as nothing has changed
 */
export function derive<Source, T>(read: () => Source, make: (source: Source) => T): () => T {
  let made: { source: Source; value: T } | undefined;
  return () => {
    const source = read();
    if (made === undefined || made.source !== source) {
      made = { source, value: make(source) };
    }
    return made.value;
  };
}
