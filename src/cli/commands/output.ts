// What several commands do with their output: they choose its format, or only print a text.
import { listAny } from '../../settings/define.ts';
import type { Command, CommandLine, Process } from '../command.ts';
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

/** Creates a command that only prints a text. */
export const createPrinter = ({
  write,
  ...command
}: Omit<Command, 'run'> & {
  write(commandLine: CommandLine, host: Process): string | Promise<string>;
}): Command => ({
  ...command,
  async run(commandLine, host) {
    if (commandLine.problems.length > 0) {
      throw new ConfigError(commandLine.problems);
    }
    host.stdout.write(await write(commandLine, host));
  },
});
