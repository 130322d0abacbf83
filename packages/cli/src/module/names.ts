// Converts names of an OpenAPI document to those of GraphQL and TypeScript.

/** Longest name of the document that is written. Longer ones are no names of a usable interface. */
const MAX_LENGTH = 64;

/** Members that every object of JavaScript has, so that a missing property would have a value. */
export const INHERITED = Object.getOwnPropertyNames(Object.prototype);

export const isName = (name: string): boolean =>
  name.length <= MAX_LENGTH && !INHERITED.includes(name) && toWords(name).length > 0;

/** Returns the words of a name in lower case: `avatar`, `url` for `avatarURL` and `avatar_url`. */
export const toWords = (name: string): string[] =>
  name
    .slice(0, MAX_LENGTH)
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1 $2')
    .split(/[^A-Za-z0-9]+/)
    .filter((word) => word !== '')
    .map((word) => word.toLowerCase());

const capitalize = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);

/** Returns a name such as `TopicPage`. A digit at its beginning follows `_`. */
export const toPascal = (words: readonly string[]): string => words.map(capitalize).join('').replace(/^\d/, '_$&');

/** Returns a name such as `topicKey`. */
export const toCamel = ([first = '', ...others]: readonly string[]): string =>
  [first, ...others.map(capitalize)].join('').replace(/^\d/, '_$&');

/** Returns the name of a member of the document, such as `topicKey` for `topic_key`. */
export const camelOf = (name: string): string => toCamel(toWords(name));

/** Returns a name such as `IN_PROGRESS`. */
export const toUpper = (words: readonly string[]): string => words.join('_').toUpperCase().replace(/^\d/, '_$&');

/** Words with which names of secrets end, such as `apiKey`. */
const SECRETS = ['key', 'secret', 'password', 'passphrase', 'token', 'credential'];

export const isSecret = (name: string): boolean => SECRETS.includes(toSingular(toWords(name).at(-1) ?? ''));

export const toSingular = (word: string): string =>
  word
    .replace(/ies$/, 'y')
    .replace(/(ss|tus|[xz]|[cs]h)es$/, '$1')
    .replace(/([^aius])s$/, '$1');

/** Returns the plain parts of a path, without those of versions. Such a part can be beside a parameter, as in `{id}:archive`. */
export const segmentsOf = (path: string): string[] =>
  path
    .replace(/\{[^{}]*\}/g, '')
    .split('/')
    .filter((segment) => toWords(segment).length > 0 && !/^(?:v\d+|api|rest)$/i.test(segment));

/** Returns the words of the record that a path names, such as `topic`, `subscriber`. The paths of lists end with a plural. */
export function nounOf(path: string, isList = false): string[] {
  const [last = 'record', before = ''] = segmentsOf(path).toReversed();
  const words = toWords(last);
  const noun = [...toWords(before).map(toSingular), ...(isList ? words : words.map(toSingular))];
  return noun.length === 0 ? ['record'] : noun;
}

/** First words of fields that change data, by method, where the operation's id gives none. */
const VERBS: Readonly<Record<string, string>> = { POST: 'create', PUT: 'update', PATCH: 'update', DELETE: 'delete' };

/**
 * Returns the words of a field: those of the operation's id without its prefix and `get`, or of its path. An id that has no word in common with its
 * path says nothing about it.
 */
export function fieldNameOf(method: string, path: string, operationId: unknown): string[] {
  const id = typeof operationId === 'string' ? operationId.replace(/^.*Controller[_.]/, '') : '';
  const words = id.length <= MAX_LENGTH ? toWords(id) : [];
  const isRead = method === 'GET' && /^(?:get|list|fetch|find|retrieve|read)$/.test(words[0] ?? '');
  const rest = isRead ? words.slice(1) : words;
  const stemOf = (word: string) => toSingular(word).slice(0, 4);
  const stems = segmentsOf(path).flatMap(toWords).map(stemOf);
  if (words.length > 1 && rest.some((word) => stems.includes(stemOf(word)))) {
    return rest;
  }
  return [VERBS[method] ?? [], nounOf(path, method === 'GET' && !path.endsWith('}'))].flat();
}

/** Names that are taken: each is given out once. */
export class Names extends Set<string> {
  /** Takes the first of the names that is free, or the last one with a number. */
  take(...names: string[]): string {
    let name = names.find((each) => !this.has(each)) ?? '';
    for (let i = 2; name === ''; i += 1) {
      name = this.has(`${names.at(-1)}${i}`) ? '' : `${names.at(-1)}${i}`;
    }
    this.add(name);
    return name;
  }
}
