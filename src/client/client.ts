import { type OperationResult, readResult } from './result.ts';
import { hashOf, type RequestDocument, textOf } from './typed-document.ts';

/** Options of `createClient`. */
export interface ClientOptions {
  /** URL of the gateway's GraphQL endpoint, such as `https://notifications.example.com/graphql`. */
  url: string | URL;
  /**
   * Value of the `Authorization` header: `Bearer <token>`, or `ApiKey <key>` on a server. A function is called for every request, so it
   * can renew an expired token. If it throws, `request` throws the same error.
   * @default no header
   */
  authorization?: string | (() => string | undefined | Promise<string | undefined>);
  /** Form in which documents are sent. Use `id` if the gateway has them as trusted documents. @default 'text' */
  send?: 'text' | 'id';
  /** Function that sends the requests. @default the global `fetch` */
  fetch?: (url: string | URL, init: RequestInit) => Promise<Response>;
}

/** Options of a single request. */
export interface RequestOptions {
  /** Signal that cancels the request; `request` then throws the signal's reason. */
  signal?: AbortSignal;
  /** Additional headers, such as `Idempotency-Key`. */
  headers?: Record<string, string>;
}

/** Arguments of `request` after the document. Variables are optional if the operation requires none. */
export type RequestArguments<Variables> =
  Record<never, never> extends Variables
    ? [variables?: Variables, options?: RequestOptions]
    : [variables: Variables, options?: RequestOptions];

/** Client for one gateway. */
export interface Client {
  /**
   * Sends an operation: a document of this module, or your own text with your own types.
   *
   * Errors reported by the gateway are in the result's `errors`, whatever the HTTP status.
   *
   * @throws {UnexpectedResponseError} if the response doesn't come from a gateway
   * @throws {TypeError} if the document has no text or id to send, or if `fetch` can't reach the gateway
   */
  request<Result = Record<string, unknown>, Variables = Record<string, unknown>>(
    document: RequestDocument<Result, Variables> | string,
    ...rest: RequestArguments<NoInfer<Variables>>
  ): Promise<OperationResult<Result>>;
}

/** Creates a client for one gateway. It has no cache and doesn't retry. */
export function createClient({ url, authorization, send = 'text', fetch = globalThis.fetch }: ClientOptions): Client {
  return {
    async request<Result, Variables>(
      document: RequestDocument<Result, Variables> | string,
      ...[variables, { signal, headers } = {}]: [variables?: Variables, options?: RequestOptions]
    ): Promise<OperationResult<Result>> {
      const body = JSON.stringify({
        ...(send === 'id' ? { documentId: `sha256:${hashOf(document)}` } : { query: textOf(document) }),
        variables,
      });
      const credential = typeof authorization === 'function' ? await authorization() : authorization;
      const response = await fetch(url, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/graphql-response+json, application/json;q=0.9',
          ...(credential !== undefined && { authorization: credential }),
          ...headers,
        },
        body,
        ...(signal !== undefined && { signal }),
      });
      return readResult(response);
    },
  };
}
