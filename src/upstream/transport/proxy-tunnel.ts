import { isIPv6, Socket } from 'node:net';
import { type buildConnector, Client } from 'undici';
import { errorCodeOf } from '../../lib/error-code.ts';
import { portOf } from '../../lib/urls.ts';
import { VERSION } from '../../lib/version.ts';

/** Failure of a proxy: nothing was sent to the service. The message is a clause that contains no credentials. */
export class ProxyError extends Error {
  override readonly name = 'ProxyError';
  /** Whether another attempt would fail too, because the proxy refuses this service or its own credentials. */
  readonly isPermanent: boolean;

  constructor(problem: string, { isPermanent = false, ...options }: ErrorOptions & { isPermanent?: boolean } = {}) {
    super(`the proxy ${problem}`, options);
    this.isPermanent = isPermanent;
  }
}

/** Proxy, and how to reach it. */
export interface ProxyRoute {
  /** URL of the proxy, with its user name and password if it requires them. */
  proxy: URL;
  /** Opens a connection to the proxy. */
  connect: buildConnector.connector;
  /** Time limit of the connection, and of the response to the request for a tunnel, in milliseconds. */
  timeoutMs: number;
}

/**
 * Opens a tunnel to the service through a proxy (RFC 9110, 9.3.6).
 *
 * @throws {ProxyError}
 */
export async function openTunnel(
  { hostname, port, protocol }: Pick<buildConnector.Options, 'hostname' | 'port' | 'protocol'>,
  { proxy, connect, timeoutMs }: ProxyRoute,
): Promise<Socket> {
  const authority = `${isIPv6(hostname) ? `[${hostname}]` : hostname}:${portOf({ port, protocol })}`;
  const client = new Client(proxy.origin, { connect, headersTimeout: timeoutMs });
  try {
    const { statusCode, socket } = await client.connect({
      path: authority,
      headers: { host: authority, 'user-agent': `notigraph/${VERSION}`, ...authorizationOf(proxy) },
    });
    // Bytes after the head would be taken for the response to the first request.
    if (statusCode < 200 || statusCode > 299 || !(socket instanceof Socket) || socket.readableLength > 0) {
      socket.destroy();
      throw refused(statusCode);
    }
    return socket;
  } catch (error) {
    throw error instanceof ProxyError ? error : new ProxyError(`is unreachable${codeOf(error)}`, { cause: error });
  } finally {
    void client.destroy(); // The tunnel's socket no longer belongs to it.
  }
}

function authorizationOf({ username, password }: URL): Record<string, string> {
  if (username === '' && password === '') {
    return {};
  }
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { 'proxy-authorization': `Basic ${Buffer.from(pair).toString('base64')}` };
}

function refused(status: number): ProxyError {
  const isPermanent = status >= 400 && status <= 499;
  if (status === 407) {
    return new ProxyError('rejects the user name and password (status 407)', { isPermanent });
  }
  return status >= 200 && status <= 299
    ? new ProxyError('sent data before the service could')
    : new ProxyError(`refuses to connect to the service (status ${status})`, { isPermanent });
}

/** Returns the code of an error in parentheses, if it has one. */
function codeOf(error: unknown): string {
  const code = errorCodeOf(error);
  return typeof code === 'string' ? ` (${code})` : '';
}
