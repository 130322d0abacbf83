// Starts to listen, and explains why that is not possible.

import type { AddressInfo, Server } from 'node:net';
import { errorCodeOf } from '../../../../src/lib/caught.ts';

/** Error of a server that can't listen. The message tells the operator what to do. */
export class ListenError extends Error {
  override readonly name = 'ListenError';
}

/**
 * Starts to listen.
 *
 * @param option option of the command that sets the port
 * @returns the server's address without a trailing slash, such as `http://127.0.0.1:4000`
 * @throws {ListenError}
 */
export async function listen(server: Server, host: string, port: number, option = '--port'): Promise<string> {
  const { promise: listening, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject).listen(port, host, resolve);
  try {
    await listening;
  } catch (error) {
    throw new ListenError(explain(error, host, port, option), { cause: error });
  }
  return urlOf(server.address(), host);
}

function urlOf(address: AddressInfo | string | null, host: string): string {
  if (address === null || typeof address === 'string') {
    throw new ListenError('The server has no network address.');
  }
  // Not every system can connect to a wildcard address.
  const name = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return `http://${name.includes(':') ? `[${name}]` : name}:${address.port}`;
}

function explain(error: unknown, host: string, port: number, option: string): string {
  switch (errorCodeOf(error)) {
    case 'EADDRINUSE':
      return `Port ${port} on ${host} is already in use. Stop the other program, or choose another port with ${option}.`;
    case 'EACCES':
      return `This process is not permitted to use port ${port}. Choose a port above 1023 with ${option}.`;
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return `This machine has no address ${host}. Choose another with ${option.replace('port', 'host')}, such as 127.0.0.1 or 0.0.0.0.`;
    default:
      return `The server can't listen on ${host}, port ${port}: ${error instanceof Error ? error.message : String(error)}.`;
  }
}
