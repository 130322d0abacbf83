import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { CHILD_ENV } from './child-env.ts';

const MAIN = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));

export interface ProcessOptions {
  /** The working directory: `.env` and the sandbox's file are looked for in it. */
  cwd: string;
  args?: readonly string[];
  /** All of the environment but PATH. @default none */
  env?: Readonly<Record<string, string>>;
  /** The program. @default src/cli/main.ts */
  main?: string;
}

export interface Ending {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

/** Notigraph as a process of its own, listening. */
export interface NotigraphProcess extends AsyncDisposable {
  /** The GraphQL endpoint. */
  readonly url: string;
  /** All that it has printed so far. */
  output(): string;
  /** Waits until it has printed this. */
  printed(stream: 'stdout' | 'stderr', pattern: RegExp): Promise<RegExpExecArray>;
  /** Sends a signal and waits for the end. */
  stop(signal: NodeJS.Signals): Promise<Ending>;
}

/** Runs Notigraph with what makes it end by itself. */
export async function runNotigraph(options: ProcessOptions): Promise<Ending> {
  const { child, ended } = startProcess(options);
  const fuse = setTimeout(() => child.kill('SIGKILL'), 20_000);
  const ending = await ended;
  clearTimeout(fuse);
  return ending;
}

/** Starts Notigraph on a free port, unless the arguments name one, and waits until it has said how to ask it. */
export async function startNotigraph({ args = [], ...options }: ProcessOptions): Promise<NotigraphProcess> {
  const { child, text, ended } = startProcess({
    ...options,
    args: ['--port', '0', ...args],
    // Nothing is shed because the machine is busy.
    env: { NOTIGRAPH_MAX_EVENT_LOOP_DELAY_MS: '60000', ...options.env },
  });

  async function printed(stream: 'stdout' | 'stderr', pattern: RegExp): Promise<RegExpExecArray> {
    for (;;) {
      const found = pattern.exec(text[stream]);
      if (found !== null) {
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

  async function stop(signal: NodeJS.Signals): Promise<Ending> {
    child.kill(signal);
    return ended;
  }

  const [, url = ''] = await printed(
    'stdout',
    /GraphQL +(\S+).*\n {2}Clients [^\n]*\n\n(?:Try it:.*\n {2}curl [^\n]*\n|\n)/s,
  );
  return {
    url,
    output: () => text.stdout + text.stderr,
    printed,
    stop,
    [Symbol.asyncDispose]: async () => void (await stop('SIGKILL')),
  };
}

function startProcess({ cwd, args = [], env = {}, main = MAIN }: ProcessOptions) {
  const child = spawn(process.execPath, [main, ...args], {
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
  const ended = once(child, 'close').then(([code, signal]): Ending => ({ code, signal, ...text }));
  return { child, text, ended };
}
