/** Minimum length of keys that are recognized in encoded form. Shorter ones are ordinary words, recognized only together with `ApiKey`. */
const MIN_ENCODED_LENGTH = 8;

/** Minimum length of keys that are recognized inside of words. Shorter ones are recognized only as separate words. */
const MIN_PART_LENGTH = 4;

/**
 * Creates a function that returns whether a text can be shown or logged because it doesn't contain the caller's credential.
 *
 * Recognizes the whole key, also as part of a longer text (`Authorization: ApiKey <key>`, `user:<key>`): in upper or lower case, in
 * base64 or base64url at any alignment, in hexadecimal, or with any of its characters percent-encoded. Parts of the key and other
 * encodings are not recognized. Every check takes time linear in the text's length.
 *
 * @param authorization `Authorization` header of the request: `ApiKey` and the key
 */
export function createCredentialFilter(authorization: string): (text: string) => boolean {
  const key = authorization.slice(authorization.indexOf(' ') + 1);
  const containsPlain = createPlainMatcher(key);
  const containsEncoded = createEncodedMatcher(key.length < MIN_ENCODED_LENGTH ? authorization : key);
  return (text) => !containsPlain(text) && !containsEncoded(text);
}

function createPlainMatcher(key: string): (text: string) => boolean {
  if (key.length < MIN_PART_LENGTH) {
    const word = new RegExp(`(?<![a-z\\d])${key.replace(/\W/g, '\\$&')}(?![a-z\\d])`, 'i');
    return (text) => word.test(text);
  }
  const plain = key.toLowerCase();
  return (text) => text.toLowerCase().includes(plain);
}

function createEncodedMatcher(secret: string): (text: string) => boolean {
  const plain = secret.toLowerCase();
  const hex = Buffer.from(secret).toString('hex');
  const base64 = [0, 1, 2].map((offset) => base64At(offset, secret));
  // Decoding can change both ends of the secret: preceding text can form an escape with its first two characters, and its end can form
  // one with following text.
  const core = decodePercent(secret)
    .slice(2)
    .replace(/%[\da-f]?$/i, '')
    .toLowerCase();

  function contains(text: string): boolean {
    const compact = text.replace(/\s+/g, '').replaceAll('-', '+').replaceAll('_', '/'); // Base64 may be broken into lines.
    const lower = text.toLowerCase();
    return lower.includes(plain) || lower.includes(hex) || base64.some((characters) => compact.includes(characters));
  }

  return (text) => {
    if (contains(text)) {
      return true;
    }
    const decoded = text.includes('%') ? decodePercent(text) : text;
    return decoded !== text && (decoded.toLowerCase().includes(core) || contains(decoded));
  };
}

/** Returns the base64 characters of a text at a byte offset, without those that also depend on adjacent bytes. */
function base64At(offset: number, text: string): string {
  const bytes = Buffer.from(' '.repeat(offset) + text);
  return bytes.toString('base64').slice(Math.ceil((offset * 8) / 6), Math.floor((bytes.length * 8) / 6));
}

const PERCENT = 37;

/** Decodes percent-encoding repeatedly until no escape is left: `%2541` becomes `%41`, then `A`. */
function decodePercent(text: string): string {
  const decoded = new Uint16Array(text.length);
  let length = 0;
  for (let i = 0; i < text.length; i += 1) {
    let code = text.charCodeAt(i);
    // The last three characters can form an escape, and the decoded character can complete another one.
    while (length >= 2 && decoded[length - 2] === PERCENT) {
      const value = hexOf(decoded[length - 1]) * 16 + hexOf(code);
      if (Number.isNaN(value)) {
        break;
      }
      code = value;
      length -= 2;
    }
    decoded[length] = code;
    length += 1;
  }
  return Buffer.from(decoded.buffer, 0, length * 2).toString('utf16le');
}

/** Returns the value of a hexadecimal digit, or NaN for any other character. */
function hexOf(code = Number.NaN): number {
  if (code >= 48 && code <= 57) {
    return code - 48;
  }
  const letter = code | 32; // In lower case.
  return letter >= 97 && letter <= 102 ? letter - 87 : Number.NaN;
}
