// Starts a proxy between the service and its database, which can make it slow or unreachable.

import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** Proxy of a database. */
export type DatabaseProxy = Awaited<ReturnType<typeof startDatabaseProxy>>;

/** @param target address of the database, such as `mongodb://127.0.0.1:27017` */
export async function startDatabaseProxy(target: string) {
  const { hostname, port = '27017' } = new URL(target);
  const sockets = new Set<Socket>();
  let delayMs = 0;
  let isReachable = true;
  const server = createServer((client) => {
    if (!isReachable) {
      client.destroy();
      return;
    }
    const database = connect(Number(port), hostname);
    client.pipe(database);
    database.on('data', (reply: Buffer) => {
      if (delayMs === 0) {
        client.write(reply);
      } else {
        setTimeout(() => client.write(reply), delayMs).unref();
      }
    });
    for (const [socket, other] of [
      [client, database],
      [database, client],
    ] as const) {
      sockets.add(socket);
      socket
        .on('error', () => {})
        .on('close', () => {
          sockets.delete(socket);
          other.destroy();
        });
    }
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  function closeAll(): void {
    for (const socket of sockets) {
      socket.destroy();
    }
  }
  return {
    url: `mongodb://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Makes each reply late. */
    delay(milliseconds: number): void {
      delayMs = milliseconds;
    },
    /** Breaks all connections, and refuses new ones. */
    stop(): void {
      isReachable = false;
      closeAll();
    },
    /** Accepts connections again. */
    resume(): void {
      isReachable = true;
    },
    async [Symbol.asyncDispose]() {
      closeAll();
      server.close();
      await once(server, 'close');
    },
  };
}
