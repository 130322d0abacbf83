/** An origin as browsers send it: scheme, host and port, and nothing else. */
export const isOrigin = (text: string): boolean => URL.parse(text)?.origin === text && text !== 'null';

/** Whether a host name or address is this machine's alone. */
export const isLoopbackHost = (host: string): boolean => /^(?:localhost|127\.\d+\.\d+\.\d+|\[?::1\]?)$/i.test(host);

/** Whether an issuer's keys can be trusted that come from there: what goes over a network must be encrypted. */
export function isKeysAddress(address: string): boolean {
  const url = URL.parse(address);
  return (
    url !== null &&
    (url.protocol === 'https:' || (url.protocol === 'http:' && isLoopbackHost(url.hostname))) &&
    url.username === '' &&
    url.password === ''
  );
}
