import type { UpstreamRequest } from './request.ts';

/**
 * Returns a curl command that sends a request, for POSIX shells. `***` takes the place of the key.
 *
 * Returns undefined if the key is also in another part of the request, because then the command can't be shown.
 */
export function toCurl(origin: string, { endpoint, authorization, path, call }: UpstreamRequest): string | undefined {
  const url = origin + path;
  const body = call.body && JSON.stringify(call.body);
  const key = authorization.slice(authorization.indexOf(' ') + 1);
  if (url.includes(encodeURIComponent(key)) || body?.includes(JSON.stringify(key).slice(1, -1))) {
    return undefined;
  }
  const headers = [
    `Authorization: ${authorization.slice(0, authorization.indexOf(' '))} ***`,
    ...(body === undefined ? [] : ['Content-Type: application/json']),
    ...(call.idempotencyKey === undefined ? [] : [`Idempotency-Key: ${call.idempotencyKey}`]),
  ];
  return [
    `curl --request ${endpoint.method}`,
    ...(/[[\]]/.test(url) ? ['--globoff'] : []), // Only a prefix can contain them. To curl, they are ranges.
    quote(url),
    ...headers.map((header) => `--header ${quote(header)}`),
    ...(body === undefined ? [] : [`--data-raw ${quote(body)}`]),
  ].join(' ');
}

/** Quotes a word. Nothing is special between single quotes, except another one. */
const quote = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`;
