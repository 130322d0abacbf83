// Starts and stops the processes of a run: the canned upstream and the subjects.

import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync, readFileSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { findFreePort } from '../test/support/listen.ts';
import { cpuUs, peakRssBytes, rssBytes } from './accounting.ts';
import { sendOnce } from './requests.ts';
import type { Subject } from './subjects.ts';
import { WORKLOADS, type Workload } from './workloads.ts';

/** Canned upstream that is running. */
export type RunningUpstream = Awaited<ReturnType<typeof startUpstream>>;

/** Starts the canned upstream in a separate process. */
export async function startUpstream() {
  const child = fork(new URL('upstream/main.ts', import.meta.url));
  const next = async (): Promise<unknown> => (await once(child, 'message'))[0];
  const url = String(await next());
  async function send(message: number | 'count'): Promise<number> {
    const requests = next();
    child.send(message);
    return Number(await requests);
  }
  return {
    url,
    /** Sets the response time, in milliseconds. @returns the number of requests received so far */
    setLatency: (latencyMs = 0) => send(latencyMs),
    /** Returns the number of requests received so far. */
    count: () => send('count'),
    [Symbol.asyncDispose]: () => stop(child),
  };
}

/** Subject that is running. */
export type RunningSubject = Awaited<ReturnType<typeof startSubject>>;

/** Kills a child process when this process exits or is interrupted. */
function killOnExit(child: ChildProcess): void {
  const kill = () => child.kill('SIGKILL');
  const interrupt = () => process.exit(130); // Runs the listeners of `exit`.
  process.once('exit', kill).once('SIGINT', interrupt).once('SIGTERM', interrupt);
  child.once('exit', () => {
    process.off('exit', kill).off('SIGINT', interrupt).off('SIGTERM', interrupt);
  });
}

/** Long enough for a start under valgrind on a busy machine. */
const START_TIMEOUT_MS = 600_000;

/** Starts a subject and waits for its first response. Its output is written to a log file in the folder. */
export async function startSubject(subject: Subject, upstream: string, folder: string) {
  const port = await findFreePort();
  const { file, args, env, hasChannel = false } = subject.command({ port, upstream });
  const log = join(folder, `${subject.name}.log`);
  const output = openSync(log, 'a');
  const startedAt = performance.now();
  const child = spawn(file, args, {
    stdio: ['ignore', output, output, ...(hasChannel ? ['ipc' as const] : [])],
    env: { PATH: process.env.PATH, ...env },
  });
  killOnExit(child);
  const { pid } = child;
  if (pid === undefined) {
    throw new Error(`${subject.title} can't be started: ${file}`);
  }
  const url = `http://127.0.0.1:${port}`;
  const deadline = startedAt + START_TIMEOUT_MS;
  while (!(await isResponding(subject, url))) {
    if (child.exitCode !== null || performance.now() > deadline) {
      await stop(child);
      throw new Error(`${subject.title} did not respond: ${readFileSync(log, 'utf8').slice(-2_000)}`);
    }
    // Rarer as time passes, because each try takes a port, which could be the one that the subject will listen on.
    await sleep(Math.max(2, (performance.now() - startedAt) / 100));
  }
  return {
    subject,
    url,
    /** Time from the start of the process to its first response, in milliseconds. */
    startMs: performance.now() - startedAt,
    child,
    /** Returns the CPU time of its processes so far, in microseconds. */
    cpuUs: () => cpuUs(pid),
    /** Returns the resident memory of its processes, in bytes. */
    rssBytes: () => rssBytes(pid),
    /** Returns the peak resident memory of its processes, in bytes. */
    peakRssBytes: () => peakRssBytes(pid),
    /** Empties its log file, so that the disk doesn't fill up. */
    emptyLog: () => truncateSync(log),
    [Symbol.asyncDispose]: () => stop(child),
  };
}

/** Returns a subject's first workload. */
export const firstWorkloadOf = ({ requests }: Subject): Workload =>
  Object.values(WORKLOADS).find(({ name }) => requests[name] !== undefined) ?? WORKLOADS.q1;

/** Returns whether the subject responds to its first workload. Wrong responses are found later. */
async function isResponding(subject: Subject, url: string): Promise<boolean> {
  const workload = firstWorkloadOf(subject);
  try {
    await sendOnce(url, workload, subject.requests[workload.name] ?? {});
    return true;
  } catch (error) {
    return !(error instanceof TypeError); // From fetch: the port isn't open yet.
  }
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) {
    return;
  }
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  const killTimer = setTimeout(() => child.kill('SIGKILL'), 5_000);
  await ended;
  clearTimeout(killTimer);
}
