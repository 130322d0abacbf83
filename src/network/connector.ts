// Opens connections by name, to the first address that accepts one, also through the tunnel of a proxy.

import { ADDRCONFIG, type LookupAddress, promises } from 'node:dns';
import { once } from 'node:events';
import { connect, isIP, isIPv6, type LookupFunction, Socket } from 'node:net';
import { platform } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { buildConnector, Client } from 'undici';
import { errorCodeOf } from '../lib/caught.ts';
import { USER_AGENT } from '../lib/installation.ts';
import { memoizeByObject } from '../lib/memoize.ts';
import { portOf, toHostname } from '../lib/urls.ts';
import type { GatewaySettings } from '../settings/settings.ts';
import type { TlsContexts, TlsFiles } from './tls-files.ts';

export type Connect = buildConnector.connector;

export interface ConnectorOptions {
  /** Certificates of TLS connections. @default those of Node.js, and no client certificate */
  tls?: TlsFiles | undefined;
  /** Called after each attempt to open a tunnel, with the reason if it failed. @default none */
  onTunnel?: ((problem: string | undefined) => void) | undefined;
}

/**
 * Creates the function that opens connections to the service: directly, or through a proxy. The time limit applies to the connection, the tunnel and TLS
 * one after the other.
 */
export function createConnector(
  { proxy: address }: Pick<GatewaySettings, 'proxy'>,
  { tls, onTunnel }: ConnectorOptions,
): Connect {
  const proxy = address === undefined || address === 'off' ? undefined : new URL(address);
  // A connector resumes TLS sessions. New certificates get a new one, because a resumed session has the old client certificate.
  const connectWith = memoizeByObject((contexts: Partial<TlsContexts>) => {
    const toProxy = connectBy(openDirectly, contexts.proxy);
    const openTo: Open = proxy === undefined ? openDirectly : (to) => openTunnel(to, proxy, toProxy, onTunnel);
    return connectBy(openTo, contexts.service);
  });
  const none = {};
  return (to, callback) => connectWith(tls?.current() ?? none)(to, callback);
}

type Open = (to: buildConnector.Options) => Promise<Socket>;

const openDirectly: Open = (to) => openSocket(to.hostname, portOf(to));

/** Creates the function that opens connections in a way, and starts TLS on them if the protocol is https. */
function connectBy(open: Open, secureContext: object | undefined): Connect {
  const options: Partial<buildConnector.BuildOptions> = {
    allowH2: false,
    timeout: CONNECT_TIMEOUT_MS,
    ...(secureContext && { secureContext }),
  };
  const startTls = buildConnector(options as buildConnector.BuildOptions); // The types require a port, which is passed with each call.
  return (to, callback) =>
    void open(to).then(
      (httpSocket) =>
        to.protocol === 'https:' ? startTls({ ...to, httpSocket }, callback) : callback(null, httpSocket),
      (error: Error) => callback(error, null),
    );
}

/**
 * Creates a client of an origin. The dot that ends an absolute name is only for DNS: TLS and `Host` have the name without it (RFC 6066, 3), by which
 * servers find their certificate and virtual host.
 */
export function openClient(origin: string, connect: Connect, options?: Client.Options): Client {
  const name = toHostname(origin);
  const connectTo: Connect = (to, callback) => connect({ ...to, hostname: `${to.hostname}.` }, callback);
  return new Client(name, { ...options, connect: name === origin ? connect : connectTo });
}

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

/**
 * Opens a tunnel to the service through a proxy (RFC 9110, 9.3.6).
 *
 * @param proxy URL of the proxy, with its user name and password if it requires them
 * @param connect opens a connection to the proxy
 * @throws {ProxyError}
 */
