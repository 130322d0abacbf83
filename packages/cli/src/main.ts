// The entry point of the command, and the only file that uses the global `process`.

import { setTimeout } from 'node:timers/promises';
import { VERSION } from '../../../src/lib/installation.ts';
import type { Process } from './command.ts';
import { readCommandLine } from './command-line.ts';
import { COMMANDS } from './commands/index.ts';
import { explainFailure } from './explain-failure.ts';
import { writeHelp } from './help.ts';
import { endWithShellOfNpm } from './signals.ts';
import { withoutControls } from './text.ts';

const write = process.stdout.write.bind(process.stdout);

async function main(): Promise<void> {
  const commandLine = readCommandLine(process.argv.slice(2), COMMANDS);
  const { command, isNamed, options } = commandLine;
  if (options.help !== undefined) {
    process.stdout.write(writeHelp(isNamed ? command : undefined, COMMANDS));
  } else if (options.version !== undefined) {
    process.stdout.write(`${VERSION}\n`);
  } else {
    await command.run(commandLine, command.name === 'serve' ? process : reserveOutput());
  }
}

/**
 * Returns the process for a command. What others print then, such as a module with `console.log`, goes to standard error: the command's own output can be
 * data. That of `serve` is a log, to which such lines belong.
 */
function reserveOutput(): Process {
  process.stdout.write = process.stderr.write.bind(process.stderr);
  return override(process, 'stdout', override(process.stdout, 'write', write));
}

/** Returns an object with another value of a member. */
const override = <Target extends object>(object: Target, name: string, value: unknown): Target =>
  new Proxy(object, { get: (target, key) => (key === name ? value : Reflect.get(target, key)) });

/**
 * Ignores that the reader of the output or the terminal is gone, as in `notigraph --help | head -1`, and reports a full disk. A gateway keeps serving
 * without its log, and finishes its requests when it is stopped.
 */
function onOutputError(error: NodeJS.ErrnoException): void {
  if (error.code === 'ENOSPC' || error.code === 'EDQUOT') {
    process.exitCode ??= 1;
    process.stderr.write(`The output can't be written, because the disk is full (${error.code}).\n`);
  } else if (error.code !== 'EPIPE' && error.code !== 'EIO') {
    throw error;
  }
}

endWithShellOfNpm(process); // First: the shell may end while this process starts.
process.stdout.on('error', onOutputError);
process.stderr.on('error', () => {}); // There is no other place to report it.

try {
  await main();
} catch (error) {
  const { message, exitCode } = explainFailure(error);
  process.stderr.write(`${withoutControls(message)}\n`);
  process.exitCode = exitCode;
}
/** Runs what waits for the end of the process, such as the export of the last spans, for at most 5 s. */
async function finish(): Promise<void> {
  const listeners = process.listeners('beforeExit');
  const ends = listeners.map(
    async (listener): Promise<unknown> => listener.call(process, Number(process.exitCode ?? 0)),
  );
  if ((await Promise.race([Promise.allSettled(ends), setTimeout(5_000, 'late')])) === 'late') {
    process.stderr.write('The process ends although its work is not finished, such as the export of the last spans.\n');
  }
}

// Timers and connections of modules, and what an error leaves open, must not keep the process alive.
await finish();
write('', () => process.stderr.write('', () => process.exit()));
