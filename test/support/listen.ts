import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Starts a server on a free loopback port. `close` also closes its open connections. */
export async function listen(server: Server): Promise<{ url: string; close: () => Promise<void> }> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

/** Returns a port that no server listens on. */
export async function findFreePort(): Promise<number> {
  const { url, close } = await listen(createServer());
  await close();
  return Number(new URL(url).port);
}
