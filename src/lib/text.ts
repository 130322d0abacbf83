// Converts texts for the places that show them.

/** Replaces the links of a description by their texts: they lead nowhere outside the docs. */
export const withoutLinks = (markdown: string): string => markdown.replace(/\[([^[\]]*)\]\([^()]*\)/g, '$1');

/** Returns the text of Markdown, without links and the marks of code. */
export const withoutMarkdown = (markdown: string): string => withoutLinks(markdown).replaceAll('`', '');

/** Maximum length of a text in the log that anyone can choose. */
const MAX_LENGTH = 100;

/** Returns the beginning of a text that anyone can choose, in printable ASCII, so that it can't forge or garble lines of the log. */
export const toPrintable = (text: string): string => text.slice(0, MAX_LENGTH).replace(/[^\x20-\x7e]/g, '?');

/** Shortens a text to a number of UTF-16 code units, without splitting a surrogate pair. */
export const truncate = (text: string, maxLength: number): string =>
  text.length > maxLength ? `${text.slice(0, maxLength - 1).replace(/\p{Cs}$/u, '')}…` : text;

/** Quotes a word for POSIX shells. Nothing is special between single quotes, except another one. */
export const quoteForShell = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`;
