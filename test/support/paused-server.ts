import type { IncomingMessage, ServerResponse } from 'node:http';
import { type RunningServer, type ServerOptions, startServer } from '../../src/server/server.ts';

/** Server that keeps requests pending until the test releases them. */
export interface PausedServer extends AsyncDisposable {
  readonly url: string;
  readonly server: RunningServer;
  /** Waits for the next request that reaches the listener. */
  nextRequest(): Promise<{ request: IncomingMessage; response: ServerResponse }>;
  /** Responds to all pending requests. */
  release(): void;
}

export async function startPausedServer(options: Partial<ServerOptions> = {}): Promise<PausedServer> {
  const pending: ServerResponse[] = [];
  const waiting: ((exchange: { request: IncomingMessage; response: ServerResponse }) => void)[] = [];
  const server = await startServer({
    host: '127.0.0.1',
    port: 0,
    drainTimeoutMs: 400, // Idle connections of tests are closed at once.
    listener: (request, response) => {
      request.resume();
      pending.push(response);
      waiting.shift()?.({ request, response });
    },
    ...options,
  });
  const release = () => {
    for (const response of pending.splice(0)) {
      response.end('done');
    }
  };
  return {
    url: server.url,
    server,
    nextRequest: () => new Promise((resolve) => waiting.push(resolve)),
    release,
    [Symbol.asyncDispose]: () => {
      release();
      return server.close();
    },
  };
}
