import type { Dispatcher } from 'undici';
import { headerOf, readErrorBody, readSuccess } from './body.ts';
import type { UpstreamRequest, Written } from './client.ts';
import { errorFromFailure } from './error-from-failure.ts';
import { errorFromResponse } from './error-from-response.ts';
import { isUpstreamError } from './errors.ts';
import { notSentInTime } from './failures.ts';

export interface ExchangeOptions {
  /** The scheme, host and port of the service. */
  origin: string;
  /** The sockets; see `createDispatcher`. */
  dispatcher: Dispatcher;
  /** Sent as `User-Agent`. */
  userAgent: string;
  /** The largest body that is read. @default 5 MiB */
  maxBodyBytes?: number;
}

/** Sends one request once, and decodes its answer. Fails with `UpstreamError` alone. */
export type Exchange = (request: UpstreamRequest, signal: AbortSignal) => Promise<Written<unknown>>;

export const createExchange =
  ({ origin, dispatcher, userAgent, maxBodyBytes = 5 * 1024 * 1024 }: ExchangeOptions): Exchange =>
  async (request, signal) => {
    const { endpoint, authorization, call } = request;
    if (signal.aborted) {
      throw notSentInTime(endpoint, signal.reason);
    }
    let status: number | undefined;
    try {
      const response = await dispatcher.request({
        origin,
        path: request.path,
        method: endpoint.method,
        // From scratch: nothing of the client's passes by itself.
        headers: {
          authorization,
          accept: 'application/json',
          'user-agent': userAgent,
          'x-request-id': request.requestId,
          ...(call.body !== undefined && { 'content-type': 'application/json' }),
          ...(call.idempotencyKey !== undefined && { 'idempotency-key': call.idempotencyKey }),
        },
        body: call.body === undefined ? null : JSON.stringify(call.body),
        signal,
      });
      status = response.statusCode;
      if (status >= 200 && status <= 299) {
        const body = await readSuccess(response, call.expect, maxBodyBytes);
        return { body, replayed: headerOf(response.headers, 'idempotency-replay') === 'true' };
      }
      throw errorFromResponse(
        {
          endpoint,
          secret: authorization.slice(authorization.indexOf(' ') + 1),
          bodyFields: Object.keys(call.body ?? {}),
          idempotencyKey: call.idempotencyKey,
        },
        { status, body: await readErrorBody(response), retryAfter: headerOf(response.headers, 'retry-after') },
      );
    } catch (failure) {
      throw isUpstreamError(failure) ? failure : errorFromFailure(endpoint, failure, status);
    }
  };
