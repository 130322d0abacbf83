// Runs the sandbox in separate processes.

import { tmpdir } from 'node:os';
import { runCommand } from './command.ts';
import { runNotigraph, spawnNotigraph } from './process.ts';

/** Starts the sandbox in a separate process and waits until it listens. Disposing kills it, so that a failed test leaves no process behind. */
export const spawnSandbox = (...args: string[]) => spawnLimitedSandbox(undefined, ...args);

/** Starts a sandbox whose files can't grow beyond so many blocks of 512 bytes, as on a full disk. */
export async function spawnLimitedSandbox(maxFileBlocks: number | undefined, ...args: string[]) {
  const running = spawnNotigraph({ cwd: tmpdir(), args: ['sandbox', '--port', '0', ...args], maxFileBlocks });
  const [, url = ''] = await running.printed('stdout', /listening on (\S+)\n.*curl .*\n/s);
  return {
    url,
    output: () => running.outputOf('stdout'),
    errors: () => running.outputOf('stderr'),
    async stop(name: NodeJS.Signals) {
      const { code, signal } = await running.stop(name);
      return { code, signal };
    },
    [Symbol.asyncDispose]: () => running[Symbol.asyncDispose](),
  };
}

/** Runs a command of the sandbox that ends by itself. */
export async function runSandbox(...args: string[]) {
  const { code, stdout, stderr } = await runCommand({ args: ['sandbox', ...args] });
  return { code, stdout, stderr };
}

/** Runs a sandbox whose files can't grow beyond so many blocks of 512 bytes, and returns its result. */
export async function runLimitedSandbox(maxFileBlocks: number, ...args: string[]) {
  const { code, stdout, stderr } = await runNotigraph({ cwd: tmpdir(), args: ['sandbox', ...args], maxFileBlocks });
  return { code, stdout, stderr };
}
