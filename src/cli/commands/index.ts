// The table of commands. The first one is the default.

import { VERSION } from '../../lib/installation.ts';
import type { Command } from '../command.ts';
import { createPrinter } from '../command-line.ts';
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

/** Creates a command that prints those whose names continue its own. */
const createParent = (name: string, summary: string): Command =>
  createPrinter({ name, summary, options: [], write: ({ command }) => writeHelp(command, COMMANDS) });

const version = createPrinter({
  name: 'version',
  summary: 'Prints the version.',
  options: [],
  write: () => `${VERSION}\n`,
});

/** Prints the help of the program. `help` before a command is read as its option `--help`. */
const help = createPrinter({
  name: 'help',
  summary: 'Prints this help, or that of a command: help sandbox.',
  options: [],
  write: () => writeHelp(undefined, COMMANDS),
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
  version,
  help,
];
