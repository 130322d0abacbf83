import { parseEnv } from 'node:util';
import { FileError } from '../../lib/files/text-file.ts';
import type { Problem, SettingLocation } from './problem.ts';
import type { ReadFile } from './read-config-text.ts';

/** Environment variables of the process and of the file `.env`. */
export interface Environment {
  /** Variables by name. Those of the process override those of the file. */
  readonly values: Readonly<Record<string, string | undefined>>;
  /**
   * Names a variable: `NOTIGRAPH_PORT (environment)`, or `NOTIGRAPH_PORT` with its line in `.env`.
   *
   * @param index index in the variable's list
   */
  locate(name: string, index?: string): SettingLocation;
  /** Problems of the file. */
  readonly problems: readonly Problem[];
}

const FILE = '.env';

/** Reads the file `.env` of the working directory, if any. The variables of the process override it. */
export function readEnvironment(variables: Environment['values'], readFile: ReadFile): Environment {
  const { text, problems } = readDotEnv(readFile);
  const fromFile: Environment['values'] = parseEnv(text);
  const isOfFile = (name: string) => variables[name] === undefined && Object.hasOwn(fromFile, name);
  return {
    values: { ...fromFile, ...variables },
    locate(name, index) {
      const item = index === undefined ? name : `${name}.${index}`;
      return isOfFile(name)
        ? { place: { source: FILE, line: findLine(text, name) }, name: item }
        : { name: `${item} (environment)` };
    },
    problems,
  };
}

function readDotEnv(readFile: ReadFile): { text: string; problems: Problem[] } {
  try {
    return { text: readFile(FILE) ?? '', problems: [] };
  } catch (error) {
    if (!(error instanceof FileError)) {
      throw error;
    }
    // The file is optional, and some projects have a directory of this name.
    const isFolder = error.message.startsWith('is a directory');
    const problem = { place: { source: FILE }, sentence: `The file ${FILE} ${error.message}.` };
    return { text: '', problems: isFolder ? [] : [problem] };
  }
}

/** Returns the number of the last line that sets a variable, which is the one that counts. */
function findLine(text: string, name: string): number {
  const isSet = new RegExp(`^\\s*(?:export\\s+)?${name}\\s*=`);
  return text.split('\n').findLastIndex((line) => isSet.test(line)) + 1;
}
