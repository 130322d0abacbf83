// Keeps the service's texts out of logs and responses if they quote a part of a credential.

/** Consecutive characters of a key that must not be shown. A shorter key must not be shown as a whole. */
const PART_LENGTH = 12;

/** Minimum length of keys that are recognized everywhere. Shorter ones are parts of words, and recognized only after `ApiKey`. */
const MIN_LENGTH = 4;

export interface Secrets {
  /** `Authorization` header: `ApiKey` and the key. */
  authorization: string;
  /** Headers that every request has, by name. Values of up to 3 characters are no secrets. @default none */
  upstreamHeaders?: ReadonlyMap<string, string>;
}

/** Characters that no key has, except for white space, which ends a part of a key. */
const NOT_ASCII = /[^!-~\s]+/g;

/** Characters that are ignored: in a second comparison, also separators such as dots. */
const NOISE = [NOT_ASCII, /[^a-z\d\s]+/g];

/**
 * Creates a function that returns whether a text of the service can be shown or logged: it shares no 12 consecutive characters with the
 * request's secrets, in upper or lower case, in Base64, in hexadecimal, or with escapes of URLs, HTML or JSON. Each Base64 or hexadecimal word is
 * decoded once, from its beginning. Other encodings are not recognized.
 *
 * Parts that the request itself contains can be shown. Otherwise, a browser could guess a key by sending parts that the service quotes.
 *
 * @param readRequest returns the other text of the request
 */
export function createCredentialFilter({ authorization, upstreamHeaders }: Secrets, readRequest = () => '') {
  const key = authorization.slice(authorization.indexOf(' ') + 1);
  const secrets = key.length < MIN_LENGTH ? [authorization] : escapeForms(key);
  secrets.push(...[...(upstreamHeaders?.values() ?? [])].flatMap(escapeForms));
  const comparisons = NOISE.map((noise) => {
    const strip = (text: string) => text.toLowerCase().replace(noise, '');
    const parts = new Set<string>();
    const lengths = new Set<number>();
    for (const secret of secrets.map(strip).filter(({ length }) => length >= MIN_LENGTH)) {
      const length = Math.min(PART_LENGTH, secret.length);
      lengths.add(length);
      partsOf(secret, length).forEach((part) => {
        parts.add(part);
      });
    }
    const find = (text: string) =>
      [...lengths].flatMap((length) => partsOf(text, length).filter((part) => parts.has(part)));
    return { strip, find };
  });
  return (text: string): boolean => {
    const forms = decodedForms(text);
    return comparisons.every(({ strip, find }) => {
      const found = find(strip(forms));
      const requestForms = found.length === 0 ? '' : strip(decodedForms(readRequest()));
      return found.every((part) => requestForms.includes(part));
    });
  };
}

function partsOf(text: string, length: number): string[] {
  const parts: string[] = [];
  for (let end = length; end <= text.length; end += 1) {
    parts.push(text.slice(end - length, end));
  }
  return parts;
}

/** Returns a text in ASCII, with and without escapes, and what its Base64 and hexadecimal words contain. */
function decodedForms(text: string): string {
  const forms = escapeForms(text);
  const plain = forms.at(-1) ?? '';
  const decode = (encoding: 'base64' | 'hex') => (word: string) => Buffer.from(word, encoding).toString('latin1');
  const base64 = (plain.match(/[\w+/-]{6,}/g) ?? []).map(decode('base64'));
  const hex = (plain.match(/[\da-f]{8,}/gi) ?? []).map(decode('hex'));
  return [...forms, ...base64, ...hex].join('\n');
}

/** Returns a text in ASCII with its escapes, and without them. A key can contain the like, and then changes with the text around it. */
function escapeForms(text: string): string[] {
  const normal = text.normalize('NFKD').replace(NOT_ASCII, ''); // Also removes invisible format characters.
  const once = withoutEscapes(normal);
  const twice = withoutEscapes(once);
  const plainOnce = once.replace(NAMED_ENTITY, '');
  return [normal, once, twice, plainOnce, withoutEscapes(plainOnce).replace(NAMED_ENTITY, '')];
}

/** Entities of HTML that are removed, such as `&shy;`. A key can contain the like, so that texts with them are compared too. */
const NAMED_ENTITY = /&[a-z]{2,24};/gi;

/** Decodes one level of percent-encoding, JSON's escapes, HTML's numeric entities and its `&amp;`. */
const withoutEscapes = (text: string): string =>
  text
    .replace(/(?:%|\\x)([\da-f]{2})|\\u([\da-f]{4})|&#x([\da-f]{2,6});?/gi, (_, percent, json, html) =>
      String.fromCharCode(Number.parseInt(percent ?? json ?? html, 16)),
    )
    .replace(/&#(\d{2,7});?/g, (_, decimal) => String.fromCharCode(Number(decimal)))
    .replaceAll('&amp;', '&');
