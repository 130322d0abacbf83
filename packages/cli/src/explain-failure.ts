// Explains errors that end the process.

import { withoutCredentials } from '../../../src/errors/logged-error.ts';
import { errorCodeOf, SetupError } from '../../../src/lib/caught.ts';
import { SandboxError } from '../../sandbox/src/errors.ts';
import { CommandError } from './config/problem.ts';
import { ListenError } from './server/listen.ts';

/** Returns the message and exit code for an error that ends the process. A bug is one line too: a stack trace hides what happened. */
export function explainFailure(error: unknown): { message: string; exitCode: number } {
  if (error instanceof CommandError) {
    return error;
  }
  if (error instanceof SetupError) {
    return { message: `Notigraph can't start: ${error.message}.`, exitCode: 2 };
  }
  return error instanceof ListenError || error instanceof SandboxError
    ? { message: error.message, exitCode: 1 }
    : { message: `Unexpected error: ${describe(error)}`, exitCode: 1 };
}

/** Describes an error in one line, with the place in the code unless the system reported it or Node.js, which name the file. */
function describe(error: unknown): string {
  const [line = ''] = withoutCredentials(String(error)).split('\n', 1);
  const [, place] =
    /^ +at (?:.+ \()?(?:file:\/\/)?([^()]+:\d+:\d+)\)?$/m.exec(error instanceof Error ? (error.stack ?? '') : '') ?? [];
  return place === undefined || errorCodeOf(error) !== undefined ? line : `${line} (${place})`;
}
