import type { Command } from '../command.ts';
import { check } from './check.ts';
import { completion } from './completion.ts';
import { doctor } from './doctor.ts';
import { help } from './help.ts';
import { mcp } from './mcp.ts';
import { sandbox } from './sandbox.ts';
import { sandboxReset } from './sandbox-reset.ts';
import { serve } from './serve.ts';
import { subscribers } from './subscribers.ts';
import { subscribersImport } from './subscribers-import.ts';

/** The table of commands. The first one is the default. */
export const COMMANDS: readonly [Command, ...Command[]] = [
  serve,
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
