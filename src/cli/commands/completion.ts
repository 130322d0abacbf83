import { type Command, wordsOf } from '../command.ts';
import { writeBashCompletion } from '../completion/bash.ts';
import { writeZshCompletion } from '../completion/zsh.ts';
import { ConfigError } from '../config/problem.ts';

const SHELLS = 'bash|zsh';

/** Prints a script that completes commands, options and values in a shell. */
export const completion: Command = {
  name: 'completion',
  summary: 'Prints a completion script for bash or zsh.',
  argument: SHELLS,
  options: [],
  details: `Add one of these lines to ~/.bashrc or ~/.zshrc (after compinit):

  source <(notigraph completion bash)
  source <(notigraph completion zsh)`,
  async run({ argument = '', problems: usage, commands }, host) {
    const isShell = wordsOf(SHELLS).includes(argument);
    const problems = [...usage, ...(isShell || usage.length > 0 ? [] : ['The shell must be bash or zsh.'])];
    if (problems.length > 0) {
      throw new ConfigError(problems);
    }
    host.stdout.write(argument === 'bash' ? writeBashCompletion(commands) : writeZshCompletion(commands));
  },
};
