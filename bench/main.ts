/**
 * Measures the gateway, the floor and the peers, and compares the results with the targets:
 * npm run bench [-- --targets], or a part: npm run bench -- --quick --only q1,q2 --subjects notigraph,floor --starts 3 --rounds 7 --seconds 2
 */
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Options, readOptions } from './options.ts';
import { installPeers } from './peer-packages.ts';
import { createProgress } from './progress.ts';
import { asText } from './render.ts';
import { writeReport } from './report.ts';
import { writeResults } from './results.ts';
import { runBenchmark } from './run.ts';
import { tablesOf, targetTable } from './tables.ts';

async function main(options: Options): Promise<void> {
  const { report, minutes } = createProgress();
  if (!options.quick) {
    installPeers(report);
  }
  await using folder = await mkdtempDisposable(join(tmpdir(), 'notigraph-bench-'));
  const results = { ...(await runBenchmark(options, folder.path, report)), minutes: minutes() };
  const tables = options.onlyTargets ? [targetTable(results)] : tablesOf(results);
  process.stdout.write(`\n${tables.map(asText).join('\n')}`);
  if (options.isSaved) {
    report(`saved in ${writeResults('run', results)} and ${writeReport()}`);
  } else {
    report('not saved: the run left something out');
  }
}

try {
  await main(readOptions(process.argv.slice(2)));
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
  process.exitCode = 1;
}
