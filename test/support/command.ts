// Runs commands in the process of the tests, which saves the start of another one.

import { EventEmitter } from 'node:events';
import { PassThrough, type Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import type { Process } from '../../packages/cli/src/command.ts';
import { readCommandLine } from '../../packages/cli/src/command-line.ts';
import { COMMANDS } from '../../packages/cli/src/commands/index.ts';
import { explainFailure } from '../../packages/cli/src/explain-failure.ts';
import { withoutControls } from '../../packages/cli/src/text.ts';
import { CHILD_ENV } from './child-env.ts';
import { ROOT } from './docs.ts';
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
export const runCommand = (options: CommandOptions): Promise<ExitResult> => startCommand(options).ended;

/** Gateway that the command serves in the process of the test. */
export type ServedCommand = Awaited<ReturnType<typeof startServing>>;

/**
 * Starts the command on a free port, and waits until it has printed its banner. Use it for what isn't about a process: one of its own takes a second of
 * CPU time. It handles no SIGHUP, because that ends what runs in a terminal.
 */
export async function startServing({ args = [], env = {}, ...options }: CommandOptions = {}) {
  const command = startCommand({
    ...options,
    args: ['--port', '0', ...args],
    // Idle connections of tests are closed soon, and the log is that of a process whose output is no terminal.
    env: { NOTIGRAPH_DRAIN_TIMEOUT_MS: '100', NOTIGRAPH_LOG_FORMAT: 'json', ...SERVING_ENV, ...env },
  });
  Object.assign(command.stdout, { isTTY: true }); // Only a terminal gets the log through a stream.
  const url = await command.url(env.NODE_ENV);
  return {
    ...command,
    /** URL of the GraphQL endpoint. */
    url,
    [Symbol.asyncDispose]: async () => void (await command.stop('SIGTERM')),
  };
}

/** Runs a command in the process of the test, in its own working directory. */
function startCommand({ cwd = createEmptyFolder(), args = [], env = {}, input }: CommandOptions) {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const stdin = Object.assign(new PassThrough(), { isTTY: input?.isTTY ?? false });
  stdin.end(input?.text);
  const host: Process = Object.assign(new EventEmitter() as Process, {
    env: { ...CHILD_ENV, ...env },
    cwd: () => cwd,
    platform: process.platform,
    pid: process.pid,
    exitCode: 0,
    ...{ cpuUsage: process.cpuUsage, memoryUsage: process.memoryUsage, uptime: process.uptime },
    ...{ stdin, stdout, stderr },
  });
  const { text, ...printing } = followOutput({ stdout, stderr });
  async function run(): Promise<ExitResult> {
    process.chdir(cwd);
    try {
      const commandLine = readCommandLine(args, COMMANDS);
      await commandLine.command.run(commandLine, host);
    } catch (error) {
      const { message, exitCode } = explainFailure(error);
      stderr.write(`${withoutControls(message)}\n`);
      host.exitCode = exitCode;
    } finally {
      process.chdir(ROOT); // Several commands can run at a time, so that the folder before may be gone.
    }
    const printed = Promise.all([finished(stdout), finished(stderr)]);
    stdout.end();
    stderr.end();
    await printed;
    return { code: Number(host.exitCode), signal: null, ...text };
  }
  const ended = run();
  let isStopping = false;
  return {
    stdout,
    ...printing,
    /** Its result, once it has ended. */
    ended,
    /** Lets it handle a signal. */
    signal: (name: NodeJS.Signals) => void host.emit(name, name),
    /** Lets it handle a signal, unless it is already stopping, and waits until it has ended. */
    stop(name: NodeJS.Signals): Promise<ExitResult> {
      if (!isStopping) {
        isStopping = true;
        host.emit(name, name);
      }
      return ended;
    },
  };
}

/** Prevents load shedding on a busy machine. */
export const SERVING_ENV = { NOTIGRAPH_MAX_EVENT_LOOP_DELAY_MS: '60000' };

/** Collects what a command prints. */
export function followOutput(streams: Readonly<Record<'stdout' | 'stderr', Readable>>) {
  const text = { stdout: '', stderr: '' };
  let changed = Promise.withResolvers<void>();
  const onChange = () => {
    changed.resolve();
    changed = Promise.withResolvers();
  };
  for (const stream of ['stdout', 'stderr'] as const) {
    streams[stream].setEncoding('utf8').on('end', onChange);
    streams[stream].on('data', (chunk: string) => {
      text[stream] += chunk;
      onChange();
    });
  }

  /** Waits until the output matches the pattern `times` times, by default once. @returns the last match */
  async function printed(stream: 'stdout' | 'stderr', pattern: RegExp, times = 1): Promise<RegExpExecArray> {
    const every = new RegExp(pattern, `${pattern.flags}g`);
    for (;;) {
      const found = [...text[stream].matchAll(every)][times - 1];
      if (found !== undefined) {
        return found;
      }
      if (streams[stream].readableEnded) {
        throw new Error(`Notigraph ended first:\n${text.stdout}${text.stderr}`);
      }
      await changed.promise;
    }
  }

  return {
    text,
    /** Returns everything printed so far. */
    output: () => text.stdout + text.stderr,
    /** Returns everything printed to one stream so far. */
    outputOf: (stream: 'stdout' | 'stderr') => text[stream],
    printed,
    /** Waits until the banner is printed. @returns the URL of the GraphQL endpoint */
    async url(nodeEnv?: string): Promise<string> {
      const [, url = ''] = await printed(
        'stdout',
        nodeEnv === 'production'
          ? /GraphQL +(\S+).*\n {2}Health [^\n]*\n\n/s
          : /GraphQL +(\S+).*\n {2}Health [^\n]*\n\n(?:Try it[^\n]*\n\n(?: {2}[^\n]+\n)+|To [^\n]+\n)\n/s,
      );
      return url;
    },
  };
}
