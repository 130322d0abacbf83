/**
 * Measures the package's CPU time and memory by the size of V8's young generation, under mixed load and in paired rounds:
 * node bench/young-generation.ts [--rounds 12 --seconds 2 --sizes default,64,16,8 --connections 64]
 *
 * With a memory limit per process: --prefix 'systemd-run --quiet --scope -p MemoryMax=512M'
 */
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { measureLoad } from './measure-load.ts';
import { createMix, MIX_CONNECTIONS } from './mix.ts';
import { readNumber } from './options.ts';
import { buildPackage } from './package-build.ts';
import { type RunningSubject, startSubject, startUpstream } from './processes.ts';
import { createProgress } from './progress.ts';
import { asText } from './render.ts';
import { median } from './statistics.ts';
import { PACKAGED, type Subject, type SubjectCommand, variantOf } from './subjects.ts';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '12' },
    seconds: { type: 'string', default: '2' },
    sizes: { type: 'string', default: 'default,64,32,16,8,1' },
    connections: { type: 'string', default: String(MIX_CONNECTIONS) },
    prefix: { type: 'string', default: '' },
  },
});
const rounds = readNumber('rounds', values.rounds);
const seconds = readNumber('seconds', values.seconds);
const connections = readNumber('connections', values.connections);
const prefix = values.prefix.split(' ').filter((word) => word !== '');
const { report } = createProgress();

const WARM_UP_SECONDS = 5;

/** Variant with its measurements, one per round. */
interface Measured {
  running: RunningSubject;
  cpuUs: number[];
  rss: number[];
  p99Us: number[];
}

/** Returns the command preceded by another one, which runs it. */
const afterPrefix = (command: SubjectCommand): SubjectCommand => {
  const [file = command.file, ...args] = [...prefix, command.file, ...command.args];
  return { ...command, file, args };
};

const sized = (size: string): Subject =>
  variantOf(PACKAGED, {
    env: {
      NOTIGRAPH_MAX_IN_FLIGHT_REQUESTS: '2000',
      ...(size !== 'default' && { NODE_OPTIONS: `--max-semi-space-size=${size}` }),
    },
  });

const withSize = (size: string): Subject => ({
  ...sized(size),
  command: (settings) => afterPrefix(sized(size).command(settings)),
  name: size,
  title: size === 'default' ? 'default' : `${size} MB`,
});

const measure = (running: RunningSubject, duration: number) =>
  measureLoad(running, upstream, {
    connections,
    seconds: duration,
    next: createMix(running.url, running.subject),
  });

buildPackage(report);
await using folder = await mkdtempDisposable(join(tmpdir(), 'notigraph-young-generation-'));
await using upstream = await startUpstream();
await using stack = new AsyncDisposableStack();
const variants: Measured[] = [];
for (const size of values.sizes.split(',')) {
  const running = stack.use(await startSubject(withSize(size), upstream.url, folder.path));
  await measure(running, WARM_UP_SECONDS);
  variants.push({ running, cpuUs: [], rss: [], p99Us: [] });
}
for (let round = 1; round <= rounds; round += 1) {
  for (const { running, cpuUs, rss, p99Us } of variants) {
    const measured = await measure(running, seconds);
    cpuUs.push(measured.cpuUs);
    rss.push(running.rssBytes());
    p99Us.push(measured.p99Us);
  }
  report(`round ${round} of ${rounds}: ${variants.map(({ cpuUs }) => `${cpuUs.at(-1)?.toFixed(0)} µs`).join(', ')}`);
}
const [first] = variants;
const rows = variants.map(({ running, cpuUs, rss, p99Us }) => {
  const ratios = cpuUs.map((value, round) => value / (first?.cpuUs[round] ?? Number.NaN));
  return [
    running.subject.title,
    median(ratios).toFixed(2),
    `${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)}`,
    median(cpuUs).toFixed(0),
    (median(p99Us) / 1_000).toFixed(1),
    (median(rss) / 1e6).toFixed(0),
    (running.peakRssBytes() / 1e6).toFixed(0),
  ];
});
const head = ['semi-space', 'CPU', 'rounds', 'CPU µs per request', 'p99 ms', 'median MB', 'peak MB'];
process.stdout.write(`\n${asText({ title: 'Mixed load by size of a semi-space', head, rows })}`);
