/** So many digits in a row may be an integer that a double cannot hold. Ids with as many match too; they are only looked at closer. */
const LONG = 16;

/**
 * Parses JSON text. An integer that a JavaScript number cannot hold exactly becomes a BigInt, so that it is refused where it is used
 * instead of changing silently: 9007199254740993 would be read as …992.
 *
 * @throws {SyntaxError} when the text is not JSON
 */
export const parseExactJson = (text: string): unknown =>
  hasLongNumber(text) ? JSON.parse(text, keepExact) : JSON.parse(text);

/** A run of 16 digits has one at every 16th place: the rest of the text is not looked at. */
function hasLongNumber(text: string): boolean {
  for (let at = LONG - 1; at < text.length; at += LONG) {
    if (isDigit(text, at)) {
      let from = at;
      let to = at + 1;
      while (isDigit(text, from - 1)) {
        from -= 1;
      }
      while (to - from < LONG && isDigit(text, to)) {
        to += 1;
      }
      if (to - from >= LONG) {
        return true;
      }
    }
  }
  return false;
}

/** False outside of the text. */
function isDigit(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code >= 48 && code <= 57;
}

function keepExact(_key: string, value: unknown, context?: { source?: string }): unknown {
  const isInexact = typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value);
  return isInexact && context?.source !== undefined && /^-?\d+$/.test(context.source) ? BigInt(context.source) : value;
}
