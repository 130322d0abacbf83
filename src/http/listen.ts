import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Reason why a server cannot listen: one sentence for the person who started it. */
export class ListenError extends Error {
  override readonly name = 'ListenError';
}

/**
 * Lets a server listen.
 *
 * @returns its address, such as `http://127.0.0.1:4000`, without a slash at the end
 * @throws {ListenError}
 */
export async function listen(server: Server, host: string, port: number): Promise<string> {
  const { promise: listening, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject).listen(port, host, resolve);
  try {
    await listening;
  } catch (error) {
    throw new ListenError(explain(error, host, port), { cause: error });
  }
  return urlOf(server.address(), host);
}

function urlOf(address: AddressInfo | string | null, host: string): string {
  if (address === null || typeof address === 'string') {
    throw new ListenError('The server has no network address.');
  }
  // The wildcard addresses accept connections but cannot be connected to everywhere.
  const name = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return `http://${name.includes(':') ? `[${name}]` : name}:${address.port}`;
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
