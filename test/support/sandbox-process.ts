import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { CHILD_ENV } from './child-env.ts';

const MAIN = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));

/** Sandbox running in a separate process. Disposing kills it, so that a failed test leaves no process behind. */
export interface SandboxProcess extends AsyncDisposable {
  url: string;
  /** Returns everything printed to stdout so far. */
  output(): string;
  /** Sends a signal and waits for the process to exit. */
  stop(signal: NodeJS.Signals): Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
}

/** Starts the sandbox in a separate process and waits until it listens. */
export async function spawnSandbox(...args: string[]): Promise<SandboxProcess> {
  const child = spawn(process.execPath, [MAIN, 'sandbox', '--port', '0', ...args], {
    env: CHILD_ENV,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      output += chunk;
      const [, address] = /listening on (\S+)\n.*curl .*\n/s.exec(output) ?? [];
      if (address !== undefined) {
        resolve(address);
      }
    });
    child.once('exit', (code) => reject(new Error(`The sandbox ended with ${code} before it listened`)));
  });
  const ended = ending(child);
  const stop = (signal: NodeJS.Signals) => {
    child.kill(signal);
    return ended;
  };
  return {
    url,
    output: () => output,
    stop,
    async [Symbol.asyncDispose]() {
      await stop('SIGKILL');
    },
  };
}

/** Runs the sandbox with flags that make it exit, and returns its result. */
export async function runSandbox(...args: string[]) {
  const child = spawn(process.execPath, [MAIN, 'sandbox', ...args], {
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
