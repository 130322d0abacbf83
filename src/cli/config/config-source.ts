import type { ConfigSource } from './config-file.ts';

/** Environment variables. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Returns a file's text, or undefined if it can't be read. */
export type ReadFile = (path: string) => string | undefined;

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
  env: Environment,
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
  const candidates = path === undefined ? CONFIG_FILES : [path];
  const found = candidates.flatMap((name) => {
    const content = readFile(name);
    return content === undefined ? [] : [{ name, text: content, path: name }];
  });
  if (path !== undefined && found.length === 0) {
    problems.push(`The configuration file ${path} can't be read. Check the path and its permissions.`);
  }
  if (found.length > 1) {
    problems.push(
      `There are several configuration files. Keep only one of ${found.map(({ name }) => name).join(', ')}.`,
    );
  }
  return found[0];
}
