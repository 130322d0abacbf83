// Runs the command in separate processes.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { CHILD_ENV } from './child-env.ts';
import { type CommandOptions, type ExitResult, followOutput, SERVING_ENV } from './command.ts';
import { createEmptyFolder } from './sandbox-files.ts';

/** Program of the command, as npm packs it. Vitest builds it before the tests. */
export const MAIN = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));

export interface ProcessOptions extends Omit<CommandOptions, 'input'> {
  /** Port of a gateway. @default a free one */
  port?: number;
  /** Program of Node.js. @default the one that runs the tests */
  node?: string;
  /** Options of Node.js. @default none */
  nodeArgs?: readonly string[];
  /** Program to run. @default MAIN */
  main?: string;
  /** Command line that runs another one, such as that of `mapNames`. @default none */
  wrapper?: readonly string[];
  /** Maximum size of the files that it writes, in blocks of 512 bytes, as on a full disk. @default unlimited */
  maxFileBlocks?: number | undefined;
  /** Maximum number of open files. @default that of the tests */
  maxOpenFiles?: number | undefined;
}

/** Gateway running in a separate process. */
export type NotigraphProcess = Awaited<ReturnType<typeof startNotigraph>>;

/** Runs Notigraph with options that make it exit, and returns its result. */
export async function runNotigraph(options: ProcessOptions): Promise<ExitResult> {
  const { child, ended } = startProcess(options);
  const killTimer = setTimeout(() => child.kill('SIGKILL'), 50_000);
  const result = await ended;
  clearTimeout(killTimer);
  return result;
}

/** Starts Notigraph, on a free port unless the arguments name one, and waits until it has printed its banner. */
export async function startNotigraph({ args = [], port = 0, ...options }: ProcessOptions = {}) {
  const running = spawnNotigraph({
    ...options,
    args: ['--port', `${port}`, ...args],
    env: { ...SERVING_ENV, ...options.env },
  });
  return { ...running, /** URL of the GraphQL endpoint. */ url: await running.url(options.env?.NODE_ENV) };
}

/** Starts Notigraph with any command. */
export function spawnNotigraph(options: ProcessOptions) {
  const { child, text, ended, ...printing } = startProcess(options);

  /** Sends a signal and waits for the process to exit. */
  async function stop(signal: NodeJS.Signals): Promise<ExitResult> {
    child.kill(signal);
    return ended;
  }

  return {
    ...printing,
    pid: child.pid ?? 0,
    /** Its result, once it has exited. */
    ended,
    /** Sends a signal. */
    signal: (name: NodeJS.Signals) => void child.kill(name),
    /** Closes the reading ends of its output, as a reader that has ended does. */
    closeOutput(): void {
      child.stdout.destroy();
      child.stderr.destroy();
    },
    stop,
    [Symbol.asyncDispose]: async () => void (await stop('SIGKILL')),
  };
}

function startProcess(options: ProcessOptions) {
  const {
    cwd = createEmptyFolder(),
    node = process.execPath,
    nodeArgs = [],
    args = [],
    env = {},
    main = MAIN,
    wrapper = [],
  } = options;
  const limits = Object.entries({ Sf: options.maxFileBlocks, n: options.maxOpenFiles });
  const limit = limits.flatMap(([name, max]) =>
    max === undefined ? [] : ['sh', '-c', `ulimit -${name} "$0" && exec "$@"`, String(max)],
  );
  const [program = '', ...words] = [...limit, ...wrapper, node, ...nodeArgs, main, ...args];
  const child = spawn(program, words, {
    cwd,
    env: { ...CHILD_ENV, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const { text, ...printing } = followOutput(child);
  const ended = once(child, 'close').then(([code, signal]): ExitResult => ({ code, signal, ...text }));
  return { child, text, ended, ...printing };
}
