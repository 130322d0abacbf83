import type { RetryOptions } from './retry.ts';

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
