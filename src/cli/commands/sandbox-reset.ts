import { createInterface } from 'node:readline/promises';
import { DEFAULT_SANDBOX_FILE } from '../../settings/command.ts';
import type { Command, Process } from '../command.ts';
import { ConfigError } from '../config/problem.ts';
import { findSandboxFileProblem } from '../sandbox-file.ts';

/** Replaces the records of a sandbox's file by the samples. */
export const sandboxReset: Command = {
  name: 'sandbox reset',
  summary: "Restores the sandbox's sample records.",
  argument: '[FILE]',
  options: [{ name: 'yes', short: 'y', description: "Don't ask for confirmation." }],
  details: `FILE is the sandbox's database. Default: ${DEFAULT_SANDBOX_FILE}. All its records
are replaced with the sample records. A sandbox that is using the file shows
them immediately. Files of other programs are left unchanged.`,
  async run({ options, argument: file = DEFAULT_SANDBOX_FILE, problems: usage }, host) {
    const problem = file === ':memory:' ? 'data in memory ends with its process' : findSandboxFileProblem(file);
    const problems = [...usage, ...(problem === undefined ? [] : [`There is nothing to reset: ${problem}.`])];
    const mustAsk = options.yes === undefined;
    if (mustAsk && !host.stdin.isTTY) {
      problems.push('Confirm the reset with --yes, because there is no terminal to ask.');
    }
    if (problems.length > 0) {
      throw new ConfigError(problems);
    }
    const { assertSandboxFile, resetSandbox } = await import('../../sandbox/sandbox.ts');
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
  using terminal = createInterface({ input: stdin, output: stdout });
  const { promise: closed, resolve } = Promise.withResolvers<string>();
  terminal.once('close', () => resolve('')); // Ctrl-C and Ctrl-D.
  const answer = await Promise.race([terminal.question(`${question} [y/N] `), closed]);
  return /^y(?:es)?$/i.test(answer.trim());
}
