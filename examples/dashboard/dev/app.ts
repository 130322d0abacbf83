// Serves the app by Vite's development server, and its sessions on the same origin.

import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { createServer as createVite } from 'vite';
import type { SessionHandler } from './sessions.ts';

/** Address of the app. It listens before the app is ready, because the sessions and the gateway need its origin. */
export interface AppServer extends AsyncDisposable {
  readonly port: number;
  /** Serves the app by Vite's development server, and its sessions. */
  serve(parts: { gateway: string; sessions: SessionHandler }): Promise<void>;
}

/** @throws the listening error, such as EADDRINUSE */
export async function startAppServer(port: number): Promise<AppServer> {
  let answer: RequestListener = (_request, response) => response.writeHead(503, { 'retry-after': '1' }).end();
  const server = createServer((request, response) => answer(request, response));
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const stack = new AsyncDisposableStack();
  stack.defer(async () => {
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
  });
  return {
    port: (server.address() as AddressInfo).port,
    async serve({ gateway, sessions }) {
      process.env.VITE_GATEWAY_URL = gateway; // As for a build: vite.config.ts reads it.
      const vite = await createVite({
        root: fileURLToPath(new URL('..', import.meta.url)),
        server: { middlewareMode: true, ws: { server } },
        logLevel: 'warn',
        clearScreen: false,
      });
      stack.defer(() => vite.close());
      answer = (request, response) => {
        response.setHeader('content-security-policy', "frame-ancestors 'none'"); // The page's own policy can't say that.
        if (!sessions(request, response)) {
          vite.middlewares(request, response);
        }
      };
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}
