// Starts a gateway in a process that measures itself.

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { createInterface } from 'node:readline';
import { CHILD_ENV } from './child-env.ts';
import { MAIN } from './process.ts';

const PROBE = new URL('probe.ts', import.meta.url).href;

/** Memory, CPU time and resources of the gateway process, as measured by its probe. */
export interface Vitals {
  rssMb: number;
  heapMb: number;
  /** Memory outside the heap that is referenced by objects in it, such as buffers. */
  externalMb: number;
  /** Longest uninterrupted CPU time of the event loop since the previous measurement. */
  longestBlockMs: number;
  /** CPU time of all threads since the process started. */
  cpuMs: number;
  /** Types of the resources that keep the process alive, such as sockets and timers. */
  resources: string[];
}

/** Gateway in a separate process that contains a probe. */
export type ProbedGateway = Awaited<ReturnType<typeof startProbedGateway>>;

export async function startProbedGateway(upstream: string, env: Readonly<Record<string, string>> = {}) {
  const child = fork(MAIN, ['--upstream', upstream, '--port', '0'], {
    cwd: tmpdir(), // Avoids reading a .env file of the working directory.
    env: { ...CHILD_ENV, NODE_ENV: 'production', ...env },
    execArgv: ['--expose-gc', '--import', PROBE],
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  const ended = once(child, 'close').then(([code]): number | null => code);
  const logLines = new Map<string, number>();
  const listening = Promise.withResolvers<string>();
  if (child.stdout === null || child.stderr === null) {
    throw new Error('The gateway has no output.');
  }
  createInterface({ input: child.stderr }).on('line', (line) => {
    // The upstreams of these tests are not the service, as the gateway warns.
    if (!line.includes("doesn't match the contract")) {
      process.stderr.write(`${line}\n`);
    }
  });
  createInterface({ input: child.stdout }).on('line', (line) => {
    const [, level] = /^\{"level":"(\w+)"/.exec(line) ?? [];
    if (level !== undefined) {
      logLines.set(level, (logLines.get(level) ?? 0) + 1);
    }
    const [, url] = /GraphQL +(http\S+)/.exec(line) ?? [];
    if (url !== undefined) {
      listening.resolve(url);
    }
  });
  ended.then((code) => listening.reject(new Error(`The gateway ended with ${code} before it listened.`)));

  // Requests are sent one at a time because responses carry no id.
  let lastRequest: Promise<unknown> = Promise.resolve();
  async function requestVitals(garbage: string): Promise<Vitals> {
    const received = once(child, 'message');
    child.send(garbage);
    const [vitals] = await received;
    return vitals;
  }

  return {
    /** URL of the GraphQL endpoint. */
    url: await listening.promise,
    pid: child.pid ?? 0,
    /** Number of log lines so far, by level. The lines are not kept. */
    logLines,
    /** Measures the process. @param garbage whether to collect garbage first */
    vitals(garbage: 'collect garbage' | 'keep garbage' = 'keep garbage'): Promise<Vitals> {
      const vitals = lastRequest.then(() => requestVitals(garbage));
      lastRequest = vitals;
      return vitals;
    },
    /** Sends SIGTERM. @returns the exit code, or null if the process was killed */
    stop(): Promise<number | null> {
      child.kill('SIGTERM');
      return ended;
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}
