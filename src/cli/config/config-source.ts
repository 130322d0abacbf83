import { FileError } from '../../lib/files/text-file.ts';
import type { ConfigSource } from './config-file.ts';
import type { Environment } from './environment.ts';
import type { Problem } from './problem.ts';
import type { ReadFile } from './read-config-text.ts';

/** Default names of configuration files in the working directory. */
const CONFIG_FILES = ['notigraph.config.yaml', 'notigraph.config.yml', 'notigraph.config.json'];

/** Environment variables that choose the configuration, in addition to those of the settings. */
export const SOURCE_VARIABLES = ['NOTIGRAPH_CONFIG', 'NOTIGRAPH_CONFIG_TEXT'];

/** Returns the paths that the configuration file may have; none if the configuration is inline. They are relative to the working directory. */
export function listConfigPaths(option: string | undefined, { values: env }: Environment): readonly string[] {
  if (env.NOTIGRAPH_CONFIG_TEXT) {
    return [];
  }
  const path = option ?? (env.NOTIGRAPH_CONFIG || undefined);
  return path === undefined ? CONFIG_FILES : [path];
}

/**
 * Finds the configuration: the given file or text, or a file with one of the default names.
 *
 * @param option path from the command line
 * @param problems list to add problems to
 */
export function findSource(
  option: string | undefined,
  { values: env, locate }: Environment,
  readFile: ReadFile,
  problems: Problem[],
): ConfigSource | undefined {
  const path = option ?? (env.NOTIGRAPH_CONFIG || undefined);
  const text = env.NOTIGRAPH_CONFIG_TEXT || undefined;
  if (path !== undefined && text !== undefined) {
    problems.push({ sentence: 'Use either a configuration file or NOTIGRAPH_CONFIG_TEXT, not both.' });
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
      const clause = `configuration file ${name} ${error.message}.`;
      const from = option === undefined ? locate('NOTIGRAPH_CONFIG') : { name: '--config' };
      problems.push(
        path === undefined
          ? { place: { source: name }, sentence: `The ${clause}` }
          : { place: from.place, sentence: `${from.name}: the ${clause}` },
      );
      return [];
    }
  });
  if (found.length > 1) {
    const names = found.map(({ name }) => name).join(', ');
    problems.push({ sentence: `There are several configuration files. Keep only one of ${names}.` });
  }
  return found[0];
}
