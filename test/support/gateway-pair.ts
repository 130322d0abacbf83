import { once } from 'node:events';
import { request as sendRequest } from 'node:http';
import { text } from 'node:stream/consumers';
import { expect } from 'vitest';
import type { GatewayDeps, GatewayOptions } from '../../src/gateway.ts';
import { type Entry, startGateway } from './gateway.ts';
import { type Script, type ServiceRequest, startService } from './service.ts';

/** Request as sent over the wire. */
export interface WireRequest {
  method?: string;
  path?: string;
  headers?: Record<string, string>;
  /** Text, bytes, or a value that is sent as JSON. @default '' */
  body?: string | Uint8Array | object;
  /** Whether the body is sent with chunked encoding instead of Content-Length. @default false */
  isChunked?: boolean;
}

/** Response, and the upstream calls that the request caused. */
export interface WireResponse {
  status: number;
  headers: Record<string, unknown>;
  /** Body, parsed if it is JSON, with its errors sorted. */
  body: unknown;
  /** Reads sorted by path, because their order varies, then writes in the order they arrived. */
  upstream: Call[];
}

type Call = Pick<ServiceRequest, 'method' | 'path' | 'headers' | 'body'>;

/** Two gateways with the same configuration, one used through `listener` and one through `fetch`. */
export type GatewayPair = Awaited<ReturnType<typeof startGatewayPair>>;

export async function startGatewayPair(script: Script, options: Partial<GatewayOptions> = {}, deps: GatewayDeps = {}) {
  const start = async (entry: Entry) => {
    const upstream = await startService(script);
    const gateway = await startGateway({ maxRetries: 0, ...options, upstream: upstream.url }, { ...deps, entry });
    return { upstream, gateway };
  };
  const pair = { listener: await start('listener'), fetch: await start('fetch') };

  async function sendToOne({ upstream, gateway }: Awaited<ReturnType<typeof start>>, request: WireRequest) {
    const before = upstream.requests.length;
    const response = await send(gateway.url, request);
    return { ...response, upstream: sortReads(upstream.requests.slice(before).map(comparable)) };
  }

  return {
    listener: pair.listener.gateway,
    fetch: pair.fetch.gateway,
    /** Sends the request only to that with a listener, for tests that send many. */
    askListener: (request: WireRequest) => sendToOne(pair.listener, request),
    /** Sends the request to both gateways. */
    ask: async (request: WireRequest) => ({
      listener: await sendToOne(pair.listener, request),
      fetch: await sendToOne(pair.fetch, request),
    }),
    async [Symbol.asyncDispose]() {
      for (const { upstream, gateway } of Object.values(pair)) {
        await gateway[Symbol.asyncDispose]();
        await upstream[Symbol.asyncDispose]();
      }
    },
  };
}

async function send(
  url: string,
  { method = 'POST', path = '/graphql', headers = {}, body = '', isChunked = false }: WireRequest,
) {
  const content = typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body);
  const request = sendRequest(new URL(path, url), {
    method,
    headers: {
      ...(method === 'POST' && { 'content-type': 'application/json' }),
      ...(isChunked
        ? { 'transfer-encoding': 'chunked' }
        : method === 'POST' && { 'content-length': Buffer.byteLength(content) }),
      authorization: 'ApiKey two-ways',
      'x-request-id': 'r1',
      ...headers,
    },
  });
  request.end(content);
  const [response] = await once(request, 'response');
  const received = await text(response);
  const kept = Object.entries(response.headers).filter(([name]) => name !== 'date');
  return { status: response.statusCode, headers: Object.fromEntries(kept.toSorted()), body: sortErrors(received) };
}

const sortReads = (calls: readonly Call[]): Call[] => {
  const isRead = ({ method }: Call) => method === 'GET';
  const reads = calls.filter(isRead).toSorted((a, b) => (a.path < b.path ? -1 : 1));
  return [...reads, ...calls.filter((call) => !isRead(call))];
};

const comparable = ({ method, path, headers: { host: _, ...headers }, body }: ServiceRequest) => ({
  method,
  path,
  headers,
  body,
});

function sortErrors(text: string): unknown {
  const hidden = text.replace(/"errorId":"[\w-]{36}"/g, '"errorId":"one of ours"');
  if (!hidden.startsWith('{')) {
    return hidden;
  }
  const body = JSON.parse(hidden);
  return Array.isArray(body.errors)
    ? {
        ...body,
        errors: body.errors.toSorted((a: object, b: object) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)),
      }
    : body;
}

/** Sends a request to both gateways and expects the same response, headers and upstream calls. @returns the response */
export async function sendToBoth(pair: GatewayPair, request: WireRequest): Promise<WireResponse> {
  const { listener, fetch } = await pair.ask(request);
  expect(normalizeWaits(listener)).toEqual(normalizeWaits(fetch));
  return normalizeWaits(listener);
}

const toMinutes = (seconds: string): string =>
  String(Number(seconds) > 60 ? Math.round(Number(seconds) / 60) * 60 : seconds);

/** Rounds long waits to minutes, because the two gateways do not respond in the same second. */
function normalizeWaits({ headers, body, ...others }: WireResponse): WireResponse {
  const waits = Object.entries(headers).filter(([name]) => name === 'retry-after' || name === 'ratelimit-reset');
  const text = JSON.stringify(body).replace(
    /"retryAfterSeconds":(\d+)/g,
    (_, seconds) => `"retryAfterSeconds":${toMinutes(seconds)}`,
  );
  return {
    ...others,
    headers: { ...headers, ...Object.fromEntries(waits.map(([name, value]) => [name, toMinutes(String(value))])) },
    body: JSON.parse(text),
  };
}

/** Returns the first error of a response. */
export function errorOf({ body }: Pick<WireResponse, 'body'>): {
  message: string;
  extensions: Record<string, unknown>;
} {
  const [error] = Reflect.get(Object(body), 'errors') ?? [];
  return error ?? { message: '(there is no error)', extensions: {} };
}

/** Returns the data of a response. */
export const dataOf = ({ body }: Pick<WireResponse, 'body'>): unknown => Reflect.get(Object(body), 'data');
