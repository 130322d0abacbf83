import { parseArgs } from 'node:util';
import { planPhases } from './phases.ts';
import { soak } from './soak.ts';
import { judge } from './verdict.ts';

/**
 * Runs the gateway as a process of its own under load, with an upstream that fails in every way, and holds it against bounds:
 * `npm run soak -- --minutes 10`. Exits 1 when one is missed.
 */

const { values } = parseArgs({
  options: { minutes: { type: 'string', default: '2' }, clients: { type: 'string', default: '64' } },
});
const minutes = Number(values.minutes);
const clients = Number(values.clients);
if (!(minutes > 0 && minutes <= 24 * 60 && Number.isInteger(clients) && clients > 0 && clients <= 500)) {
  process.stderr.write('--minutes takes a number up to 1440, --clients a whole number from 1 to 500.\n');
  process.exit(2);
}

const startedAt = performance.now();
const report = (line: string) =>
  process.stdout.write(`${((performance.now() - startedAt) / 1_000).toFixed(0).padStart(4)} s  ${line}\n`);

const figures = await soak({ phases: planPhases(minutes), clients, random: Math.random, report });
const bounds = judge(figures);

report(
  `${figures.writes} writes in the ledger; what keeps the process alive at the end: ${figures.end.resources.join(', ')}`,
);
for (const example of figures.audit.examples) {
  report(example);
}
for (const { what, found, bound, isKept } of bounds) {
  process.stdout.write(`${isKept ? 'ok    ' : 'MISSED'}  ${what}: ${found}, bound ${bound}\n`);
}
process.exitCode = bounds.every(({ isKept }) => isKept) ? 0 : 1;
