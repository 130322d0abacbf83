// Writes texts that people read in a terminal.

/** Returns a text without characters that could change what people see. Lines stay. */
export const withoutControls = (text: string): string => text.replace(/[^\P{C}\n]/gu, '?');

/** Returns a number with its unit: `1 problem`, `2 problems`. */
export const countOf = (number: number, unit: string): string => `${number} ${unit}${number === 1 ? '' : 's'}`;
