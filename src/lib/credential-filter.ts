// Keeps the service's texts out of logs and responses if they quote a part of a credential.

import { randomInt } from 'node:crypto';

/** Consecutive characters of a key that must not be shown. A shorter key must not be shown as a whole. */
const PART_LENGTH = 12;

/** Minimum length of keys that are recognized everywhere. Shorter ones are parts of words, and recognized only after `ApiKey`. */
const MIN_LENGTH = 4;

export interface Secrets {
  /** `Authorization` header: `ApiKey` and the key. */
  credential: string;
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
export function createCredentialFilter({ credential, upstreamHeaders }: Secrets, readRequest = () => '') {
  const key = credential.slice(credential.indexOf(' ') + 1);
  const secrets = key.length < MIN_LENGTH ? [credential] : escapeForms(key);
  secrets.push(...[...(upstreamHeaders?.values() ?? [])].flatMap(escapeForms));
  const comparisons = NOISE.map((noise) => {
    const strip = (text: string) => text.toLowerCase().replace(noise, '');
    const recognized = [...new Set(secrets.map(strip))].filter(({ length }) => length >= MIN_LENGTH);
    const byLength = Map.groupBy(recognized, ({ length }) => Math.min(PART_LENGTH, length));
    const finders = [...byLength].map(([length, same]) => createFinder(same, length));
    const find = (text: string) => finders.flatMap((findParts) => findParts(text));
    let ofRequest: Set<string> | undefined;
    return (forms: string) =>
      find(strip(forms)).every((part) => {
        ofRequest ??= new Set(find(strip(decodedForms(readRequest()))));
        return ofRequest.has(part);
      });
  });
  return (text: string): boolean => {
    const forms = decodedForms(text);
    return comparisons.every((isShowable) => isShowable(forms));
  };
}

/** Factor of the hashes of parts. Random, so that nobody can choose texts whose parts have the hashes of a key's, which would be slow. */
const FACTOR = 2 * randomInt(2 ** 30) + 1;

const hashOf = (text: string): number =>
  Array.from(text).reduce((hash, character) => (Math.imul(hash, FACTOR) + character.charCodeAt(0)) | 0, 0);

const NONE: readonly string[] = [];

/** Creates a function that returns the parts of this length that a text shares with secrets. Takes time in proportion to the text, whatever both contain. */
function createFinder(secrets: readonly string[], length: number): (text: string) => string[] {
  const all = secrets.join('\0'); // No text contains it.
  const parts = new Set(
    Array.from({ length: all.length - length + 1 }, (_, start) => all.slice(start, start + length)),
  );
  const byHash = Map.groupBy(parts, hashOf);
  const power = hashOf(`\u0001${'\0'.repeat(length - 1)}`);
  return (text) => {
    const found = new Set<string>();
    let hash = hashOf(text.slice(0, length - 1));
    for (let start = 0; start + length <= text.length; start += 1) {
      hash = (Math.imul(hash, FACTOR) + text.charCodeAt(start + length - 1)) | 0;
      for (const part of byHash.get(hash) ?? NONE) {
        if (!found.has(part) && text.startsWith(part, start)) {
          found.add(part);
        }
      }
      hash -= Math.imul(text.charCodeAt(start), power); // Follows from that of the part before.
    }
    return [...found];
  };
}

/** Returns a text in ASCII, with and without escapes, and what its Base64 and hexadecimal words contain. */
function decodedForms(text: string): string {
  const forms = escapeForms(text);
  const plain = forms.at(-1) ?? '';
  const decode = (encoding: 'base64' | 'hex') => (word: string) => Buffer.from(word, encoding).toString('latin1');
  const base64 = (plain.match(/[\w+/-]{6,}/g) ?? []).map(decode('base64'));
  const hex = (plain.match(/[\da-f]{8,}/gi) ?? []).map(decode('hex'));
  return [...new Set([...forms, ...base64, ...hex])].join('\n'); // Most texts have only one form.
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
