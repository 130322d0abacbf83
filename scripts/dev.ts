// Starts Notigraph again after each change of its code.

import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { catchStopSignals, endWithShellOfNpm } from '../packages/cli/src/signals.ts';

endWithShellOfNpm(process); // Node.js' watch mode itself would not end with the shell of `npm run dev`.
const main = fileURLToPath(new URL('../bin/notigraph.js', import.meta.url));
const watching = spawn(process.execPath, ['--watch', main, ...process.argv.slice(2)], {
  stdio: 'inherit',
  env: { NOTIGRAPH_DRAIN_TIMEOUT_MS: '1000', ...process.env }, // Otherwise, it would wait for the idle connections of a page.
});
catchStopSignals(process, {
  stop: () => watching.kill('SIGTERM'),
  quit: () => watching.kill('SIGKILL'),
});
watching.once('exit', (code) => {
  process.exitCode = code ?? 1;
});
