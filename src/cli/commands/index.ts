import type { Command } from '../command.ts';
import { ConfigError } from '../config/problem.ts';
import { writeHelp } from '../help.ts';
import { check } from './check.ts';
import { completion } from './completion.ts';
import { doctor } from './doctor.ts';
import { init } from './init.ts';
import { mcp } from './mcp.ts';
import { sandbox, sandboxReset } from './sandbox.ts';
import { serve } from './serve.ts';
import { subscribers } from './subscribers.ts';
import { subscribersImport } from './subscribers-import.ts';

/** Prints the help of all commands. `help` before a command is read as its option `--help`. */
const help: Command = {
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

/** The table of commands. The first one is the default. */
export const COMMANDS: readonly [Command, ...Command[]] = [
  serve,
  init,
  check,
  doctor,
  mcp,
  sandbox,
  sandboxReset,
  subscribers,
  subscribersImport,
  completion,
  help,
];
