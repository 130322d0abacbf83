import type { Command } from './command.ts';
import { completion } from './completion.ts';
import { help } from './help.ts';
import { sandbox } from './sandbox.ts';
import { sandboxReset } from './sandbox-reset.ts';
import { serve } from './serve.ts';

/** The table of commands. The first one is the default. */
export const COMMANDS: readonly [Command, ...Command[]] = [serve, sandbox, sandboxReset, completion, help];
