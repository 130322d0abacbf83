// Measures the gateway, the floor and the peers, and compares the results with the targets: npm run bench. A part of it:
// npm run bench -- --only q1,memory --subjects notigraph,apollo --starts 3 --rounds 7 --seconds 2

import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readOptions } from './options.ts';
import { installPeers } from './peers/packages.ts';
import { createProgress, messageOf } from './progress.ts';
import { writeReport } from './report.ts';
import { writeResults } from './results.ts';
import { runBenchmark } from './run.ts';
import { asText, tablesOf } from './tables.ts';

try {
  const options = readOptions(process.argv.slice(2));
  const { report, minutes } = createProgress();
  installPeers(options.subjects, report);
  await using folder = await mkdtempDisposable(join(tmpdir(), 'notigraph-bench-'));
  const results = { ...(await runBenchmark(options, folder.path, report)), minutes: minutes() };
  process.stdout.write(`\n${tablesOf(results).map(asText).join('\n')}`);
  if (options.isSaved) {
    report(`saved in ${writeResults(results)} and ${writeReport()}`);
  } else {
    report('not saved, because options are set');
  }
} catch (error) {
  process.stderr.write(`${messageOf(error)}\n`);
  process.exitCode = 1;
}
