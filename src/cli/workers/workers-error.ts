import type { Ending } from './worker-child.ts';

/** Thrown if a worker does not start. The message is for the person who started the command. */
export class WorkersError extends Error {
  override readonly name = 'WorkersError';
  /** Exit code for this process. */
  readonly exitCode: number;

  constructor(message: string, exitCode: number) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** A worker that reported a problem ends as this process should. */
export const toError = (ending: Ending): WorkersError =>
  ending.problem === undefined
    ? new WorkersError(explain(ending), 1)
    : new WorkersError(ending.problem, ending.code || 1);

const explain = ({ code, signal }: Ending): string =>
  `A worker ended (${signal ?? `exit code ${code}`}) before it listened.`;
