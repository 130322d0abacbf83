import { fork } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { CHILD_ENV } from './child-env.ts';

const MAIN = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));
const PROBE = new URL('probe.ts', import.meta.url).href;

/** How the process is, by itself. */
export interface Vitals {
  rssMb: number;
  heapMb: number;
  /** Memory outside of the heap that objects in it hold, such as buffers. */
  externalMb: number;
  /** The longest time that the event loop was kept busy at a stretch since it was asked last. */
  longestBlockMs: number;
  /** Time on the processor since the start, of all threads. */
  cpuMs: number;
  /** Sockets, timers and the like that keep it alive, by kind. */
  resources: string[];
}

/** The gateway as a process of its own, with a probe in it. Its log is counted, not kept. */
export interface ProbedGateway extends AsyncDisposable {
  /** The GraphQL endpoint. */
  readonly url: string;
  /** Lines of the log so far, by pino's level. */
  readonly logLines: ReadonlyMap<number, number>;
  /** @param garbage whether garbage is collected first */
  vitals(garbage?: 'collect garbage' | 'keep garbage'): Promise<Vitals>;
  /** Sends SIGTERM. @returns the exit code; null: it was killed */
  stop(): Promise<number | null>;
}

export async function startProbedGateway(
  upstream: string,
  env: Readonly<Record<string, string>> = {},
): Promise<ProbedGateway> {
  const child = fork(MAIN, ['--upstream', upstream, '--port', '0'], {
    cwd: tmpdir(), // Not where a .env may be.
    env: { ...CHILD_ENV, NODE_ENV: 'production', ...env },
    execArgv: ['--expose-gc', '--import', PROBE],
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  const ended = once(child, 'close').then(([code]): number | null => code);
  const logLines = new Map<number, number>();
  const listening = Promise.withResolvers<string>();
  if (child.stdout === null) {
    throw new Error('The gateway has no output.');
  }
  createInterface({ input: child.stdout }).on('line', (line) => {
    const [, level] = /^\{"level":(\d+)/.exec(line) ?? [];
    if (level !== undefined) {
      logLines.set(Number(level), (logLines.get(Number(level)) ?? 0) + 1);
    }
    const [, url] = /GraphQL +(http\S+)/.exec(line) ?? [];
    if (url !== undefined) {
      listening.resolve(url);
    }
  });
  ended.then((code) => listening.reject(new Error(`The gateway ended with ${code} before it listened.`)));

  /** One question at a time: answers carry no name. */
  let asked: Promise<unknown> = Promise.resolve();
  async function ask(garbage: string): Promise<Vitals> {
    const answered = once(child, 'message');
    child.send(garbage);
    const [vitals] = await answered;
    return vitals;
  }

  return {
    url: await listening.promise,
    logLines,
    vitals(garbage = 'keep garbage') {
      const answer = asked.then(() => ask(garbage));
      asked = answer;
      return answer;
    },
    stop() {
      child.kill('SIGTERM');
      return ended;
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}
