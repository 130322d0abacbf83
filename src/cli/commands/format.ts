import { listAny } from '../../settings/setting.ts';
import type { CommandLine } from '../command.ts';
import { ConfigError } from '../config/problem.ts';

/**
 * Returns the value of `--format`.
 *
 * @param formats words such as `text|json`; the first one is the default
 * @throws {ConfigError} with all problems of the command line if it is none of them
 */
export function readFormat({ options, problems }: CommandLine, formats: string): string {
  const words = formats.split('|');
  const { format = words[0] ?? '' } = options;
  if (!words.includes(format)) {
    throw new ConfigError([...problems, `--format must be ${listAny(words)}.`]);
  }
  return format;
}
