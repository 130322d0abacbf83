import { parseArgs } from 'node:util';

import { SANDBOX_KEYS, SandboxError, startSandbox } from '../sandbox/sandbox.ts';

const DEFAULT_FILE = '.notigraph/sandbox.db';
const DEFAULT_PORT = 4010;

const USAGE = `Usage: npm run sandbox -- [options]

A notification service with sample data, for trying things out. It answers the /v1 REST API.

  --port <number>   port to listen on, 0 picks a free one (default ${DEFAULT_PORT})
  --host <address>  address to listen on (default 127.0.0.1)
  --file <path>     where the data is kept; :memory: keeps nothing (default ${DEFAULT_FILE})
  --help            print this text`;

/** The command line cannot be understood; the message is one sentence. */
class UsageError extends Error {}

function readCommandLine() {
  const { port, ...values } = parseFlags();
  if (!/^\d+$/.test(port) || Number(port) > 65_535) {
    throw new UsageError(`--port must be a number from 0 to 65535, not "${port}".`);
  }
  for (const [flag, value] of Object.entries(values)) {
    if (value === '') {
      throw new UsageError(`--${flag} needs a value.`);
    }
  }
  return { ...values, port: Number(port) };
}

function parseFlags() {
  try {
    return parseArgs({
      options: {
        port: { type: 'string', default: String(DEFAULT_PORT) },
        host: { type: 'string', default: '127.0.0.1' },
        file: { type: 'string', default: DEFAULT_FILE },
        help: { type: 'boolean', default: false },
      },
    }).values;
  } catch (error) {
    // Node's message goes on about other ways to write it; its first sentence says what is wrong.
    const [sentence] = error instanceof Error ? error.message.split(/\.\s|\n/, 1) : [String(error)];
    throw new UsageError(`${sentence?.replace(/\.$/, '')}. See --help.`);
  }
}

async function main(): Promise<void> {
  const { help, ...options } = readCommandLine();
  if (help) {
    console.log(USAGE);
    return;
  }

  const sandbox = await startSandbox(options);
  const stop = () => void sandbox.close();
  process.once('SIGINT', stop);
  process.once('SIGTERM', stop);

  const kept = options.file === ':memory:' ? 'in memory only, gone when this stops' : options.file;
  console.log(`Sandbox listening on ${sandbox.url}
Data: ${kept}
API keys, each an environment of its own:
  development  ${SANDBOX_KEYS.development}
  production   ${SANDBOX_KEYS.production}
Try it:
  curl -H 'Authorization: ApiKey ${SANDBOX_KEYS.development}' '${sandbox.url}/v1/notification-groups'`);
}

try {
  await main();
} catch (error) {
  if (!(error instanceof UsageError || error instanceof SandboxError)) {
    throw error;
  }
  console.error(error.message);
  process.exitCode = error instanceof UsageError ? 2 : 1;
}
