/** What came in pieces as one; a single piece is not copied. */
export function joinBytes(pieces: readonly Buffer[]): Buffer {
  const [first] = pieces;
  return first !== undefined && pieces.length === 1 ? first : Buffer.concat(pieces);
}
