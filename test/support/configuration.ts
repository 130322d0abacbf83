// Loads configurations from texts instead of files.

import { readCommandLine } from '../../packages/cli/src/command-line.ts';
import { COMMANDS } from '../../packages/cli/src/commands/index.ts';
import { readEnvironment } from '../../packages/cli/src/config/environment.ts';
import { type Config, loadConfig } from '../../packages/cli/src/config/load-config.ts';
import { ConfigError } from '../../packages/cli/src/config/problem.ts';
import { FileError } from '../../src/files/text-file.ts';

/** Sources of a configuration. */
export interface Sources {
  /** Environment variables. @default none */
  env?: Readonly<Record<string, string>>;
  /** Command line. @default none */
  argv?: readonly string[];
  /** Texts of configuration files and of `.env`, by path. No other files exist. @default none */
  files?: Readonly<Record<string, string>>;
}

/** Loads a configuration. */
export function loadFrom({ env = {}, argv = [], files = {} }: Sources): Config {
  const read = (path: string): string => {
    const text = Object.hasOwn(files, path) ? files[path] : undefined;
    if (text === undefined) {
      throw new FileError("doesn't exist", { isMissing: true });
    }
    return text;
  };
  return loadConfig(readCommandLine(argv, COMMANDS), readEnvironment(env, read), { read, checks: false }).config;
}

/** Returns the problems of a configuration, or an empty array. */
export function problemsOf(sources: Sources): readonly string[] {
  try {
    loadFrom(sources);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) {
      return error.message.split('\n');
    }
    throw error;
  }
}
