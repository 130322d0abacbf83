/**
 * Measures the cost of single features by turning them on or off:
 * node bench/features.ts [--rounds 7 --seconds 1]
 */
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { calledByBrowsers } from './browsers.ts';
import { summarize } from './figures.ts';
import { measureWorkload, warmUp } from './measure.ts';
import { readNumber } from './options.ts';
import { startSubject, startUpstream } from './processes.ts';
import { createProgress } from './progress.ts';
import { OURS, type Subject, variantOf } from './subjects.ts';
import { WORKLOADS } from './workloads.ts';

const without = (name: string, title: string, env: Record<string, string>): Subject => ({
  ...variantOf(OURS, { env }),
  name,
  title,
});

/** Variants of the gateway. All are compared with the first. */
const VARIANTS: readonly Subject[] = [
  { ...OURS, title: 'as shipped' },
  without('no-metrics', 'without metrics', { NOTIGRAPH_METRICS: 'off' }),
  without('no-retries', 'without retries', { NOTIGRAPH_MAX_RETRIES: '0' }),
  without('origins', 'with an allowed CORS origin', { NOTIGRAPH_CORS_ORIGINS: 'https://app.example.com' }),
  await calledByBrowsers('browser', 'browser clients with cached tokens'),
  await calledByBrowsers('limited-browser', 'browser clients with cached tokens and a rate limit', {
    rateLimit: { calls: 1_000_000, perSeconds: 1 },
  }),
];

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '7' }, seconds: { type: 'string', default: '1' } },
});
const { report } = createProgress();
await using folder = await mkdtempDisposable(join(tmpdir(), 'notigraph-features-'));
await using upstream = await startUpstream();
await using stack = new AsyncDisposableStack();
const running = [];
for (const variant of VARIANTS) {
  running.push(stack.use(await startSubject(variant, upstream.url, folder.path)));
}
const options = {
  rounds: readNumber('rounds', values.rounds),
  seconds: readNumber('seconds', values.seconds),
  report,
};
for (const subject of running) {
  await warmUp(subject, report);
}
for (const key of ['q1', 'm1'] as const) {
  const rounds = await measureWorkload(key, WORKLOADS[key], running, upstream, options);
  const { title, subjects } = summarize(key, WORKLOADS[key], [rounds]);
  process.stdout.write(`\n${key.toUpperCase()}: ${title}\n`);
  const asShipped = subjects[OURS.name]?.figures;
  for (const variant of VARIANTS) {
    const { figures, fault } = subjects[variant.name] ?? {};
    const more = figures && asShipped && figures.cpuUs - asShipped.cpuUs;
    const line =
      figures &&
      `${figures.cpuUs.toFixed(0)} µs, ${figures.ratio.toFixed(2)} times as shipped (${more?.toFixed(1)} µs more)`;
    process.stdout.write(`  ${variant.title}: ${line ?? `void: ${fault}`}\n`);
  }
  process.stdout.write('\n');
}
