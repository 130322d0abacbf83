// Runs the sandbox without a gateway, and resets it.

import { createInterface } from 'node:readline';
import { unknownName } from '../../../../src/lib/words.ts';
import { isTrait, TRAIT_NAMES } from '../../../sandbox/src/traits.ts';
import type { Command, CommandLine, Process } from '../command.ts';
import { readInteger } from '../command-line.ts';
import { rejectProblems } from '../config/problem.ts';
import { DEFAULT_SANDBOX_FILE } from '../config/settings.ts';
import { findFileProblem } from '../files.ts';
import { catchStopSignals } from '../signals.ts';

const DEFAULT_PORT = 4010;

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
      description: 'Requests per second that each API key can send, per category. Default: unlimited.',
    },
    { name: 'traits', value: 'NAME,…', description: 'Behaviors of real services, comma-separated. Default: none.' },
  ],
  details: `Traits, which docs/sandbox.md describes:\n\n  ${TRAIT_NAMES.join('\n  ')}`,
  async run(commandLine, host) {
    const options = readOptions(commandLine);
    const { SANDBOX_KEYS, startSandbox } = await import('../../../sandbox/src/sandbox.ts');
    const running = await startSandbox(options);
    const { promise: stopped, resolve: stop } = Promise.withResolvers<void>();
    catchStopSignals(host, { stop: () => stop(running.close()), quit: () => host.exit(1) });
    host.stdout.write(`Sandbox listening on ${running.url}
Data: ${options.file === ':memory:' ? 'in memory, lost when the sandbox stops' : options.file}
Traits: ${options.traits.join(', ') || 'none'}
API keys, one per environment:
  development  ${SANDBOX_KEYS.development}
  production   ${SANDBOX_KEYS.production}
Try it:
  curl -H 'Authorization: ApiKey ${SANDBOX_KEYS.development}' '${running.url}/v1/notification-groups'
`);
    await stopped;
  },
};

export const sandboxReset: Command = {
  name: 'sandbox reset',
  summary: "Restores the sandbox's sample records.",
  args: ['[FILE]'],
  options: [{ name: 'yes', short: 'y', description: "Don't ask for confirmation." }],
  details: `FILE is the sandbox's database. Default: ${DEFAULT_SANDBOX_FILE}. All its records
are replaced with the sample records. A sandbox that is using the file shows
them immediately. Files of other programs are left unchanged.`,
  async run({ options, args: [file = DEFAULT_SANDBOX_FILE], problems: usage }, host) {
    const problem = file === ':memory:' ? 'data in memory ends with its process' : findFileProblem(file);
    const problems = [...usage, ...(problem === undefined ? [] : [`There is nothing to reset: ${problem}.`])];
    const mustAsk = options.yes === undefined;
    if (mustAsk && !host.stdin.isTTY) {
      problems.push('Confirm the reset with --yes, because there is no terminal to ask.');
    }
    rejectProblems(problems);
    const { assertSandboxFile, resetSandbox } = await import('../../../sandbox/src/sandbox.ts');
    assertSandboxFile(file);
    if (mustAsk && !(await confirms(`Replace all records in ${file} with the sample records?`, host))) {
      host.stdout.write('Nothing was changed.\n');
      return;
    }
    resetSandbox(file);
    host.stdout.write(`${file} now has the sample records. A sandbox that is using it shows them immediately.\n`);
  },
};

async function confirms(question: string, { stdin, stdout }: Process): Promise<boolean> {
  using terminal = createInterface({ input: stdin, output: stdout, prompt: `${question} [y/N] ` });
  terminal.prompt();
  const { value: answer = '' } = await terminal[Symbol.asyncIterator]().next(); // Nothing after Ctrl-C and Ctrl-D.
  return /^y(?:es)?$/i.test(answer.trim());
}

function readOptions({ options, problems: usage }: CommandLine) {
  const { host = '127.0.0.1', file = DEFAULT_SANDBOX_FILE } = options;
  const problems = [...usage];
  const port = readInteger(options, 'port', [0, 65_535], problems) ?? DEFAULT_PORT;
  const rateLimit = readInteger(options, 'rate-limit', [1, 999_999], problems);
  const traits = options.traits?.split(',').map((name) => name.trim()) ?? [];
  for (const name of traits.filter((each) => !isTrait(each))) {
    problems.push(`--traits: ${unknownName(name, TRAIT_NAMES, 'trait')}. See notigraph sandbox --help.`);
  }
  const problem = file === ':memory:' ? undefined : findFileProblem(file);
  if (problem !== undefined) {
    problems.push(`--file: ${problem}.`);
  }
  rejectProblems(problems);
  return { port, host, file, traits: traits.filter(isTrait), ...(rateLimit !== undefined && { rateLimit }) };
}