async function openTunnel(
  { hostname, port, protocol }: buildConnector.Options,
  proxy: URL,
  connect: Connect,
  onTunnel: ConnectorOptions['onTunnel'],
): Promise<Socket> {
  const authority = `${isIPv6(hostname) ? `[${hostname}]` : hostname}:${portOf({ port, protocol })}`;
  const client = openClient(proxy.origin, connect, { headersTimeout: CONNECT_TIMEOUT_MS });
  try {
    const { statusCode, socket } = await client.connect({
      path: authority,
      headers: { host: authority, 'user-agent': USER_AGENT, ...authorizationOf(proxy) },
    });
    // Bytes after the head would be taken for the response to the first request.
    if (statusCode < 200 || statusCode > 299 || !(socket instanceof Socket) || socket.readableLength > 0) {
      socket.destroy();
      throw refused(statusCode);
    }
    onTunnel?.(undefined);
    return socket;
  } catch (error) {
    const code = errorCodeOf(error);
    const problem = code === undefined ? 'is unreachable' : `is unreachable (${code})`;
    const failure = error instanceof ProxyError ? error : new ProxyError(problem, { cause: error });
    onTunnel?.(failure.message);
    throw failure;
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

/**
 * Time limit for a name, and for a connection to each of its addresses, in milliseconds: a lost packet is repeated after 1 s (RFC 6298), and a retry still
 * fits into the operation.
 */
export const CONNECT_TIMEOUT_MS = 2_000;

/**
 * Time until the next address is tried too (RFC 8305, 5). Node.js (`autoSelectFamily`) would give the previous one up, although only its first packet
 * may be lost and the others unreachable.
 */
const NEXT_ADDRESS_MS = 250;

/**
 * Lookups in flight by name. They belong to the process, because each blocks one of its threads until the system gives up, which takes 10 s or more if
 * DNS doesn't answer. By default, it has two for lookups.
 */
const lookups = new Map<string, Promise<readonly LookupAddress[]>>();

/** Opens a connection. @throws {Error} with the code of the system; `EAI_AGAIN` or `ETIMEDOUT` if DNS or the addresses don't answer in time */
async function openSocket(hostname: string, port: number): Promise<Socket> {
  const sockets: Socket[] = [];
  const attempts: Promise<Socket>[] = [];
  for (const { address } of await lookUp(hostname)) {
    const socket = connect({ host: address, port, noDelay: true, keepAlive: true, keepAliveInitialDelay: 60_000 });
    socket.setTimeout(CONNECT_TIMEOUT_MS, () => socket.destroy(unanswered('ETIMEDOUT')));
    sockets.push(socket);
    attempts.push(once(socket, 'connect').then(() => socket));
    const opened = Promise.any(attempts).catch(() => undefined);
    if ((await Promise.race([opened, sleep(NEXT_ADDRESS_MS, undefined, { ref: false })])) !== undefined) {
      break;
    }
  }
  const opened = await Promise.any(attempts).catch(({ errors }: AggregateError) => Promise.reject(errors[0]));
  sockets.filter((socket) => socket !== opened).forEach((socket) => void socket.destroy());
  return opened.setTimeout(0).removeAllListeners('timeout');
}

/** Creates the `lookup` of a client that opens its connections itself: finds the address that accepts one first, by opening another. */
export const createLookup =
  (port: number): LookupFunction =>
  (hostname, _options, callback) =>
    openSocket(hostname, port).then(
      (socket) => {
        callback(null, String(socket.remoteAddress), isIP(String(socket.remoteAddress)));
        socket.destroy();
      },
      (error: Error) => callback(error, ''),
    );

/** Looks a name up. Families alternate, because all addresses of one may be unreachable (RFC 8305, 4). */
async function lookUp(hostname: string): Promise<readonly LookupAddress[]> {
  const hints = platform() === 'win32' ? 0 : ADDRCONFIG; // As `net.connect` does.
  const shared =
    lookups.get(hostname) ?? promises.lookup(hostname, { all: true, hints }).finally(() => lookups.delete(hostname));
  lookups.set(hostname, shared);
  const late = sleep(CONNECT_TIMEOUT_MS, undefined, { ref: false }).then(() => Promise.reject(unanswered('EAI_AGAIN')));
  const addresses = await Promise.race([shared, late]);
  const families = [...Map.groupBy(addresses, ({ family }) => family).values()];
  return addresses.flatMap((_, i) => families.flatMap((family) => family.slice(i, i + 1)));
}

/** Creates an error with the code that the system has for it. */
const unanswered = (code: string): Error => Object.assign(new Error(code), { code });
