import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { createServer as createVite } from 'vite';

/** Address of the app. It listens before the app is ready, because the issuer and the gateway need its origin. */
export interface AppServer extends AsyncDisposable {
  readonly port: number;
  /** Serves the app by Vite's development server. */
  serve(addresses: { gateway: string; issuer: string }): Promise<void>;
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
    async serve({ gateway, issuer }) {
      process.env.VITE_GATEWAY_URL = gateway; // As for a build: vite.config.ts reads them.
      process.env.VITE_ISSUER_URL = issuer;
      const vite = await createVite({
        root: fileURLToPath(new URL('..', import.meta.url)),
        server: { middlewareMode: true, ws: { server } },
        logLevel: 'warn',
        clearScreen: false,
      });
      stack.defer(() => vite.close());
      answer = vite.middlewares;
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}
