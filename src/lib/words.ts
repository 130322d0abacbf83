// Words of messages: lists, and names that are unknown, with what was probably meant.

import leven, { closestMatch } from 'leven';

/** Returns a phrase that names an unknown setting and the closest known one. */
export const unknownSetting = (name: string, names: readonly string[], noun = 'setting'): string =>
  `the ${unknownName(name, names, noun)}`;

/** Returns the same phrase without an article. */
export const unknownName = (name: string, names: readonly string[], noun: string): string =>
  `unknown ${noun} "${name}"${suggest(name, names)}`;

/** Returns a name without case, separators, and the beginning of all environment variables, which makes no two of them alike. */
const lettersOf = (name: string): string => name.toLowerCase().replace(/^notigraph_|[\s._-]/g, '');

/**
 * Returns the known name that another one misspells, as a question in parentheses, with a space before it; empty if there is none. With more than two other
 * letters, or with two in a short name unless they are swapped, it can mean something else.
 */
export function suggest(name: string, names: readonly string[]): string {
  const letters = lettersOf(name);
  const closest = closestMatch(letters, names.map(lettersOf), { maxDistance: letters.length > 3 ? 2 : 1 }) ?? '';
  const isMisspelled = leven(closest, letters) <= letters.length / 3 || sort(closest) === sort(letters);
  const meant = isMisspelled ? names.find((each) => lettersOf(each) === closest) : undefined;
  return meant === undefined ? '' : ` (did you mean "${meant}"?)`;
}

const sort = (letters: string): string => [...letters].sort().join('');

/** Returns `a, b or c`. */
export const listAny = (words: Iterable<string>): string =>
  new Intl.ListFormat('en-GB', { type: 'disjunction' }).format(words);

/** Returns `a, b and c`. */
export const listAll = (words: readonly string[]): string => new Intl.ListFormat('en-GB').format(words);
