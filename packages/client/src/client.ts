// Creates the client, and sends its requests.

import { globalFetch } from './global-fetch.ts';
import { type ExplainResult, type OperationResult, readResult } from './result.ts';
import { type RetryEvent, type RetryOptions, sendWithRetries } from './retry.ts';
import { hashOf, mayWrite, type RequestDocument, textOf } from './typed-document.ts';

/** Options of a single request. */
export interface RequestOptions {
  /** Signal that cancels the request, also while it waits for a retry; `request` then throws the signal's reason. */
  signal?: AbortSignal;
  /** Additional headers, such as `Idempotency-Key`. A mutation without one gets a random key. */
  headers?: Record<string, string>;
  /** Use of the gateway's cache: `no-cache` asks for current data. @default the gateway may use cached data */
  cache?: 'no-cache';
  /** Whether `extensions.upstream` of the result reports the REST calls. Browsers need the gateway's permission. @default false */
  cost?: boolean;
  /** Limits of retries, in addition to those of the client; `false` sends the request once. @default those of the client */
  retries?: RetryOptions | false;
}

/** Arguments of `request` after the document. Variables are optional if the operation requires none. */
export type RequestArguments<Variables> =
  Record<never, never> extends Variables
    ? [variables?: Variables, options?: RequestOptions]
    : [variables: Variables, options?: RequestOptions];

/** `Authorization` header, or a function that returns it. */
type Authorization = string | ((expired?: string) => string | undefined | Promise<string | undefined>);

export interface ClientOptions {
  /** URL of the gateway's GraphQL endpoint, such as `https://graphql.example.com/graphql`. */
  url: string | URL;
  /**
   * Value of the `Authorization` header: `Bearer <token>`, or `ApiKey <key>` on a server. A function is called for every attempt. If the gateway says that
   * the token has expired, it is called once more, with the expired value, and the request is sent again if it returns another one. If it throws, `request`
   * throws the same error.
   * @default no header
   */
  authorization?: Authorization;
  /** Name of the app in the gateway's metrics and log, such as `@acme/web`. @default none */
  clientName?: string;
  /** Version of the app there. @default none */
  clientVersion?: string;
  /** Form in which documents are sent. Use `id` if the gateway has them as trusted documents. @default 'text' */
  send?: 'text' | 'id';
  /** Limits of retries; `false` sends every request once. @default at most 3 attempts within 20 seconds */
  retries?: RetryOptions | false;
  /** Called before the wait that precedes a retry, for logs. @default not called */
  onRetry?: (event: RetryEvent) => void;
  /** Function that sends the requests. @default the global `fetch` */
  fetch?: (url: string | URL, init: RequestInit) => Promise<Response>;
}

/** Client for one gateway. */
export interface Client {
  /**
   * Sends an operation: a document of this module, or your own text with your own types. Retries it if that is safe.
   *
   * Errors reported by the gateway are in the result's `errors`, whatever the HTTP status.
   *
   * @throws {UnexpectedResponseError} if the response doesn't come from a gateway, or is a redirect
   * @throws {TypeError} if the document has no text or id to send, the URL is invalid, or `fetch` can't reach the gateway
   */
  request<Result = Record<string, unknown>, Variables = Record<string, unknown>>(
    document: RequestDocument<Result, Variables> | string,
    ...rest: RequestArguments<NoInfer<Variables>>
  ): Promise<OperationResult<Result>>;
  /**
   * Lists the REST calls that an operation would make, without making them. Browsers need the gateway's permission.
   *
   * @throws {Error} if the gateway has executed the operation, because its version can't explain
   * @throws {UnexpectedResponseError} if the response doesn't come from a gateway, or is a redirect
   * @throws {TypeError} if the document has no text or id to send, the URL is invalid, or `fetch` can't reach the gateway
   */
  explain<Result = Record<string, unknown>, Variables = Record<string, unknown>>(
    document: RequestDocument<Result, Variables> | string,
    ...rest: RequestArguments<NoInfer<Variables>>
  ): Promise<ExplainResult>;
}

/** Creates a client for one gateway. It has no cache. */
export function createClient({
  url,
  authorization,
  clientName,
  clientVersion,
  send = 'text',
  retries = {},
  onRetry,
  fetch = globalFetch,
}: ClientOptions): Client {
  const identification = {
    ...(clientName !== undefined && { 'x-graphql-client-name': clientName }),
    ...(clientVersion !== undefined && { 'x-graphql-client-version': clientVersion }),
  };

  async function run<Result>(
    document: object | string,
    variables: unknown,
    options: RequestOptions,
    extensions?: { explain?: true; upstream?: true },
  ): Promise<OperationResult<Result>> {
    const { signal } = options;
    const isWrite = mayWrite(document);
    const headers = requestHeaders(identification, isWrite, options);
    const body = JSON.stringify({
      ...(send === 'id' ? { documentId: `sha256:${hashOf(document)}` } : { query: textOf(document) }),
      variables,
      extensions,
    });
    return sendWithRetries({
      authorize: (expired) => authorizedHeaders(headers, authorization, expired),
      send: async (authorized) =>
        readResult(
          await fetch(url, {
            method: 'POST',
            headers: authorized,
            body,
            redirect: 'manual', // Followed, it could lose the method, the body or the credential.
            ...(signal !== undefined && { signal }),
          }),
          url,
        ),
      isWrite,
      hasOwnKey: new Headers(options.headers).has('idempotency-key'),
      signal,
      retries: limitsOf(retries, options.retries),
      onRetry,
    });
  }

  return {
    request: (document, ...[variables, options = {}]) =>
      run(document, variables, options, options.cost ? { upstream: true } : undefined),
    async explain(document, ...[variables, options = {}]) {
      const { errors, data: _, ...head } = await run(document, variables, options, { explain: true });
      const explanation = head.extensions?.explain;
      if (explanation !== undefined) {
        return { ...head, explanation, ...(errors !== undefined && { errors }) };
      }
      if (errors === undefined) {
        throw new Error('The gateway has executed the operation, because its version does not support explain.');
      }
      return { ...head, errors };
    },
  };
}

const ONCE: RetryOptions = { maxAttempts: 1 };

function limitsOf(ofClient: RetryOptions | false, ofRequest: RetryOptions | false = ofClient): RetryOptions {
  return ofRequest === false ? ONCE : { ...(ofClient !== false && ofClient), ...ofRequest };
}

/**
 * Returns the headers that all attempts of a request have in common. A write has an idempotency key: a service that supports keys applies
 * it once, however often it is sent.
 */
function requestHeaders(
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
async function authorizedHeaders(
  headers: Headers,
  authorization: Authorization | undefined,
  expired: string | undefined,
): Promise<Headers> {
  const credential = typeof authorization === 'function' ? await authorization(expired) : authorization;
  const all = new Headers(headers);
  if (credential !== undefined && !all.has('authorization')) {
    all.set('authorization', credential);
  }
  return all;
}

/**
 * Returns 128 random bits. `crypto.randomUUID` exists only on pages with https. React Native has no `crypto`: there, the key begins with the time, because
 * the seed of `Math.random` can have only 32 bits.
 */
const randomKey = (): string =>
  typeof crypto === 'undefined'
    ? [Date.now(), Math.random() * 2 ** 52, Math.random() * 2 ** 52]
        .map((part) => Math.floor(part).toString(16))
        .join('-')
    : Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
