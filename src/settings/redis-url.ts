import { isDecodable } from '../lib/urls.ts';

/** Form of a Redis server's URL, as a clause. */
export const REDIS_URL_FORM = 'must be a URL redis://… or rediss://…, { env: NAME } or { file: PATH }';

/** Returns a problem of a Redis server's URL as a clause that doesn't quote it, or undefined. */
export function findRedisUrlProblem(url: string): string | undefined {
  const parsed = URL.parse(url);
  if (parsed === null || !/^rediss?:$/.test(parsed.protocol) || parsed.hostname === '' || parsed.port === '0') {
    return `${REDIS_URL_FORM}, such as redis://host:6379`;
  }
  if (!/^\/?\d{0,4}$/.test(parsed.pathname)) {
    return 'must end in a database number, such as /0, or have no path';
  }
  if (parsed.search !== '' || parsed.hash !== '') {
    return 'must not contain ? or #; write them as %3F and %23 in a password';
  }
  return isDecodable(parsed.username) && isDecodable(parsed.password)
    ? undefined
    : 'has a user name or password with a % that must be written as %25';
}
