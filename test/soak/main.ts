// Runs the gateway in its own process under load, with an upstream that fails in every way, and checks the results against
// bounds: `npm run soak -- --minutes 10`. Exits with 1 if a bound is exceeded.

import { parseArgs } from 'node:util';
import { checkBounds } from './bounds.ts';
import { planPhases, soak } from './soak.ts';

const { values } = parseArgs({
  options: { minutes: { type: 'string', default: '2' }, clients: { type: 'string', default: '64' } },
});
const minutes = Number(values.minutes);
const clients = Number(values.clients);
if (!(minutes > 0 && minutes <= 24 * 60 && Number.isInteger(clients) && clients > 0 && clients <= 500)) {
  process.stderr.write('--minutes must be a number up to 1440, --clients a whole number from 1 to 500.\n');
  process.exit(2);
}

const startedAt = performance.now();
const report = (line: string) =>
  process.stdout.write(`${((performance.now() - startedAt) / 1_000).toFixed(0).padStart(4)} s  ${line}\n`);

const results = await soak(planPhases(minutes), clients, Math.random, report);
const bounds = checkBounds(results);

report(
  `${results.writes} writes in the ledger; active resources of the process at the end: ${results.end.resources.join(', ')}`,
);
for (const example of results.audit.examples) {
  report(example);
}
for (const { metric, found, bound, isMet } of bounds) {
  process.stdout.write(`${isMet ? 'ok    ' : 'MISSED'}  ${metric}: ${found}, bound ${bound}\n`);
}
process.exitCode = bounds.every(({ isMet }) => isMet) ? 0 : 1;
