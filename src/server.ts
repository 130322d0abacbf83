import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ServerOptions {
  host: string;
  /** 0 picks a free port. */
  port: number;
  listener: RequestListener;
  /** How long requests that run may take once the server closes, in milliseconds. @default 20000 */
  drainTimeoutMs?: number;
}

/** A listening server. */
export interface RunningServer extends AsyncDisposable {
  /** Such as `http://127.0.0.1:4000`, without a slash at the end. */
  readonly url: string;
  /** Stops accepting, lets what runs finish within the drain time, and cuts off the rest. */
  close(): Promise<void>;
}

/** Why a server could not listen: one sentence for the person who started it. */
export class ListenError extends Error {
  override readonly name = 'ListenError';
}

/** Listens. Throws `ListenError` when the address cannot be had. */
export async function startServer({
  host,
  port,
  listener,
  drainTimeoutMs = 20_000,
}: ServerOptions): Promise<RunningServer> {
  const server = createServer(listener);
  const { promise: listening, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject).listen(port, host, resolve);
  try {
    await listening;
  } catch (error) {
    throw new ListenError(explain(error, host, port), { cause: error });
  }

  async function close(): Promise<void> {
    const { promise: closed, resolve } = Promise.withResolvers<void>();
    server.close(() => resolve());
    server.closeIdleConnections();
    const fuse = setTimeout(() => server.closeAllConnections(), drainTimeoutMs);
    await closed;
    clearTimeout(fuse);
  }

  return { url: urlOf(server.address(), host), close, [Symbol.asyncDispose]: close };
}

function urlOf(address: AddressInfo | string | null, host: string): string {
  if (address === null || typeof address === 'string') {
    throw new ListenError('The server has no network address.');
  }
  return `http://${host.includes(':') ? `[${host}]` : host}:${address.port}`;
}

function explain(error: unknown, host: string, port: number): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  switch (code) {
    case 'EADDRINUSE':
      return `Port ${port} on ${host} is in use: stop the program that listens there, or choose another port with --port.`;
    case 'EACCES':
      return `Port ${port} needs rights that this process does not have: choose one above 1023 with --port.`;
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return `This machine has no address ${host}: choose another with --host, such as 127.0.0.1 or 0.0.0.0.`;
    default:
      return `Listening on ${host}, port ${port}, failed: ${error instanceof Error ? error.message : String(error)}.`;
  }
}
