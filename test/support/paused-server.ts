// Starts a server whose responses the test releases.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { type ServerOptions, startServer } from '../../packages/cli/src/server/server.ts';

interface Exchange {
  request: IncomingMessage;
  response: ServerResponse;
}

/** Server that keeps requests pending until the test releases them. */
export type PausedServer = Awaited<ReturnType<typeof startPausedServer>>;

export async function startPausedServer(options: Partial<ServerOptions> = {}) {
  const pending: ServerResponse[] = [];
  const waiting: ((exchange: Exchange) => void)[] = [];
  const server = await startServer({
    host: '127.0.0.1',
    port: 0,
    drainTimeoutMs: 100, // Idle connections of tests are closed soon.
    listener: (request, response) => {
      request.resume();
      pending.push(response);
      waiting.shift()?.({ request, response });
    },
    ...options,
  });
  /** Responds to all pending requests. */
  const release = () => {
    for (const response of pending.splice(0)) {
      response.end('done');
    }
  };
  return {
    url: server.url,
    server,
    /** Waits for the next request that reaches the listener. */
    nextRequest: () => new Promise<Exchange>((resolve) => waiting.push(resolve)),
    release,
    [Symbol.asyncDispose]: () => {
      release();
      return server.close();
    },
  };
}
