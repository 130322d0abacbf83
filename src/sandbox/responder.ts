import { randomUUID } from 'node:crypto';

import type { Clock } from './clock.ts';
import { SandboxError } from './errors.ts';
import type { RequestHandler, SandboxRequest } from './handler.ts';
import { type SandboxResponse, unexpectedErrorResponse, unwritableFileResponse } from './response.ts';

/** Responds to a request, whatever happens. Returns undefined if the client disconnected before its request was complete. */
export type Respond = (request: SandboxRequest) => Promise<SandboxResponse | undefined>;

/** Creates a function that responds to problems with the file and to bugs too, and logs them. */
export function createResponder(handle: RequestHandler, clock: Clock): Respond {
  let loggedProblem: string | undefined;

  /** Logs a problem with the file once, until a write succeeds or there is another problem. */
  function logFileProblem(problem: string): void {
    if (problem !== loggedProblem) {
      loggedProblem = problem;
      console.error(`Sandbox: ${problem} Writes fail with status 507 until this is fixed.`);
    }
  }

  return async (request) => {
    const { method, url = '/' } = request;
    try {
      const response = await handle(request);
      loggedProblem = method === 'GET' ? loggedProblem : undefined;
      return response;
    } catch (error) {
      if (request.destroyed && !request.complete) {
        return undefined;
      }
      if (error instanceof SandboxError) {
        logFileProblem(error.message);
        return unwritableFileResponse(url, clock);
      }
      const errorId = randomUUID();
      console.error(`Sandbox: unexpected error ${errorId} on ${method} ${url}\n`, error);
      return unexpectedErrorResponse(errorId, url, clock);
    }
  };
}
