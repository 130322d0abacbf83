/** Longest name of the document that is written. Longer ones are no names of a usable interface. */
const MAX_LENGTH = 64;

/** Members that every object of JavaScript has, so that a missing property would have a value. */
export const INHERITED = Object.getOwnPropertyNames(Object.prototype);

/** Returns why a name of the document can't be written, as a clause; undefined if it can. */
export function findNameProblem(name: string): string | undefined {
  if (INHERITED.includes(name)) {
    return 'every object of JavaScript has a member with its name';
  }
  if (name.length > MAX_LENGTH) {
    return `its name is longer than ${MAX_LENGTH} characters`;
  }
  return toWords(name).length === 0 ? 'its name has neither letters nor digits of ASCII' : undefined;
}

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
export const toCamel = (words: readonly string[]): string =>
  words
    .map((word, i) => (i === 0 ? word : capitalize(word)))
    .join('')
    .replace(/^\d/, '_$&');

/** Returns a name such as `IN_PROGRESS`. */
export const toUpper = (words: readonly string[]): string => words.join('_').toUpperCase().replace(/^\d/, '_$&');

/** Words with which names of secrets end, such as `apiKey`. */
const SECRETS = ['key', 'secret', 'password', 'passphrase', 'token', 'credential'];

/** Whether a name is like that of a secret. */
export const isSecret = (name: string): boolean => SECRETS.includes(toSingular(toWords(name).at(-1) ?? ''));

/** Returns the singular of an English word, by its ending. */
export function toSingular(word: string): string {
  if (/ies$/.test(word)) {
    return word.replace(/ies$/, 'y');
  }
  if (/(?:[sx]|[cs]h)es$/.test(word)) {
    return word.replace(/es$/, '');
  }
  return /[^aius]s$/.test(word) ? word.replace(/s$/, '') : word;
}

/** Names of which each is given out once. */
export class Names {
  readonly #taken: Set<string>;

  /** @param taken names that are never given out */
  constructor(taken: Iterable<string> = []) {
    this.#taken = new Set(taken);
  }

  /**
   * Returns the first of the names that is free, or the last one with a number.
   *
   * @param isFree further condition, such as that names derived from it are free too
   */
  take(names: readonly string[], isFree: (name: string) => boolean = () => true): string {
    const free = (name: string) => !this.#taken.has(name) && isFree(name);
    const last = names.at(-1) ?? '';
    let name = names.find(free);
    for (let i = 2; name === undefined; i += 1) {
      name = free(`${last}${i}`) ? `${last}${i}` : undefined;
    }
    this.#taken.add(name);
    return name;
  }

  has(name: string): boolean {
    return this.#taken.has(name);
  }
}
