import type { CommandOption } from '../command.ts';

/** Whether a placeholder stands for the path of a file. */
export const isPath = (placeholder: string): boolean => /^\[?FILE\]?$/.test(placeholder);

/** Returns an option's names with dashes. */
export const namesOf = ({ name, short }: CommandOption): string[] => [
  `--${name}`,
  ...(short === undefined ? [] : [`-${short}`]),
];
