import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { CHILD_ENV } from './child-env.ts';
import type { CommandOptions, ExitResult } from './command.ts';
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
    // Prevents load shedding on a busy machine.
    env: { NOTIGRAPH_MAX_EVENT_LOOP_DELAY_MS: '60000', ...options.env },
  });
  const [, url = ''] = await running.printed(
    'stdout',
    options.env?.NODE_ENV === 'production'
      ? /GraphQL +(\S+).*\n {2}Health [^\n]*\n\n/s
      : /GraphQL +(\S+).*\n {2}Health [^\n]*\n\n(?:Try it[^\n]*\n\n(?: {2}[^\n]+\n)+|To [^\n]+\n)\n/s,
  );
  return { ...running, /** URL of the GraphQL endpoint. */ url };
}

/** Starts Notigraph with any command. */
export function spawnNotigraph(options: ProcessOptions) {
  const { child, text, ended } = startProcess(options);

  /** Waits until the output matches the pattern `times` times, by default once. @returns the last match */
  async function printed(stream: 'stdout' | 'stderr', pattern: RegExp, times = 1): Promise<RegExpExecArray> {
    const every = new RegExp(pattern, `${pattern.flags}g`);
    for (;;) {
      const found = [...text[stream].matchAll(every)][times - 1];
      if (found !== undefined) {
        return found;
      }
      if (child.exitCode !== null || child.signalCode !== null) {
        throw new Error(
          `Notigraph ended with ${child.exitCode ?? child.signalCode} first:\n${text.stdout}${text.stderr}`,
        );
      }
      await Promise.race([once(child[stream], 'data'), ended]);
    }
  }

  /** Sends a signal and waits for the process to exit. */
  async function stop(signal: NodeJS.Signals): Promise<ExitResult> {
    child.kill(signal);
    return ended;
  }

  return {
    pid: child.pid ?? 0,
    /** Its result, once it has exited. */
    ended,
    /** Returns everything printed so far. */
    output: () => text.stdout + text.stderr,
    /** Returns everything printed to one stream so far. */
    outputOf: (stream: 'stdout' | 'stderr') => text[stream],
    printed,
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
  } = options;
  const limits = Object.entries({ f: options.maxFileBlocks, n: options.maxOpenFiles });
  const limit = limits.flatMap(([name, max]) =>
    max === undefined ? [] : ['sh', '-c', `ulimit -${name} "$0" && exec "$@"`, String(max)],
  );
  const [program = '', ...words] = [...limit, node, ...nodeArgs, main, ...args];
  const child = spawn(program, words, {
    cwd,
    env: { ...CHILD_ENV, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const text = { stdout: '', stderr: '' };
  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream].setEncoding('utf8').on('data', (chunk: string) => {
      text[stream] += chunk;
    });
  }
  const ended = once(child, 'close').then(([code, signal]): ExitResult => ({ code, signal, ...text }));
  return { child, text, ended };
}
