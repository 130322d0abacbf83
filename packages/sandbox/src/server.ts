// Serves a responder over HTTP.

import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { finished } from 'node:stream/promises';

import { SandboxError } from './errors.ts';
import type { Respond, SandboxResponse } from './response.ts';

/** Maximum time that `close()` waits for in-flight requests. A stalled upload would never end. */
const CLOSE_GRACE_MS = 5000;

export interface RunningServer {
  readonly url: string;
  /** Stops accepting requests, finishes in-flight requests, and closes every connection. */
  close(): Promise<void>;
}

/** Starts an HTTP server that sends the responses of the responder. */
export async function startServer(respond: Respond, host: string, port: number): Promise<RunningServer> {
  const inFlight = new Set<Promise<void>>();
  let closing = false;

  const server = createServer((request, response) => {
    const exchange = answer().finally(() => inFlight.delete(exchange));
    inFlight.add(exchange);

    async function answer(): Promise<void> {
      const result = await respond(request);
      if (result !== undefined) {
        await sendResponse(response, result, closing);
      }
    }
  });

  try {
    server.listen({ host, port });
    await once(server, 'listening');
  } catch (error) {
    throw describeFailure(error, host, port);
  }

  return {
    url: addressOf(server.address(), host),
    async close() {
      closing = true;
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      const fuse = setTimeout(() => server.closeAllConnections(), CLOSE_GRACE_MS);
      await whenEmpty(inFlight);
      // Closes idle connections too, and connections that never sent a request, which Node.js does not count as idle.
      server.closeAllConnections();
      await closed;
      // Requests that started in the meantime have ended with their connections. Nothing uses the database after this.
      await whenEmpty(inFlight);
      clearTimeout(fuse);
    },
  };
}

/** Waits until the set is empty, including members that are added while waiting. */
async function whenEmpty(promises: ReadonlySet<Promise<void>>): Promise<void> {
  while (promises.size > 0) {
    await Promise.all(promises);
  }
}

/** Sends a response. @param closing whether it is the last one of its connection */
export async function sendResponse(
  response: ServerResponse,
  { status, body, headers }: SandboxResponse,
  closing = false,
): Promise<void> {
  const all = {
    ...(body !== null && {
      'Content-Type': 'application/json; charset=utf-8',
      'Content-Length': Buffer.byteLength(body),
    }),
    ...headers,
    ...(closing && { Connection: 'close' }),
  };
  for (const [name, value] of Object.entries(all)) {
    response.setHeader(name, value); // Replaces a header whose name is written in another case.
  }
  response.writeHead(status);
  response.end(body ?? undefined);
  // Fails if the client disconnects, which is not an error of the sandbox.
  await finished(response).catch(() => {});
}

function addressOf(address: ReturnType<ReturnType<typeof createServer>['address']>, host: string): string {
  if (address === null || typeof address === 'string') {
    throw new TypeError('The server is not listening on a TCP port');
  }
  // Not every platform can connect to the wildcard addresses.
  const name = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return `http://${name.includes(':') ? `[${name}]` : name}:${address.port}`;
}

function describeFailure(error: unknown, host: string, port: number): unknown {
  if (!(error instanceof Error && 'code' in error)) {
    return error;
  }
  const reason =
    error.code === 'EADDRINUSE'
      ? `Port ${port} on ${host} is already in use. Choose another port.`
      : `The sandbox can't listen on ${host}, port ${port} (${error.message}).`;
  return new SandboxError(reason, { cause: error });
}
