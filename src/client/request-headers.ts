import type { RequestOptions } from './request-options.ts';

/** `Authorization` header, or a function that returns it. */
export type Authorization = string | (() => string | undefined | Promise<string | undefined>);

/**
 * Returns the headers that all attempts of a request have in common. A write has an idempotency key: a service that supports keys applies
 * it once, however often it is sent.
 */
export function requestHeaders(
  identification: Readonly<Record<string, string>>,
  isWrite: boolean,
  { headers = {}, cache }: RequestOptions,
): Headers {
  const all = new Headers({
    'content-type': 'application/json',
    accept: 'application/graphql-response+json, application/json;q=0.9',
    ...identification,
    ...(cache !== undefined && { 'cache-control': cache }),
    ...(isWrite && { 'idempotency-key': randomKey() }),
  });
  for (const [name, value] of Object.entries(headers)) {
    all.set(name, value);
  }
  return all;
}

/** Returns the headers of one attempt: with the credential, unless they already have one. */
export async function authorizedHeaders(headers: Headers, authorization: Authorization | undefined): Promise<Headers> {
  const credential = typeof authorization === 'function' ? await authorization() : authorization;
  const all = new Headers(headers);
  if (credential !== undefined && !all.has('authorization')) {
    all.set('authorization', credential);
  }
  return all;
}

/** Returns 128 random bits. `crypto.randomUUID` exists only on pages with https. */
const randomKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
