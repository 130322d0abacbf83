// Asks a running service and the sandbox the same questions, and prints where their answers differ: `node test/service/compare.ts`, with the variables of
// `test/upstream/contract.test.ts`. Exits with 1 if a difference is unknown, or a known one is gone. Use an environment for tests: the records stay.

import { parseArgs } from 'node:util';
import { interview } from './interview.ts';
import { QUESTIONS, recordsOf, TRAITS } from './questions.ts';
import { createRecords, createTarget, startSandbox } from './targets.ts';

const { values: options } = parseArgs({ options: { all: { type: 'boolean', default: false } } });
const { NOTIGRAPH_TEST_UPSTREAM: url, NOTIGRAPH_TEST_KEY: key } = process.env;
const { NOTIGRAPH_TEST_PRODUCTION_KEY: productionKey } = process.env;
if (url === undefined || key === undefined) {
  process.stderr.write(
    'Set NOTIGRAPH_TEST_UPSTREAM to the address of a running service, and NOTIGRAPH_TEST_KEY to a key of an environment for tests.\n',
  );
  process.exit(2);
}

const run = `run-${Date.now().toString(36)}`;
await using sandbox = await startSandbox(run, recordsOf(run), TRAITS);
const service = createTarget(run, { url, key, productionKey });
await createRecords(service, recordsOf(run));

const { asked, unknown, gone } = await interview(sandbox, service, ({ ask, as, body }, differences) => {
  const lines = differences.flatMap(({ at, sandbox: ours, service: theirs, reason }) => {
    const line = `    ${at}: ${ours} in the sandbox, ${theirs} in the service`;
    return reason === undefined ? [line] : options.all ? [`${line} (${reason})`] : [];
  });
  if (lines.length > 0) {
    const parts = [ask, as, body === undefined ? undefined : JSON.stringify(body).slice(0, 200)];
    process.stdout.write(`${parts.filter(Boolean).join(' ')}\n${lines.join('\n')}\n`);
  }
});
for (const { ask, reason } of gone) {
  process.stdout.write(`No longer different: ${ask} (${reason})\n`);
}
const left = QUESTIONS.length - asked;
const note = left > 0 ? ` ${left} need NOTIGRAPH_TEST_PRODUCTION_KEY.` : '';
process.stdout.write(`${asked} questions, ${unknown} unknown differences, ${gone.length} that are gone.${note}\n`);
process.exitCode = unknown + gone.length > 0 ? 1 : 0;
