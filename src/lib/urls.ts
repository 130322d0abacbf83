// Checks URLs, and reads their parts.

import { orUndefined } from './caught.ts';

/** Whether a text is an origin as browsers send it: only scheme, host and port. */
export const isOrigin = (text: string): boolean => URL.parse(text)?.origin === text && text !== 'null';

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

/** Returns the port, also if it is the default one of the protocol. */
export const portOf = ({ port, protocol }: Pick<URL, 'port' | 'protocol'>): number =>
  Number(port || (protocol === 'https:' ? 443 : 80));

/** Whether percent-encoded text, such as the password in a URL, can be decoded. */
export const isDecodable = (text: string): boolean => orUndefined(() => decodeURIComponent(text)) !== undefined;
