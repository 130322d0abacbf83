// Checks URLs and IP addresses, and reads their parts.

import { BlockList, isIP } from 'node:net';
import { orUndefined } from './caught.ts';

/** Whether a text is an origin as browsers and apps send it: only scheme, host and port, in lower case. Pages in files have the origin `null`. */
export function isOrigin(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && `${url.protocol}//${url.host}` === text && /^(?!file:)[^A-Z*]*[^A-Z*/]$/.test(text);
}

/** Whether a host name or address is only reachable on this machine. */
export const isLoopbackHost = (host: string): boolean => /^(?:localhost|127\.\d+\.\d+\.\d+|\[?::1\]?)$/i.test(host);

/** Whether signing keys from this URL can be trusted: it must be HTTPS, unless it is on this machine. */
export function isKeysAddress(address: string): boolean {
  const url = URL.parse(address);
  return (
    url !== null &&
    (url.protocol === 'https:' || (url.protocol === 'http:' && isLoopbackHost(url.hostname))) &&
    url.username === '' &&
    url.password === ''
  );
}

/** Returns a host without the brackets of an IPv6 address. */
export const addressOf = ({ hostname }: Pick<URL, 'hostname'>): string => hostname.replace(/^\[|\]$/g, '');

/** Returns a host name of a URL, or the end of a URL with its port, without the dot that ends absolute names. */
export const toHostname = (host: string): string => host.replace(/\.(?=(?::\d+)?$)/, '');

/** Returns the port, also if it is the default one of the protocol. */
export const portOf = ({ port, protocol }: Pick<URL, 'port' | 'protocol'>): number =>
  Number(port || (protocol === 'https:' ? 443 : 80));

/** Whether percent-encoded text, such as the password in a URL, can be decoded. */
export const isDecodable = (text: string): boolean => orUndefined(() => decodeURIComponent(text)) !== undefined;

/** Returns the addresses of a text such as `10.0.0.7`, `10.0.0.0/8` or `fd00::/8`; undefined if it has another form. */
export function parseIpRange(text: string): ((address: string) => boolean) | undefined {
  const [, address = '', bits] = /^([\da-f.:]+)(?:\/(\d{1,3}))?$/i.exec(text) ?? [];
  const length = isIP(address) === 6 ? 128 : 32;
  if (isIP(address) === 0 || Number(bits ?? 0) > length) {
    return undefined;
  }
  const list = new BlockList();
  list.addSubnet(address, Number(bits ?? length), familyOf(address));
  return (other) => isIP(other) !== 0 && list.check(other, familyOf(other));
}

const familyOf = (address: string): 'ipv4' | 'ipv6' => (isIP(address) === 6 ? 'ipv6' : 'ipv4');
