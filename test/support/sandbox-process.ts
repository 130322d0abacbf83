import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { CHILD_ENV } from './child-env.ts';

const MAIN = fileURLToPath(new URL('../../src/cli/sandbox.ts', import.meta.url));

/** Disposing kills the process if it still runs, so that a failed test leaves none behind. */
export interface SandboxProcess extends AsyncDisposable {
  url: string;
  /** All of stdout so far. */
  output(): string;
  /** Sends the signal and waits for the end. */
  stop(signal: NodeJS.Signals): Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
}

/** Starts the sandbox as a process of its own and waits until it listens. */
export async function spawnSandbox(...args: string[]): Promise<SandboxProcess> {
  const child = spawn(process.execPath, [MAIN, '--port', '0', ...args], {
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

/** Runs the sandbox with flags that make it end by itself. */
export async function runSandbox(...args: string[]) {
  const child = spawn(process.execPath, [MAIN, ...args], { env: CHILD_ENV, stdio: ['ignore', 'pipe', 'pipe'] });
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
