import type { Command } from '../command.ts';
import { ConfigError } from '../config/problem.ts';
import { writeHelp } from '../help.ts';

/** Prints the help of all commands. `help` before a command is read as its option `--help`. */
export const help: Command = {
  name: 'help',
  summary: 'Prints this help, or that of a command: help sandbox.',
  options: [],
  async run({ commands, problems }, host) {
    const [first] = commands;
    if (problems.length > 0 || first === undefined) {
      throw new ConfigError(problems);
    }
    host.stdout.write(writeHelp(first, commands));
  },
};
