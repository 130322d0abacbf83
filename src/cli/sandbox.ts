import { parseArgs } from 'node:util';

import { SANDBOX_KEYS, SandboxError, startSandbox } from '../sandbox/sandbox.ts';

const DEFAULT_FILE = '.notigraph/sandbox.db';
const DEFAULT_PORT = 4010;

const USAGE = `Usage: npm run sandbox -- [options]

Starts a notification service with sample data. It implements the /v1 REST API.

  --port <number>   port to listen on; 0 picks a free one (default ${DEFAULT_PORT})
  --host <address>  address to listen on (default 127.0.0.1)
  --rate-limit <n>  requests per second that each API key can send (default: unlimited)
  --file <path>     SQLite file for the data; :memory: keeps it in memory (default ${DEFAULT_FILE})
  --help            show this help`;

/** An invalid command line. */
class UsageError extends Error {}

function readCommandLine() {
  const { port, 'rate-limit': rateLimit, ...values } = parseFlags();
  if (!/^\d+$/.test(port) || Number(port) > 65_535) {
    throw new UsageError(`--port must be a number from 0 to 65535, not "${port}".`);
  }
  if (rateLimit !== undefined && !/^[1-9]\d{0,5}$/.test(rateLimit)) {
    throw new UsageError(`--rate-limit must be a number from 1 to 999999, not "${rateLimit}".`);
  }
  for (const [flag, value] of Object.entries(values)) {
    if (value === '') {
      throw new UsageError(`--${flag} requires a value.`);
    }
  }
  return { ...values, port: Number(port), ...(rateLimit !== undefined && { rateLimit: Number(rateLimit) }) };
}

function parseFlags() {
  try {
    return parseArgs({
      options: {
        port: { type: 'string', default: String(DEFAULT_PORT) },
        host: { type: 'string', default: '127.0.0.1' },
        'rate-limit': { type: 'string' },
        file: { type: 'string', default: DEFAULT_FILE },
        help: { type: 'boolean', default: false },
      },
    }).values;
  } catch (error) {
    // The first sentence of Node's message states the problem; the rest suggests other spellings.
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

  const storage = options.file === ':memory:' ? 'in memory, lost when the sandbox stops' : options.file;
  console.log(`Sandbox listening on ${sandbox.url}
Data: ${storage}
API keys, one per environment:
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
