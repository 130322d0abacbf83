// Opens TCP connections by name, to the first address that accepts one.

import { ADDRCONFIG, type LookupAddress, promises } from 'node:dns';
import { once } from 'node:events';
import { connect, isIP, type LookupFunction, type Socket } from 'node:net';
import { platform } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';

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
export async function openSocket(hostname: string, port: number): Promise<Socket> {
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
