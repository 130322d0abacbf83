import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { finished } from 'node:stream/promises';

import { type Answer, bugAnswer } from './answer.ts';
import type { Clock } from './clock.ts';
import { SandboxError } from './errors.ts';
import type { RequestHandler } from './handler.ts';

/** How long close() waits for requests that do not come to an end, a stalled upload for one. */
const CLOSE_GRACE_MS = 5000;

export interface RunningServer {
  readonly url: string;
  /** Stops accepting, lets running requests finish, then closes every connection. */
  close(): Promise<void>;
}

/** Serves the handler over HTTP. */
export async function startServer(
  handle: RequestHandler,
  clock: Clock,
  host: string,
  port: number,
): Promise<RunningServer> {
  const running = new Set<Promise<void>>();
  let closing = false;

  const server = createServer((request, response) => {
    const exchange = respond().finally(() => running.delete(exchange));
    running.add(exchange);

    async function respond(): Promise<void> {
      let answer: Answer;
      try {
        answer = await handle(request);
      } catch (error) {
        if (request.destroyed && !request.complete) {
          return; // The caller left before its request was complete: nobody is there to be answered.
        }
        const errorId = randomUUID();
        console.error(`sandbox: error ${errorId} on ${request.method} ${request.url}\n`, error);
        answer = bugAnswer(errorId, request.url ?? '/', clock);
      }
      await send(response, answer, closing);
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
      await settle(running);
      // Covers kept-alive connections, and those that were opened but never used, which do not count as idle.
      server.closeAllConnections();
      await closed;
      // What the last connections had just started ends with them; then nothing touches the database any more.
      await settle(running);
      clearTimeout(fuse);
    },
  };
}

/** Waits until the set is empty; members may still be added meanwhile. */
async function settle(running: ReadonlySet<Promise<void>>): Promise<void> {
  while (running.size > 0) {
    await Promise.all(running);
  }
}

async function send(response: ServerResponse, { status, body, headers }: Answer, closing: boolean): Promise<void> {
  response.writeHead(status, {
    ...(body !== null && {
      'Content-Type': 'application/json; charset=utf-8',
      'Content-Length': Buffer.byteLength(body),
    }),
    ...headers,
    ...(closing && { Connection: 'close' }),
  });
  response.end(body ?? undefined);
  // A caller that leaves before the end of the answer is no failure of ours.
  await finished(response).catch(() => {});
}

function addressOf(address: ReturnType<ReturnType<typeof createServer>['address']>, host: string): string {
  if (address === null || typeof address === 'string') {
    throw new TypeError('The server listens on no TCP port');
  }
  // The wildcard addresses accept connections but cannot be connected to everywhere.
  const name = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return `http://${name.includes(':') ? `[${name}]` : name}:${address.port}`;
}

function describeFailure(error: unknown, host: string, port: number): unknown {
  if (!(error instanceof Error && 'code' in error)) {
    return error;
  }
  const reason =
    error.code === 'EADDRINUSE'
      ? `Port ${port} on ${host} is in use by another program; choose another one.`
      : `The sandbox cannot listen on ${host}, port ${port} (${error.message}).`;
  return new SandboxError('SANDBOX_PORT', reason, { cause: error });
}
