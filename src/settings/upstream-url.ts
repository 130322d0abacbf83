import { z } from 'zod';
import { isDecodable } from '../lib/urls.ts';

/**
 * Base address of the service: http or https, with or without a path prefix. Problems do not repeat the text, which may hold a secret.
 */
export const upstreamUrl = z
  .string('must be the base address of the service, such as https://notifications.example.com')
  .transform((text, context): URL => {
    const url = URL.parse(text);
    const problem = findProblem(url);
    if (url === null || problem !== undefined) {
      context.addIssue({ code: 'custom', message: problem ?? '' });
      return z.NEVER;
    }
    return url;
  });

const PROXY_PROBLEM = 'must be off, or the URL of a proxy such as http://proxy.example.com:3128';

/** Address of a proxy, which can contain a user name and a password. */
export const proxyAddress = z
  .string(PROXY_PROBLEM)
  .refine((address) => address === 'off' || isProxyAddress(address), PROXY_PROBLEM);

/** Whether a text is the URL of a proxy. */
function isProxyAddress(address: string): boolean {
  const url = URL.parse(address);
  return (
    url !== null &&
    /^https?:$/.test(url.protocol) &&
    url.pathname === '/' &&
    url.search + url.hash === '' &&
    isDecodable(url.username + url.password)
  );
}

function findProblem(url: URL | null): string | undefined {
  if (url === null) {
    return 'must be a URL such as https://notifications.example.com';
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    return 'must begin with http:// or https://';
  }
  if (url.username !== '' || url.password !== '') {
    return 'must not contain a user name or password; the API key comes with each request';
  }
  if (url.search !== '' || url.hash !== '') {
    return 'must not have a query or fragment';
  }
  return /\/v1\/*$/.test(url.pathname) ? 'must not end in /v1; Notigraph adds it' : undefined;
}
