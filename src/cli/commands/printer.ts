import type { Command, CommandLine, Process } from '../command.ts';
import { ConfigError } from '../config/problem.ts';

/** Creates a command that only prints a text. */
export const createPrinter = ({
  write,
  ...command
}: Omit<Command, 'run'> & {
  /** Returns the text. */
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
