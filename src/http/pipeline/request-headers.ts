// Reads what the headers of a request say about its client: the media types it accepts, its IP address and its name.

import { isIP } from 'node:net';
import { memoize } from '../../lib/memoize.ts';
import { parseIpRange } from '../../lib/urls.ts';
import type { GatewaySettings } from '../../settings/settings.ts';
import type { IncomingRequest } from '../message.ts';

const JSON_TYPE = 'application/json';
const GRAPHQL_TYPE = 'application/graphql-response+json';

/** Maximum cached results. Clients send few different headers. */
const MAX_RESULTS = 100;

/** Maximum length of a cached header, because clients choose it. Longer ones are parsed each time. */
const MAX_LENGTH = 500;

/**
 * Creates the function that returns the media type of a response for an `Accept` header; undefined if none of its types is available. Results are
 * cached, because parsing the header costs more than a pipeline step.
 */
export function createNegotiateMediaType() {
  const chooseOnce = memoize(choose, MAX_RESULTS, MAX_LENGTH);
  return (accept: string | undefined): string | undefined => chooseOnce(accept || '*/*');
}

/** Quoted value of a parameter. One without an end reaches to the end of the header. */
const QUOTED = /"(?:[^"\\]|\\.)*\\?(?:"|$)/g;

/**
 * Returns the available type with the highest weight (RFC 9110, 12.5.1). The weight of a type is that of the entry that names it most precisely.
 * Of types with the same weight, an exactly named one is preferred to a wildcard, then the first in the list, then JSON.
 */
function choose(accept: string): string | undefined {
  const text = accept.toLowerCase().replace(QUOTED, (value) => value.replace(/[",;\\]/g, ''));
  const ranges = text.replace(/\s/g, '').split(',').filter(Boolean).map(toMediaRange);
  const offers = [JSON_TYPE, GRAPHQL_TYPE].flatMap((type) => {
    const matches = ranges.map((range) => ({ ...range, type, precision: precisionOf(range, type) }));
    const [best] = matches.sort((a, b) => b.precision - a.precision);
    return best !== undefined && best.precision >= 0 && best.weight > 0 ? [best] : [];
  });
  const [chosen] = offers.sort(
    (a, b) => b.weight - a.weight || Math.floor(b.precision) - Math.floor(a.precision) || a.index - b.index,
  );
  return chosen && `${chosen.type}; charset=utf-8`;
}

function toMediaRange(entry: string, index: number) {
  const [, charset] = /;charset=([^;]*)/.exec(entry) ?? [];
  const [, weight = 1] = /;q=([01](?:\.\d*)?)(?:;|$)/.exec(entry) ?? [];
  return { range: entry.split(';', 1)[0] ?? '', charset, weight: Math.min(1, Number(weight)), index };
}

/** Returns how precisely an entry names a type; a negative number if it doesn't. */
function precisionOf({ range, charset }: ReturnType<typeof toMediaRange>, type: string): number {
  return charset === undefined || /^utf-?8$/.test(charset) // Some clients leave out the dash.
    ? ['*/*', 'application/*', type].indexOf(range) + (charset === undefined ? 0 : 0.5)
    : -1;
}

/**
 * Creates a function that returns the IP address of a client behind trusted proxies, for the log; undefined if it is not logged, or unknown. It believes only trusted proxies, each
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

/** Name and version that a client gives itself, for metrics and the log. Not verified: any client can give any name. */
interface ClientName {
  /** Name of the app; undefined if it gave none, or none of the accepted form. */
  client: string | undefined;
  clientVersion: string | undefined;
}

/** Headers with the name and version. Apollo Client sends its own. */
const HEADERS = [
  ['x-graphql-client-name', 'x-graphql-client-version'],
  ['apollographql-client-name', 'apollographql-client-version'],
] as const;

/** Form of names and versions, such as `@acme/web` and `1.4.0-beta+5`. It excludes tokens and everything that needs escaping. */
const CLIENT_NAME_FORM = /^[\w@][\w .@/+:-]{0,63}$/;

const NO_NAME: ClientName = { client: undefined, clientVersion: undefined };

/** Reads the name and version of the client from the first pair of headers that has a name. */
export function readClientName(request: IncomingRequest): ClientName {
  for (const [nameHeader, versionHeader] of HEADERS) {
    const name = request.header(nameHeader);
    if (name !== undefined) {
      return { client: acceptable(name), clientVersion: acceptable(request.header(versionHeader)) };
    }
  }
  return NO_NAME;
}

const acceptable = (text: string | undefined): string | undefined =>
  text !== undefined && CLIENT_NAME_FORM.test(text) ? text : undefined;
