import type { IncomingMessage, ServerResponse } from 'node:http';
import { type RunningServer, type ServerOptions, startServer } from '../../src/http/server.ts';

/** Server whose requests end when the test says so. */
export interface HeldServer extends AsyncDisposable {
  readonly url: string;
  readonly server: RunningServer;
  /** Returns the next request that reaches the listener. */
  arrival(): Promise<{ request: IncomingMessage; response: ServerResponse }>;
  /** Ends every request that is held. */
  release(): void;
}

export async function startHeldServer(options: Partial<ServerOptions> = {}): Promise<HeldServer> {
  const held: ServerResponse[] = [];
  const awaited: ((exchange: { request: IncomingMessage; response: ServerResponse }) => void)[] = [];
  const server = await startServer({
    host: '127.0.0.1',
    port: 0,
    lameDuckMs: 0,
    listener: (request, response) => {
      request.resume();
      held.push(response);
      awaited.shift()?.({ request, response });
    },
    ...options,
  });
  const release = () => {
    for (const response of held.splice(0)) {
      response.end('done');
    }
  };
  return {
    url: server.url,
    server,
    arrival: () => new Promise((resolve) => awaited.push(resolve)),
    release,
    [Symbol.asyncDispose]: () => {
      release();
      return server.close();
    },
  };
}
