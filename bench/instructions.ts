// Counts instructions with valgrind's callgrind. Unlike CPU time, the result depends neither on other load nor on memory and caches.

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

const COUNTED: readonly WorkloadName[] = ['q1', 'm1', 'twin'];
/**
 * Starts of each subject at most. What V8 compiles differs from one to the next: in three starts of the same code, the module's field took 0.98, 1.01 and
 * 1.04 times the built-in one. Chance only adds instructions, so the lowest counts of several starts hardly vary.
 */
const MAX_STARTS = 5;
const CONNECTIONS = 8;
const WARM_UP = 3_000;
/** Requests after callgrind is switched on. It translates all code again, so some of them may time out. */
const FIRST = 20;
const SLICE = 100;
const SLICES = 10;
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
 * Counts instructions per request, by workload, as a multiple of the floor's; those of a module's field as a multiple of the built-in one's. Uses the
 * lowest counts of several starts. The package must be built.
 *
 * @param isEnough returns whether the multiples are low enough to save further starts. @default never
 */
export async function countInstructions(
  upstream: RunningUpstream,
  report: (line: string) => void,
  isEnough: (multiples: Record<string, number>) => boolean = () => false,
): Promise<Record<string, number>> {
  if (!hasValgrind()) {
    throw new Error('Install valgrind, which counts instructions.');
  }
  await upstream.setLatency();
  const lowest: Record<string, number> = {};
  for (let start = 1; start <= MAX_STARTS; start += 1) {
    report(`Start ${start} of at most ${MAX_STARTS} under valgrind`);
    const counts = await Promise.all(
      [FLOOR, PACKAGED, WITH_MODULE].map(async (subject) => ({
        subject,
        counts: await countOf(subject, upstream, report),
      })),
    );
    for (const { subject, counts: found } of counts) {
      for (const [workload, count] of Object.entries(found)) {
        const name = `${workload} ${subject.title}`;
        lowest[name] = Math.min(lowest[name] ?? Number.POSITIVE_INFINITY, count);
      }
    }
    const multiples = toMultiples(lowest);
    report(`multiples so far: ${JSON.stringify(multiples)}`);
    if (isEnough(multiples)) {
      break;
    }
  }
  return toMultiples(lowest);
}

function toMultiples(lowest: Readonly<Record<string, number>>): Record<string, number> {
  const multipleOf = (name: string, base: string) =>
    Math.round((1_000 * (lowest[name] ?? Number.NaN)) / (lowest[base] ?? Number.NaN)) / 1_000;
  return {
    q1: multipleOf(`q1 ${PACKAGED.title}`, `q1 ${FLOOR.title}`),
    m1: multipleOf(`m1 ${PACKAGED.title}`, `m1 ${FLOOR.title}`),
    twin: multipleOf(`twin ${WITH_MODULE.title}`, `q1 ${WITH_MODULE.title}`),
  };
}
