/** Concatenates chunks. A single chunk is not copied. */
export function joinBytes(chunks: readonly Buffer[]): Buffer {
  const [first] = chunks;
  return first !== undefined && chunks.length === 1 ? first : Buffer.concat(chunks);
}
