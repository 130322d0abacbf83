import { FileError } from '../../lib/text-file.ts';
import type { ConfigSource } from './config-file.ts';
import type { Environment } from './environment.ts';
import type { ReadFile } from './read-config-text.ts';

/** Default names of configuration files in the working directory. */
const CONFIG_FILES = ['notigraph.config.yaml', 'notigraph.config.yml', 'notigraph.config.json'];

/** Environment variables that choose the configuration, in addition to those of the settings. */
export const SOURCE_VARIABLES = ['NOTIGRAPH_CONFIG', 'NOTIGRAPH_CONFIG_TEXT'];

/**
 * Finds the configuration: the given file or text, or a file with one of the default names.
 *
 * @param option path from the command line
 * @param problems list to add problems to
 */
export function findSource(
  option: string | undefined,
  { values: env, describe }: Environment,
  readFile: ReadFile,
  problems: string[],
): ConfigSource | undefined {
  const path = option ?? (env.NOTIGRAPH_CONFIG || undefined);
  const text = env.NOTIGRAPH_CONFIG_TEXT || undefined;
  if (path !== undefined && text !== undefined) {
    problems.push('Use either a configuration file or NOTIGRAPH_CONFIG_TEXT, not both.');
    return undefined;
  }
  if (text !== undefined) {
    return { name: 'NOTIGRAPH_CONFIG_TEXT', text };
  }
  const found = (path === undefined ? CONFIG_FILES : [path]).flatMap((name): ConfigSource[] => {
    try {
      const content = readFile(name);
      if (content === undefined && path !== undefined) {
        throw new FileError("doesn't exist");
      }
      return content === undefined ? [] : [{ name, text: content, path: name }];
    } catch (error) {
      if (!(error instanceof FileError)) {
        throw error;
      }
      const from = path === undefined ? '' : `${option === undefined ? describe('NOTIGRAPH_CONFIG') : '--config'}: `;
      problems.push(`${from}${from === '' ? 'The' : 'the'} configuration file ${name} ${error.message}.`);
      return [];
    }
  });
  if (found.length > 1) {
    problems.push(
      `There are several configuration files. Keep only one of ${found.map(({ name }) => name).join(', ')}.`,
    );
  }
  return found[0];
}
