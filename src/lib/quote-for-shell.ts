/** Quotes a word for POSIX shells. Nothing is special between single quotes, except another one. */
export const quoteForShell = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`;
