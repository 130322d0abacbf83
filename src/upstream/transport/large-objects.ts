const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const OPEN = 0x7b;
const CLOSE = 0x7d;

/** Smaller texts are not looked at: they hold about as many members as are allowed at most. */
const MIN_BYTES = 1024 * 1024;

/** Members that an object may have. */
const MAX_MEMBERS = 100_000;

/**
 * Returns whether JSON text holds an object with more members than allowed. V8 takes a third of a microsecond to list each member of a
 * large object, and can only list all of them, so this must be known before the text is parsed.
 */
export function holdsLargeObject(json: Uint8Array): boolean {
  if (json.length < MIN_BYTES) {
    return false;
  }
  const outer: number[] = [];
  let members = 0;
  for (let i = 0; i < json.length; i += 1) {
    switch (json[i]) {
      case QUOTE:
        i = findQuote(json, i + 1);
        break;
      case OPEN:
        outer.push(members);
        members = 0;
        break;
      case CLOSE:
        members = outer.pop() ?? 0;
        break;
      case COLON:
        members += 1;
        if (members > MAX_MEMBERS) {
          return true;
        }
        break;
    }
  }
  return false;
}

/** Returns the position of the quotation mark that ends a string. */
function findQuote(json: Uint8Array, from: number): number {
  let i = from;
  while (i < json.length && json[i] !== QUOTE) {
    i += json[i] === BACKSLASH ? 2 : 1;
  }
  return i;
}
