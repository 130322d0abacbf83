// Reads the files of the deployment kit.

import { read } from './docs.ts';

/** Reads a file of the deployment kit. */
export const readKit = (file: string): string => read(`deploy/${file}`);

/** Instruction of the Dockerfile. */
export interface Instruction {
  /** Name in capitals, such as `COPY`. */
  name: string;
  /** Everything after the name, in one line. */
  text: string;
}

/** Returns the instructions of the Dockerfile. */
export const readDockerfile = (): Instruction[] =>
  readKit('Dockerfile')
    .replaceAll(/^\s*#.*\n/gm, '')
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const [, name = '', text = ''] = /^([A-Z]+) (.*)$/.exec(line) ?? [];
      return { name, text };
    });

/** Returns the environment variables that the image sets. */
export const environmentOfImage = (): Record<string, string> =>
  Object.fromEntries(
    readDockerfile()
      .filter(({ name }) => name === 'ENV')
      .flatMap(({ text }) => text.split(' '))
      .map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]),
  );
