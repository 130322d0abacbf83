// The table of commands. The first one is the default.

import type { Command } from '../command.ts';
import { rejectProblems } from '../config/problem.ts';
import { writeHelp } from '../help.ts';
import { check } from './check.ts';
import { doctor } from './doctor.ts';
import { init } from './init.ts';
import { mcp } from './mcp.ts';
import { moduleNew } from './module.ts';
import { sandbox, sandboxReset } from './sandbox.ts';
import { schemaDiff, schemaPrint } from './schema.ts';
import { serve } from './serve.ts';
import { subscribersImport } from './subscribers-import.ts';
import { subscribersErase, subscribersExport } from './subscribers-people.ts';

/** Creates a command that prints those whose names continue its own. */
const createParent = (name: string, summary: string): Command => ({
  name,
  summary,
  options: [],
  async run({ command, problems }, host) {
    rejectProblems(problems);
    host.stdout.write(writeHelp(command, COMMANDS));
  },
});

export const COMMANDS: readonly [Command, ...Command[]] = [
  serve,
  init,
  check,
  doctor,
  mcp,
  sandbox,
  sandboxReset,
  createParent('schema', 'Prints the commands for the schema.'),
  schemaPrint,
  schemaDiff,
  createParent('module', 'Prints the commands for modules.'),
  moduleNew,
  createParent('subscribers', 'Prints the commands for subscribers.'),
  subscribersImport,
  subscribersExport,
  subscribersErase,
];
