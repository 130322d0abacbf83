// Writes texts that people read in a terminal.

/**
 * Matches invisible characters that could change what people see, and captures those that only form a sign with the visible ones around them: joiners
 * in emoji and in scripts such as Persian, and the tags of three flags. Next to ASCII, a joiner would only hide that a word is another one.
 */
const INVISIBLE =
  /((?<=[^\p{C}\p{ASCII}])[\u200c\u200d](?=[^\p{C}\p{ASCII}])|(?<=\u{1f3f4})\u{e0067}\u{e0062}[\u{e0061}-\u{e007a}]{3}\u{e007f})|[^\P{C}\n]/gu;

/** Returns a text without characters that could change what people see. Lines stay. */
export const withoutControls = (text: string): string =>
  text.replace(INVISIBLE, (_char, sign: string | undefined) => sign ?? '?');

/** Returns a number with its unit: `1 problem`, `2 problems`. */
export const countOf = (number: number, unit: string): string => `${number} ${unit}${number === 1 ? '' : 's'}`;
