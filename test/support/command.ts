// Runs commands in the process of the tests, which saves the start of another one.

import { EventEmitter } from 'node:events';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { Process } from '../../src/cli/command.ts';
import { readCommandLine } from '../../src/cli/command-line.ts';
import { COMMANDS } from '../../src/cli/commands/index.ts';
import { explainFailure } from '../../src/cli/explain-failure.ts';
import { withoutControls } from '../../src/lib/text.ts';
import { CHILD_ENV } from './child-env.ts';
import { createEmptyFolder } from './sandbox-files.ts';

export interface CommandOptions {
  /** Working directory, where `.env` and the sandbox file are searched for. @default an empty folder, until the end of the test */
  cwd?: string;
  args?: readonly string[];
  /** Environment variables besides PATH. @default none */
  env?: Readonly<Record<string, string>>;
  /** Standard input: typed at a terminal, or piped into the command. @default nothing, without a terminal */
  input?: { text: string; isTTY: boolean };
}

export interface ExitResult {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

/** Runs a command that ends by itself as `main.ts` does. It must not import a file that another command of the same test imported with another text. */
export async function runCommand({
  cwd = createEmptyFolder(),
  args = [],
  env = {},
  input,
}: CommandOptions): Promise<ExitResult> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const printed = Promise.all([text(stdout), text(stderr)]);
  const stdin = Object.assign(new PassThrough(), { isTTY: input?.isTTY ?? false });
  stdin.end(input?.text);
  const host: Process = Object.assign(new EventEmitter() as Process, {
    env: { ...CHILD_ENV, ...env },
    cwd: () => cwd,
    platform: process.platform,
    pid: process.pid,
    exitCode: 0,
    ...{ stdin, stdout, stderr },
  });
  const previous = process.cwd();
  process.chdir(cwd);
  try {
    const commandLine = readCommandLine(args, COMMANDS);
    await commandLine.command.run(commandLine, host);
  } catch (error) {
    const { message, exitCode } = explainFailure(error);
    stderr.write(`${withoutControls(message)}\n`);
    host.exitCode = exitCode;
  } finally {
    process.chdir(previous);
    stdout.end();
    stderr.end();
  }
  const [outText, errText] = await printed;
  return { code: Number(host.exitCode), signal: null, stdout: outText, stderr: errText };
}
