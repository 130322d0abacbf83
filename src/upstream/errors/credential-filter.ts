/** Shorter keys are ordinary words: encoded, they are only recognized together with the word ApiKey. */
const MIN_ENCODED_LENGTH = 8;

/** Shorter keys are part of too many words: they are only recognized as a word of their own. */
const MIN_PART_LENGTH = 4;

/**
 * Creates a function that returns whether a text is free of the caller's credential, so that it can be shown or logged.
 *
 * A text is refused if it holds the whole key in any of these forms, alone or as part of something longer (`Authorization: ApiKey <key>`,
 * `user:<key>`): plain in any case, base64 or base64url at any alignment, hexadecimal, or with any of its characters percent-encoded.
 * Every check takes time linear in the text's length. Parts of the key are not recognized, nor are other encodings.
 *
 * @param authorization the header that was sent: `ApiKey` and the key
 */
export function createCredentialFilter(authorization: string): (text: string) => boolean {
  const key = authorization.slice(authorization.indexOf(' ') + 1);
  const holdsPlain = createHoldsPlain(key);
  const holdsEncoded = createHoldsEncoded(key.length < MIN_ENCODED_LENGTH ? authorization : key);
  return (text) => !holdsPlain(text) && !holdsEncoded(text);
}

function createHoldsPlain(key: string): (text: string) => boolean {
  if (key.length < MIN_PART_LENGTH) {
    const word = new RegExp(`(?<![a-z\\d])${key.replace(/\W/g, '\\$&')}(?![a-z\\d])`, 'i');
    return (text) => word.test(text);
  }
  const plain = key.toLowerCase();
  return (text) => text.toLowerCase().includes(plain);
}

function createHoldsEncoded(secret: string): (text: string) => boolean {
  const plain = secret.toLowerCase();
  const hex = Buffer.from(secret).toString('hex');
  const base64 = [0, 1, 2].map((offset) => base64At(offset, secret));
  // What stands before the secret can look like the start of an escape that ends in its first two characters, and its own end like the
  // start of one that ends behind it.
  const core = decodePercent(secret)
    .slice(2)
    .replace(/%[\da-f]?$/i, '')
    .toLowerCase();

  function holds(text: string): boolean {
    const compact = text.replace(/\s+/g, '').replaceAll('-', '+').replaceAll('_', '/'); // Base64 may be broken into lines.
    const lower = text.toLowerCase();
    return lower.includes(plain) || lower.includes(hex) || base64.some((characters) => compact.includes(characters));
  }

  return (text) => {
    if (holds(text)) {
      return true;
    }
    const decoded = text.includes('%') ? decodePercent(text) : text;
    return decoded !== text && (decoded.toLowerCase().includes(core) || holds(decoded));
  };
}

/** Returns the characters that base64 has for a text after so many other bytes, without those that depend on its neighbours too. */
function base64At(offset: number, text: string): string {
  const bytes = Buffer.from(' '.repeat(offset) + text);
  return bytes.toString('base64').slice(Math.ceil((offset * 8) / 6), Math.floor((bytes.length * 8) / 6));
}

const PERCENT = 37;

/** Decodes percent-encoding until nothing of it is left: `%2541` becomes `%41`, and that `A`. */
function decodePercent(text: string): string {
  const decoded = new Uint16Array(text.length);
  let length = 0;
  for (let i = 0; i < text.length; i += 1) {
    let code = text.charCodeAt(i);
    // The last three characters can be an escape, and what it stands for the end of another one.
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

/** Returns the value of a hexadecimal digit; NaN if it is none. */
function hexOf(code = Number.NaN): number {
  if (code >= 48 && code <= 57) {
    return code - 48;
  }
  const letter = code | 32; // Lower case.
  return letter >= 97 && letter <= 102 ? letter - 87 : Number.NaN;
}
