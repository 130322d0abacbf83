import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import type { Socket } from 'node:net';
import { type Duplex, duplexPair } from 'node:stream';
import type { GatewayDeps } from '../gateway.ts';

type Connect = NonNullable<GatewayDeps['connect']>;

/** HTTP server without a port: connections to it are pairs of streams in memory. */
export class MemoryServer {
  readonly #server: Server;
  /** Ends of connections: the client's by the server's. */
  readonly #clients = new Map<Duplex, Duplex>();

  constructor(listener: RequestListener) {
    this.#server = createServer(listener);
  }

  /** Opens a connection. */
  readonly connect: Connect = (_options, callback) => {
    const [client, service] = duplexPair();
    this.#clients.set(service, client);
    client.once('close', () => service.destroy());
    service.once('close', () => {
      this.#clients.delete(service);
      client.destroy();
    });
    this.#server.emit('connection', service);
    queueMicrotask(() => callback(null, client as Socket)); // undici uses it only as a stream.
  };

  /** Breaks the connection of a request. The client sees the error. */
  break(request: IncomingMessage, error: Error): void {
    this.#clients.get(request.socket)?.destroy(error);
  }

  /** Breaks all connections. */
  breakAll(error: () => Error): void {
    for (const client of this.#clients.values()) {
      client.destroy(error());
    }
  }
}
