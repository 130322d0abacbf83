/** A run of digits that may be an integer which a double cannot hold. Ids with as many digits match too; they are only looked at closer. */
const LONG_NUMBER = /\d{16}/;

/**
 * Parses JSON text. An integer that a JavaScript number cannot hold exactly becomes a BigInt, so that it is refused where it is used
 * instead of changing silently: 9007199254740993 would be read as …992.
 *
 * @throws {SyntaxError} when the text is not JSON
 */
export const parseExactJson = (text: string): unknown =>
  LONG_NUMBER.test(text) ? JSON.parse(text, keepExact) : JSON.parse(text);

function keepExact(_key: string, value: unknown, context?: { source?: string }): unknown {
  const isInexact = typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value);
  return isInexact && context?.source !== undefined && /^-?\d+$/.test(context.source) ? BigInt(context.source) : value;
}
