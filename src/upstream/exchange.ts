import type { Dispatcher } from 'undici';
import { BodyError, headerOf, readErrorBody, readSuccess } from './body.ts';
import type { UpstreamRequest, Written } from './client.ts';
import { errorFromFailure } from './error-from-failure.ts';
import { errorFromResponse } from './error-from-response.ts';
import { isUpstreamError } from './errors.ts';
import { notSentInTime, timedOut } from './failures.ts';
import { orAborted } from './time-limit.ts';

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
    let sent = false;
    let status: number | undefined;
    const noteSent = () => {
      sent = true;
    };
    try {
      // undici settles an aborted request that waits for a socket only when it gets one: hence the race.
      const answered = watchStart(dispatcher, noteSent).request({
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
      const response = await orAborted(answered, signal);
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
      if (isUpstreamError(failure)) {
        throw failure;
      }
      if (signal.aborted && !(failure instanceof BodyError)) {
        throw sent ? timedOut(endpoint, status, failure) : notSentInTime(endpoint, failure);
      }
      throw errorFromFailure(endpoint, failure, { sent, status });
    }
  };

/** The dispatcher for one request; says when a connection takes it. Until then nothing of it can have arrived. */
const watchStart = (dispatcher: Dispatcher, onStart: () => void): Dispatcher =>
  dispatcher.compose((dispatch) => (options, handler) => {
    const watched: Dispatcher.DispatchHandler = {
      onRequestStart(controller, context) {
        onStart();
        handler.onRequestStart?.(controller, context);
      },
      onRequestUpgrade: (...args) => handler.onRequestUpgrade?.(...args),
      onResponseStart: (...args) => handler.onResponseStart?.(...args),
      onResponseData: (...args) => handler.onResponseData?.(...args),
      onResponseEnd: (...args) => handler.onResponseEnd?.(...args),
      onResponseError: (...args) => handler.onResponseError?.(...args),
    };
    return dispatch(options, watched);
  });
