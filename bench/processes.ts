import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync, readFileSync, truncateSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { cpuUs, peakRssBytes, rssBytes } from './accounting.ts';
import { askOnce } from './requests.ts';
import type { Subject } from './subjects.ts';
import type { UpstreamReport, UpstreamSettings } from './upstream/settings.ts';
import { WORKLOADS } from './workloads.ts';

export interface RunningUpstream extends AsyncDisposable {
  url: string;
  /** Takes new settings. @returns how many requests it has had so far */
  apply(settings: UpstreamSettings): Promise<number>;
  /** How many requests it has had so far. */
  count(): Promise<number>;
}

/** Starts the canned upstream in a process of its own. */
export async function startUpstream(): Promise<RunningUpstream> {
  const child = fork(new URL('upstream/main.ts', import.meta.url));
  const next = async () => ((await once(child, 'message')) as [UpstreamReport])[0];
  const listening = await next();
  if (listening.kind !== 'listening') {
    throw new Error('The canned upstream did not start.');
  }
  async function ask(question: UpstreamSettings | 'count'): Promise<number> {
    const answer = next();
    child.send(question);
    const report = await answer;
    return report.kind === 'requests' ? report.requests : 0;
  }
  return {
    url: listening.url,
    apply: ask,
    count: () => ask('count'),
    [Symbol.asyncDispose]: () => stop(child),
  };
}

export interface RunningSubject extends AsyncDisposable {
  subject: Subject;
  url: string;
  /** From the start of the process to its first answer, in milliseconds. */
  startMs: number;
  child: ChildProcess;
  /** CPU time of its processes so far, in microseconds. */
  cpuUs(): number;
  /** Memory of its processes that is resident now, in bytes. */
  rssBytes(): number;
  /** The most memory that was resident so far, in bytes. */
  peakRssBytes(): number;
  /** Empties the file that it logs to, so that the disk does not fill. */
  emptyLog(): void;
}

/** A run that is broken off leaves nothing behind. */
function endWithThisProcess(child: ChildProcess): void {
  const end = () => child.kill('SIGKILL');
  const breakOff = () => process.exit(130); // Runs the listeners of `exit`.
  process.once('exit', end).once('SIGINT', breakOff).once('SIGTERM', breakOff);
  child.once('exit', () => {
    process.off('exit', end).off('SIGINT', breakOff).off('SIGTERM', breakOff);
  });
}

/** Starts a subject and waits for its first answer. What it writes goes to a file in the folder, as it would to a collector. */
export async function startSubject(
  subject: Subject,
  upstream: string,
  folder: string,
  isReady: (url: string) => Promise<boolean> = (url) => answers(subject, url),
): Promise<RunningSubject> {
  const port = await freePort();
  const { file, args, env, hasChannel = false } = subject.command({ port, upstream });
  const log = join(folder, `${subject.name}.log`);
  const output = openSync(log, 'a');
  const startedAt = performance.now();
  const child = spawn(file, args, {
    stdio: ['ignore', output, output, ...(hasChannel ? ['ipc' as const] : [])],
    env: { PATH: process.env.PATH, ...env },
  });
  endWithThisProcess(child);
  const { pid } = child;
  if (pid === undefined) {
    throw new Error(`${subject.title} could not be started: ${file}`);
  }
  const url = `http://127.0.0.1:${port}`;
  const until = startedAt + 60_000;
  while (!(await isReady(url))) {
    if (child.exitCode !== null || performance.now() > until) {
      await stop(child);
      throw new Error(`${subject.title} did not answer: ${readFileSync(log, 'utf8').slice(-2_000)}`);
    }
    await sleep(2);
  }
  return {
    subject,
    url,
    startMs: performance.now() - startedAt,
    child,
    cpuUs: () => cpuUs(pid),
    rssBytes: () => rssBytes(pid),
    peakRssBytes: () => peakRssBytes(pid),
    emptyLog: () => truncateSync(log),
    [Symbol.asyncDispose]: () => stop(child),
  };
}

/** Whether it gives any answer to the first of its workloads; a wrong one is found later. */
async function answers({ requests }: Subject, url: string): Promise<boolean> {
  const workload = Object.values(WORKLOADS).find(({ name }) => requests[name] !== undefined);
  const request = workload && requests[workload.name];
  try {
    await (request && askOnce(url, workload, request));
    return true;
  } catch (error) {
    return !(error instanceof TypeError); // That is how fetch says that nobody listens yet.
  }
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) {
    return;
  }
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  const fuse = setTimeout(() => child.kill('SIGKILL'), 5_000);
  await ended;
  clearTimeout(fuse);
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo; // It listens on a port, thus has one.
  server.close();
  await once(server, 'close');
  return port;
}
