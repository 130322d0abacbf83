// Sends load to the workers of a gateway, and ends some of them.

import { setTimeout as sleep } from 'node:timers/promises';
import { request } from 'undici';
import { SANDBOX_KEYS } from '../../packages/sandbox/src/sandbox.ts';
import { connectClients, runConcurrently } from './concurrent-load.ts';
import { metricValues } from './metrics-text.ts';
import type { NotigraphProcess } from './process.ts';

/** Options of `sendLoad`. */
export interface LoadOptions {
  /** Number of requests that must be answered. */
  requests: number;
  /** Number of connections, each with one request at a time. */
  connections: number;
  /** Whether each request has a connection of its own. @default false: connections stay open */
  reset?: boolean;
  /** Called after each response. */
  onAnswer?: (answered: number) => void;
}

/** Sends operations that need no upstream, each until it is answered. */
export async function sendLoad(url: string, { requests, connections, reset = false, onAnswer }: LoadOptions) {
  await using clients = connectClients(url, connections);
  /** Number of responses by status. */
  const statuses: Record<string, number> = {};
  let [answered, cutOff] = [0, 0];
  const operation = { query: '{ __typename }', authorization: `ApiKey ${SANDBOX_KEYS.development}`, reset };

  async function send(): Promise<void> {
    try {
      const { status } = await clients.send(operation);
      statuses[status] = (statuses[status] ?? 0) + 1;
      answered += 1;
      onAnswer?.(answered);
    } catch {
      cutOff += 1;
      await sleep(5);
      await send();
    }
  }

  await runConcurrently(requests, connections, send);
  return {
    statuses,
    /** Number of requests whose connection was closed before a response. They were sent again. */ cutOff,
  };
}

/** Waits for this number of log lines with the message. @returns the lines */
export async function waitForLogLines(notigraph: NotigraphProcess, message: string, count: number) {
  const end = `"msg":"${message}"}\n`;
  if (count > 0) {
    await notigraph.printed('stdout', new RegExp(end), count);
  }
  const lines = notigraph.output().split('\n');
  return lines.filter((line) => `${line}\n`.endsWith(end)).map((line) => JSON.parse(line));
}

/** Returns the values of a gateway's metrics whose lines match the pattern. */
export async function scrape(url: string, name: RegExp): Promise<Record<string, number>> {
  const response = await fetch(new URL('/metrics', url));
  return metricValues(await response.text(), name);
}

/** Ends a worker that listens, by SIGKILL. @throws if none is known from the log */
export function killWorker(notigraph: NotigraphProcess): void {
  const [pid] = findWorkerPids(notigraph);
  if (pid === undefined) {
    throw new Error('No worker has logged anything yet.');
  }
  process.kill(pid, 'SIGKILL');
}

/** Returns the process ids of the workers that listen, in the order in which they started. */
export function findWorkerPids(notigraph: NotigraphProcess): number[] {
  const pids = new Set<number>();
  for (const line of notigraph.output().split('\n').slice(0, -1)) {
    // What follows the last line end may be half a line.
    const { pid, workerPid, msg } = line.startsWith('{') ? JSON.parse(line) : {};
    if (msg === 'operation') {
      pids.add(pid);
    } else if (msg === 'a worker listens in its place') {
      pids.add(workerPid);
    } else {
      pids.delete(workerPid); // It ended or retires.
    }
  }
  return [...pids];
}

/** Whether a process runs. */
export function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** Sends an operation on a new connection, which goes to the next worker in turn. */
export async function askNextWorker(url: string, query: string): Promise<unknown> {
  const { body } = await request(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `ApiKey ${SANDBOX_KEYS.development}` },
    body: JSON.stringify({ query }),
    reset: true,
  });
  return body.json();
}

/** Sends operations one after the other. @returns the process ids of the workers that answered them */
export async function askWorkers(notigraph: NotigraphProcess, count: number): Promise<number[]> {
  const before = (await waitForLogLines(notigraph, 'operation', 0)).length;
  for (let i = 0; i < count; i += 1) {
    await askNextWorker(notigraph.url, '{ __typename }');
  }
  return (await waitForLogLines(notigraph, 'operation', before + count)).slice(before).map(({ pid }) => pid);
}

/** Sends operations until so many workers have answered one: on a busy machine, one may miss its turn. @returns their process ids */
export async function findWorkers(notigraph: NotigraphProcess, count: number): Promise<number[]> {
  const pids = new Set<number>();
  for (let round = 0; round < 10 && pids.size < count; round += 1) {
    for (const pid of await askWorkers(notigraph, count)) {
      pids.add(pid);
    }
  }
  return [...pids];
}

/** Returns the environment that makes processes run some code before they run Notigraph. `id` is the number of the worker. */
export const runBefore = (code: string) => ({
  NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(`const id = Number(process.env.NOTIGRAPH_WORKER_ID ?? 0); ${code}`)}`,
});

/** Returns the environment that makes processes exit before they run Notigraph, by a condition on the number of the worker. */
export const exitIf = (condition: string) => runBefore(`if (${condition}) process.exit(7)`);
