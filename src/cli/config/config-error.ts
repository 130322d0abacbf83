import { formatProblem, type Problem } from './problem.ts';

/** Reports all problems of the command line and the configuration together. The message has a line for each. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly problems: readonly Problem[];

  /** @param problems problems, or sentences that have no place */
  constructor(problems: readonly (Problem | string)[]) {
    const all = problems.map((problem) => (typeof problem === 'string' ? { sentence: problem } : problem));
    super(all.map(formatProblem).join('\n'));
    this.problems = all;
  }
}
