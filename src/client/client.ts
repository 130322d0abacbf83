import { globalFetch } from './global-fetch.ts';
import { type Authorization, authorizedHeaders, requestHeaders } from './request-headers.ts';
import type { RequestArguments, RequestOptions } from './request-options.ts';
import { type ExplainResult, type OperationResult, readResult } from './result.ts';
import { type RetryEvent, type RetryOptions, sendWithRetries } from './retry.ts';
import { hashOf, mayWrite, type RequestDocument, textOf } from './typed-document.ts';

/** Options of `createClient`. */
export interface ClientOptions {
  /** URL of the gateway's GraphQL endpoint, such as `https://notifications.example.com/graphql`. */
  url: string | URL;
  /**
   * Value of the `Authorization` header: `Bearer <token>`, or `ApiKey <key>` on a server. A function is called for every attempt, so it
   * can renew an expired token. If it throws, `request` throws the same error.
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

/** Flags that ask the gateway for more than data. */
interface RequestExtensions {
  explain?: true;
  upstream?: true;
}

/** Client for one gateway. */
export interface Client {
  /**
   * Sends an operation: a document of this module, or your own text with your own types. Retries it if that is safe.
   *
   * Errors reported by the gateway are in the result's `errors`, whatever the HTTP status.
   *
   * @throws {UnexpectedResponseError} if the response doesn't come from a gateway
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
   * @throws {UnexpectedResponseError} if the response doesn't come from a gateway
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
    extensions?: RequestExtensions,
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
      authorize: () => authorizedHeaders(headers, authorization),
      send: async (authorized) =>
        readResult(
          await fetch(url, { method: 'POST', headers: authorized, body, ...(signal !== undefined && { signal }) }),
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
