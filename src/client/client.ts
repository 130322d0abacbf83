import { type OperationResult, readResult } from './result.ts';
import { hashOf, type RequestDocument, textOf } from './typed-document.ts';

export interface ClientOptions {
  /** The gateway's GraphQL endpoint, such as `https://notifications.example.com/graphql`. */
  url: string | URL;
  /**
   * The `Authorization` header: `Bearer <token>`, or `ApiKey <key>` on a server. A function is asked for every request, so that it can
   * renew a token; what it throws, `request` throws.
   * @default none is sent
   */
  authorization?: string | (() => string | undefined | Promise<string | undefined>);
  /** Whether a document goes as its text, or as its id, which the gateway knows from its trusted documents. @default 'text' */
  send?: 'text' | 'id';
  /** Sends the requests. @default the global `fetch` */
  fetch?: (url: string | URL, init: RequestInit) => Promise<Response>;
}

export interface RequestOptions {
  /** Ends the request; `request` then throws the signal's reason. */
  signal?: AbortSignal;
  /** More headers, such as `Idempotency-Key`. */
  headers?: Record<string, string>;
}

/** Variables may be left out where none is required. */
export type RequestArguments<Variables> =
  Record<never, never> extends Variables
    ? [variables?: Variables, options?: RequestOptions]
    : [variables: Variables, options?: RequestOptions];

export interface Client {
  /**
   * Sends an operation: one of the documents of this module, or a text of your own with types of your own.
   *
   * Failures that the gateway tells are in the answer's `errors`, whatever its HTTP status.
   *
   * @throws {UnexpectedAnswerError} when the answer is none of a gateway
   * @throws {TypeError} when the document has no text or id to send, or as `fetch` does when nothing could be reached
   */
  request<Result = Record<string, unknown>, Variables = Record<string, unknown>>(
    document: RequestDocument<Result, Variables> | string,
    ...rest: RequestArguments<NoInfer<Variables>>
  ): Promise<OperationResult<Result>>;
}

/** A client for one gateway. It holds nothing but its options: no cache, no retries. */
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
