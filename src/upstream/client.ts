import type { Dispatcher } from 'undici';
import { type Expected, headerOf, readErrorBody, readSuccess } from './body.ts';
import { errorFromFailure } from './error-from-failure.ts';
import { errorFromResponse } from './error-from-response.ts';
import { type Endpoint, isUpstreamError, noCredential, notSentInTime } from './errors.ts';
import type { paths } from './openapi.gen.ts';
import { assertPathParams, fillRoute } from './path.ts';

/** What is the same for every call of one upstream service. */
export interface UpstreamOptions {
  /** The service's base address; may carry a path prefix, no query. */
  baseUrl: URL;
  /** The sockets; see `createDispatcher`. */
  dispatcher: Dispatcher;
  /** Sent as `User-Agent`. */
  userAgent: string;
  /** For one call, from sending it to the end of its body, in milliseconds. @default 6000 */
  attemptTimeoutMs?: number;
  /** The largest body that is read. @default 5 MiB */
  maxBodyBytes?: number;
}

/** Whose calls these are. */
export interface Caller {
  /** The `Authorization` header, forwarded byte for byte; without it every call fails before it is sent. */
  authorization: string | undefined;
  /** Ends every call when the caller is gone or the operation's time is over. */
  signal: AbortSignal;
  /** Sent as `X-Request-Id`, so that both services' logs can be joined. */
  requestId: string;
}

/** One call of an endpoint. */
export interface UpstreamCall {
  /** The path template as the API documents it. */
  route: keyof paths;
  /** The ids in the template, as they are: encoding them is done here. */
  params?: Readonly<Record<string, string>>;
  query?: Readonly<Record<string, string | number | undefined>>;
  /** What a success carries; anything else breaks the contract. */
  expect: Expected;
}

export interface UpstreamWrite extends UpstreamCall {
  method: Exclude<Endpoint['method'], 'GET'>;
  body?: object;
  /** Sent as `Idempotency-Key`; at most 255 characters. */
  idempotencyKey?: string | undefined;
}

/** The answer to a write. */
export interface Written<T> {
  body: T;
  /** Whether this is the stored answer of an earlier write with the same idempotency key. */
  replayed: boolean;
}

/**
 * The upstream service as one caller sees it: the only place that knows base address, credentials, deadline, decoding, and which
 * status is which error. Fails with `UpstreamError` alone. The shape inside a record is not checked here: GraphQL checks the
 * fields that were asked for.
 */
export interface UpstreamClient {
  /** null: the service has no such record (404, 410). */
  read<T>(call: UpstreamCall): Promise<T | null>;
  write<T>(call: UpstreamWrite): Promise<Written<T>>;
}

/** Binds the service to one caller; cheap, made for every operation. */
export type BindCaller = (caller: Caller) => UpstreamClient;

/** Any call, with the method spelled out. */
type Exchange = UpstreamCall & Omit<UpstreamWrite, 'method'> & { method: Endpoint['method'] };

export function createUpstreamClient({
  baseUrl,
  dispatcher,
  userAgent,
  attemptTimeoutMs = 6_000,
  maxBodyBytes = 5 * 1024 * 1024,
}: UpstreamOptions): BindCaller {
  const prefix = baseUrl.pathname.replace(/\/+$/, '');

  /** Sends one request and decodes its answer; `body` is out of its envelope. */
  async function exchange(caller: Caller, call: Exchange): Promise<Written<unknown>> {
    const endpoint: Endpoint = { method: call.method, route: call.route };
    const { authorization, signal, requestId } = caller;
    if (authorization === undefined) {
      throw noCredential(endpoint);
    }
    const path = prefix + buildPath(endpoint, call);
    if (signal.aborted) {
      throw notSentInTime(endpoint, signal.reason);
    }
    let status: number | undefined;
    try {
      const response = await dispatcher.request({
        origin: baseUrl.origin,
        path,
        method: call.method,
        headers: {
          authorization,
          accept: 'application/json',
          'user-agent': userAgent,
          'x-request-id': requestId,
          ...(call.body !== undefined && { 'content-type': 'application/json' }),
          ...(call.idempotencyKey !== undefined && { 'idempotency-key': call.idempotencyKey }),
        },
        body: call.body === undefined ? null : JSON.stringify(call.body),
        signal: AbortSignal.any([signal, AbortSignal.timeout(attemptTimeoutMs)]),
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
  }

  return (caller) => ({
    async read<T>(call: UpstreamCall) {
      try {
        const { body } = await exchange(caller, { method: 'GET', ...call });
        return body as T; // The contract's type: GraphQL checks the fields that are asked for.
      } catch (error) {
        if (isUpstreamError(error) && error.code === 'NOT_FOUND') {
          return null;
        }
        throw error;
      }
    },
    async write<T>(call: UpstreamWrite) {
      const { body, replayed } = await exchange(caller, call);
      return { body: body as T, replayed }; // As above.
    },
  });
}

/** The path and query of a call; an id that cannot be one path segment is refused before anything is sent. */
function buildPath(endpoint: Endpoint, { route, params = {}, query = {} }: UpstreamCall): string {
  assertPathParams(endpoint, params);
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) {
      search.set(name, String(value));
    }
  }
  return fillRoute(route, params) + (search.size > 0 ? `?${search}` : '');
}
