/**
 * Reads the upstream's base address: http or https, with or without a path prefix.
 *
 * @returns the address, or a sentence that says what is wrong; the sentence does not repeat the text, which may hold a secret
 */
export function parseUpstreamUrl(text: string): { url: URL } | { problem: string } {
  const url = URL.parse(text);
  if (url === null) {
    return { problem: 'is not a URL; write it like https://notifications.example.com' };
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    return { problem: 'must begin with http:// or https://' };
  }
  if (url.username !== '' || url.password !== '') {
    return { problem: 'must not contain a user name or password; the API key comes with each request' };
  }
  if (url.search !== '' || url.hash !== '') {
    return { problem: 'must not have a query or fragment' };
  }
  if (/\/v1\/*$/.test(url.pathname)) {
    return { problem: 'must not end in /v1; Notigraph adds that itself' };
  }
  return { url };
}

/**
 * Returns the upstream's base address.
 *
 * @throws {TypeError} if it cannot be used as one
 */
export function requireUpstreamUrl(text: string): URL {
  const parsed = parseUpstreamUrl(text);
  if ('problem' in parsed) {
    throw new TypeError(`The upstream address ${parsed.problem}.`);
  }
  return parsed.url;
}
