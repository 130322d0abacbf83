// Finds the IP address of a client behind trusted proxies, for the log.

import { isIP } from 'node:net';
import { parseIpRange } from '../../lib/urls.ts';
import type { GatewaySettings } from '../../settings/settings.ts';
import type { IncomingRequest } from '../message.ts';

/**
 * Creates a function that returns the IP address of a client; undefined if it is not logged, or unknown. It believes only trusted proxies, each
 * of which adds the address of its own client at the end of a header: that of another client could be invented.
 */
export function createAddressOf(
  trustedProxies: GatewaySettings['trustedProxies'],
): (request: Pick<IncomingRequest, 'remoteAddress' | 'header'>) => string | undefined {
  if (trustedProxies === undefined) {
    return () => undefined;
  }
  const { addresses, header } = trustedProxies;
  const ranges = addresses.flatMap((each) => parseIpRange(each) ?? []);
  return (request) => {
    let address = request.remoteAddress && normalize(request.remoteAddress);
    const text = request.header(header.toLowerCase()) ?? '';
    for (const sender of (header === 'Forwarded' ? sendersIn(text) : text.split(',')).reverse()) {
      const next = normalize(sender);
      if (address === undefined || isIP(next) === 0 || !ranges.some((range) => range(address ?? ''))) {
        break;
      }
      address = next;
    }
    return address;
  };
}

/** Quoted value in the header `Forwarded` (RFC 7239, 4). A quote in another place was sent by a client that left it open. */
const QUOTED_VALUE = /(?<==)"(?:[^"\\]|\\.)*"(?=\s*(?:[;,]|$))/g;

/** Returns the senders that the header names, which can be empty. One with an open quote names none. */
const sendersIn = (forwarded: string): string[] =>
  forwarded
    .replace(QUOTED_VALUE, (value) => value.replace(/[",;\\]/g, ''))
    .split(',')
    .filter((element) => /[^\s;]/.test(element)) // Lists can have empty elements (RFC 9110, 5.6.1.2).
    .map((element) => /^(?=[^"]*$)(?:.*;)?\s*for=([^;]*)/i.exec(element)?.[1] ?? '');

/** Returns an address without quotes, port and zone, and an IPv4 address in its own form. */
const normalize = (text: string): string =>
  text
    .trim()
    .replace(/^"?\[?(.*?)(?:\](?::\d+)?)?"?$/, '$1')
    .replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, '$1')
    .replace(/^::ffff:(?=\d+\.)/i, '')
    .replace(/%.*/, '');
