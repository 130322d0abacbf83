import { DEFAULT_SANDBOX_FILE } from '../../settings/command.ts';
import type { Command, CommandLine } from '../command.ts';
import { ConfigError } from '../config/problem.ts';
import { findSandboxFileProblem } from '../sandbox-file.ts';
import { catchStopSignals } from '../stop-signals.ts';

const DEFAULT_PORT = 4010;

/** Runs the sandbox without a gateway. */
export const sandbox: Command = {
  name: 'sandbox',
  summary: 'Runs only the sandbox, a REST service with sample data.',
  options: [
    {
      name: 'port',
      short: 'p',
      value: 'PORT',
      description: `Port to listen on. 0 picks a free one. Default: ${DEFAULT_PORT}.`,
    },
    { name: 'host', value: 'HOST', description: 'Address to listen on. Default: 127.0.0.1.' },
    {
      name: 'file',
      value: 'FILE',
      description: `SQLite file of the data; :memory: keeps it in memory. Default: ${DEFAULT_SANDBOX_FILE}.`,
    },
    {
      name: 'rate-limit',
      value: 'N',
      description: 'Requests per second that each API key can send. Default: unlimited.',
    },
  ],
  async run(commandLine, host) {
    const options = readOptions(commandLine);
    const { SANDBOX_KEYS, startSandbox } = await import('../../sandbox/sandbox.ts');
    const running = await startSandbox(options);
    catchStopSignals(host, { stop: () => void running.close(), quit: () => host.exit(1) });
    host.stdout.write(`Sandbox listening on ${running.url}
Data: ${options.file === ':memory:' ? 'in memory, lost when the sandbox stops' : options.file}
API keys, one per environment:
  development  ${SANDBOX_KEYS.development}
  production   ${SANDBOX_KEYS.production}
Try it:
  curl -H 'Authorization: ApiKey ${SANDBOX_KEYS.development}' '${running.url}/v1/notification-groups'
`);
  },
};

function readOptions({ options, problems: usage }: CommandLine) {
  const { port = String(DEFAULT_PORT), host = '127.0.0.1', file = DEFAULT_SANDBOX_FILE } = options;
  const rateLimit = options['rate-limit'];
  const problems = [...usage];
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535) {
    problems.push('--port must be a whole number from 0 to 65535.');
  }
  if (rateLimit !== undefined && !/^[1-9]\d{0,5}$/.test(rateLimit)) {
    problems.push('--rate-limit must be a whole number from 1 to 999999.');
  }
  const problem = findSandboxFileProblem(file);
  if (problem !== undefined) {
    problems.push(`--file: ${problem}.`);
  }
  if (problems.length > 0) {
    throw new ConfigError(problems);
  }
  return { port: Number(port), host, file, ...(rateLimit !== undefined && { rateLimit: Number(rateLimit) }) };
}
