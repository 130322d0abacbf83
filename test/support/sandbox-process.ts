import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { CHILD_ENV } from './child-env.ts';
import { MAIN } from './process.ts';

/** Sandbox running in a separate process. Disposing kills it, so that a failed test leaves no process behind. */
export interface SandboxProcess extends AsyncDisposable {
  url: string;
  /** Returns everything printed to stdout so far. */
  output(): string;
  /** Returns everything printed to stderr so far. */
  errors(): string;
  /** Sends a signal and waits for the process to exit. */
  stop(signal: NodeJS.Signals): Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
}

/** Returns the command that runs the sandbox, with a maximum size of its files. */
const commandOf = (args: readonly string[], maxBlocks?: number): [program: string, args: string[]] =>
  maxBlocks === undefined
    ? [process.execPath, [MAIN, 'sandbox', ...args]]
    : ['sh', ['-c', 'ulimit -f "$0" && exec "$@"', String(maxBlocks), process.execPath, MAIN, 'sandbox', ...args]];

/** Starts the sandbox in a separate process and waits until it listens. */
export const spawnSandbox = (...args: string[]): Promise<SandboxProcess> => spawnLimitedSandbox(undefined, ...args);

/** Starts a sandbox whose files can't grow beyond so many blocks of 512 bytes, as on a full disk. */
export async function spawnLimitedSandbox(maxBlocks: number | undefined, ...args: string[]): Promise<SandboxProcess> {
  const child = spawn(...commandOf(['--port', '0', ...args], maxBlocks), {
    env: CHILD_ENV,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [output, errors] = ['', ''];
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    errors += chunk;
  });
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      output += chunk;
      const [, address] = /listening on (\S+)\n.*curl .*\n/s.exec(output) ?? [];
      if (address !== undefined) {
        resolve(address);
      }
    });
    child.once('exit', (code) => reject(new Error(`The sandbox ended with ${code} before it listened:\n${errors}`)));
  });
  const ended = ending(child);
  const stop = (signal: NodeJS.Signals) => {
    child.kill(signal);
    return ended;
  };
  return {
    url,
    output: () => output,
    errors: () => errors,
    stop,
    async [Symbol.asyncDispose]() {
      await stop('SIGKILL');
    },
  };
}

/** Runs the sandbox with flags that make it exit, and returns its result. */
export const runSandbox = (...args: string[]) => runLimitedSandbox(undefined, ...args);

/** Runs a sandbox whose files can't grow beyond so many blocks of 512 bytes, and returns its result. */
export async function runLimitedSandbox(maxBlocks: number | undefined, ...args: string[]) {
  const child = spawn(...commandOf(args, maxBlocks), {
    env: CHILD_ENV,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (chunk) => {
    stdout += chunk;
  });
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
  });
  const [code] = await once(child, 'close');
  return { code, stdout, stderr };
}

async function ending(child: ChildProcess) {
  const [code, signal] = await once(child, 'exit');
  return { code, signal };
}
