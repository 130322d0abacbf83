import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { load } from './load.ts';
import { type RunningUpstream, startSubject } from './processes.ts';
import { createRequests } from './requests.ts';
import { median } from './statistics.ts';
import { FLOOR, PACKAGED, type Subject, WITH_MODULE } from './subjects.ts';
import { WORKLOADS, type WorkloadName } from './workloads.ts';

// Counts instructions with valgrind's callgrind. Unlike CPU time, the result depends neither on other load nor on memory and caches.

const COUNTED: readonly WorkloadName[] = ['q1', 'm1', 'twin'];
/** Starts of each subject. What V8 compiles differs from one to the next, and instructions with it by up to 2 %. */
const STARTS = 3;
const CONNECTIONS = 8;
const WARM_UP = 3_000;
/** Requests after callgrind is switched on. It translates all code again, so some of them may time out. */
const FIRST = 20;
const SLICE = 100;
const SLICES = 6;
/** Longest wait for a response: a busy machine may run each process only now and then. */
const STALL_TIMEOUT_MS = 300_000;

/**
 * Flags of Node.js. Hot code is compiled after a fifth of the usual calls, because a request under valgrind takes milliseconds. The young
 * generation is collected often enough for V8 not to collect the old one, which would discard compiled code.
 */
const NODE_FLAGS = [
  '--invocation-count-for-maglev=80',
  '--invocation-count-for-turbofan=600',
  '--minimum-invocations-after-ic-update=100',
  '--min-semi-space-size=16',
  '--max-semi-space-size=16',
];

const CLOCK = new URL('slow-clock.ts', import.meta.url).href;

/** Whether valgrind is installed. */
export const hasValgrind = (): boolean => spawnSync('valgrind', ['--version']).status === 0;

/** Returns a Node.js subject that runs under callgrind and counts nothing at first. @param counts path of the files with counts */
const underCallgrind = (subject: Subject, counts: string): Subject => ({
  ...subject,
  command(settings) {
    const { file, args, env } = subject.command(settings);
    return {
      file: 'valgrind',
      args: [
        '--tool=callgrind',
        '--instr-atstart=no',
        '--separate-threads=yes',
        `--callgrind-out-file=${counts}`,
        file,
        ...NODE_FLAGS,
        '--import',
        CLOCK,
        ...args,
      ],
      env: { ...env, NOTIGRAPH_MAX_EVENT_LOOP_DELAY_MS: '60000' }, // Otherwise the gateway refuses requests.
    };
  },
});

/**
 * Starts a subject, and counts the instructions that its main thread executes per request in user mode, by workload. The workloads take turns, so
 * that none is measured with code that was compiled for it alone. The lowest slice counts, because others contain a garbage collection or
 * compilation: neither is part of each request. Their sum would depend on chance.
 */
async function countOf(
  subject: Subject,
  upstream: RunningUpstream,
  report: (line: string) => void,
): Promise<Record<string, number>> {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'notigraph-callgrind-'));
  const counts = join(folder.path, 'counts');
  await using running = await startSubject(underCallgrind(subject, counts), upstream.url, folder.path);
  const control = (...command: string[]) =>
    execFileSync('vgdb', [`--pid=${running.child.pid}`, ...command], { stdio: 'ignore' });
  const workloads = COUNTED.filter((name) => subject.requests[name] !== undefined).map((name) => {
    const next = createRequests(running.url, subject, WORKLOADS[name]);
    const send = (requests: number) =>
      load(running.url, { connections: CONNECTIONS, next, requests, stallTimeoutMs: STALL_TIMEOUT_MS });
    return { name, send, slices: [] as number[] };
  });
  for (const { send } of workloads) {
    await send(WARM_UP);
  }
  control('instrumentation', 'on');
  for (const { send } of workloads) {
    await send(FIRST);
  }
  control('zero');
  for (let dump = 0; dump < SLICES * workloads.length; ) {
    for (const { name, send, slices } of workloads) {
      const { failed, refused } = await send(SLICE);
      if (failed + refused > 0) {
        throw new Error(`${subject.title}: ${failed + refused} of ${SLICE} responses to ${name} were wrong.`);
      }
      control('dump');
      dump += 1;
      const mainThread = readFileSync(`${counts}.${dump}-01`, 'utf8');
      slices.push(Number(/^totals: (\d+)/m.exec(mainThread)?.[1]) / SLICE);
    }
  }
  for (const { name, slices } of workloads) {
    const [least, usual] = [Math.min(...slices), median(slices)].map((count) => Math.round(count / 1_000));
    report(`${name} ${subject.title}: ${least},000 instructions per request, ${usual},000 in the median of the slices`);
  }
  return Object.fromEntries(workloads.map(({ name, slices }) => [name, Math.min(...slices)]));
}

/**
 * Counts instructions per request, by workload, as a multiple of the floor's; those of a module's field as a multiple of the built-in one's. Each is
 * the median of several starts. The package must be built.
 */
export async function countInstructions(
  upstream: RunningUpstream,
  report: (line: string) => void,
): Promise<Record<string, number>> {
  if (!hasValgrind()) {
    throw new Error('Install valgrind, which counts instructions.');
  }
  await upstream.apply();
  const ratios: Record<string, number[]> = { q1: [], m1: [], twin: [] };
  for (let start = 1; start <= STARTS; start += 1) {
    report(`start ${start} of ${STARTS} under valgrind`);
    const [floor, ours, module] = await Promise.all(
      [FLOOR, PACKAGED, WITH_MODULE].map((subject) => countOf(subject, upstream, report)),
    );
    const ratioOf = (count = Number.NaN, base = Number.NaN) => Math.round((1_000 * count) / base) / 1_000;
    ratios.q1?.push(ratioOf(ours?.q1, floor?.q1));
    ratios.m1?.push(ratioOf(ours?.m1, floor?.m1));
    ratios.twin?.push(ratioOf(module?.twin, module?.q1));
  }
  report(`multiples by start: ${JSON.stringify(ratios)}`);
  return Object.fromEntries(Object.entries(ratios).map(([name, values]) => [name, median(values)]));
}
