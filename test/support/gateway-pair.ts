// Compares a gateway used through `listener` with one used through `fetch`.

import { once } from 'node:events';
import { request as sendRequest } from 'node:http';
import { text } from 'node:stream/consumers';
import { expect } from 'vitest';
import type { GatewayOptions } from '../../src/gateway.ts';
import { type Entry, type GatewayWithService, startGateway } from './gateway.ts';
import type { Script, ServiceRequest } from './service.ts';

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

export async function startGatewayPair(script: Script, options: Partial<GatewayOptions> = {}) {
  /** Starts one. Its clock stands still, so that both report the same waits. */
  const start = (entry: Entry) => startGateway({ service: script, maxRetries: 0, ...options }, { entry });
  const [listener, fetch] = [await start('listener'), await start('fetch')];

  async function sendToOne({ url, service }: GatewayWithService, request: WireRequest) {
    const before = service.requests.length;
    const response = await send(url, request);
    return { ...response, upstream: sortReads(service.requests.slice(before).map(comparable)) };
  }

  return {
    listener,
    fetch,
    /** Sends the request only to that with a listener, for tests that send many. */
    askListener: (request: WireRequest) => sendToOne(listener, request),
    /** Sends the request to both gateways. */
    ask: async (request: WireRequest) => ({
      listener: await sendToOne(listener, request),
      fetch: await sendToOne(fetch, request),
    }),
    async [Symbol.asyncDispose]() {
      await listener[Symbol.asyncDispose]();
      await fetch[Symbol.asyncDispose]();
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
  expect(listener).toEqual(fetch);
  return listener;
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
