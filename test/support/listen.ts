// Starts servers on free ports.

import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo, Server as NetServer } from 'node:net';

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

/** Range of ports below those that systems give to outgoing connections, one of which would else take the port before a server listens on it. */
const FIRST_PORT = 12_000;
const LAST_PORT = 22_000; // The port of a Redis cluster's bus is 10,000 above.

/** Starts a server on a port that stays its own while it is stopped. */
export async function listenOnKeptPort(create: () => NetServer): Promise<{ server: NetServer; port: number }> {
  for (;;) {
    const port = randomInt(FIRST_PORT, LAST_PORT);
    const server = create().listen(port, '127.0.0.1');
    try {
      await once(server, 'listening');
      return { server, port };
    } catch {} // Another server has the port.
  }
}

/** Returns a port that no server listens on, and that stays free while servers start, which takes seconds under valgrind, and stop. */
export async function findFreePort(): Promise<number> {
  const { server, port } = await listenOnKeptPort(() => createServer());
  server.close();
  await once(server, 'close');
  return port;
}
