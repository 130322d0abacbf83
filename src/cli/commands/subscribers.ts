import type { Command } from '../command.ts';
import { ConfigError } from '../config/problem.ts';
import { writeHelp } from '../help.ts';

/** Prints the commands for subscribers. */
export const subscribers: Command = {
  name: 'subscribers',
  summary: 'Prints the commands for subscribers.',
  options: [],
  async run({ command, commands, problems }, host) {
    if (problems.length > 0) {
      throw new ConfigError(problems);
    }
    host.stdout.write(writeHelp(command, commands));
  },
};
