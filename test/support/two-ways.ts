import { once } from 'node:events';
import { request as sendRequest } from 'node:http';
import { text } from 'node:stream/consumers';
import type { GatewayOptions } from '../../src/gateway.ts';
import { type Entry, startGateway, type TestGateway } from './gateway.ts';
import { type Script, type ScriptedRequest, startScriptedUpstream } from './scripted-upstream.ts';

/** A request as it goes over the wire. */
export interface WireRequest {
  method?: string;
  path?: string;
  headers?: Record<string, string>;
  body?: string | object;
  /** Whether the body is sent in chunks, without its length. @default false */
  isChunked?: boolean;
}

/** What came back, and what went upstream. */
export interface WireAnswer {
  status: number;
  headers: Record<string, unknown>;
  /** Parsed where it is JSON; errors in the order of their paths. */
  body: unknown;
  /** Reads by path, because they arrive in any order; then writes, as they arrived. */
  upstream: Call[];
}

type Call = Pick<ScriptedRequest, 'method' | 'path' | 'headers' | 'body'>;

/** The same gateway twice: entered by `listener` and by `fetch`. */
export interface TwoWays extends AsyncDisposable {
  listener: TestGateway;
  fetch: TestGateway;
  /** Sends the request to both. */
  ask(request: WireRequest): Promise<{ listener: WireAnswer; fetch: WireAnswer }>;
}

export async function startTwoWays(script: Script, options: Partial<GatewayOptions> = {}): Promise<TwoWays> {
  const start = async (entry: Entry) => {
    const upstream = await startScriptedUpstream(script);
    const gateway = await startGateway({ maxRetries: 0, ...options, upstream: upstream.url }, {}, entry);
    return { upstream, gateway };
  };
  const ways = { listener: await start('listener'), fetch: await start('fetch') };

  async function askOne({ upstream, gateway }: Awaited<ReturnType<typeof start>>, request: WireRequest) {
    const before = upstream.requests.length;
    const answer = await send(gateway.url, request);
    return { ...answer, upstream: inOrder(upstream.requests.slice(before).map(comparable)) };
  }

  return {
    listener: ways.listener.gateway,
    fetch: ways.fetch.gateway,
    ask: async (request) => ({
      listener: await askOne(ways.listener, request),
      fetch: await askOne(ways.fetch, request),
    }),
    async [Symbol.asyncDispose]() {
      for (const { upstream, gateway } of Object.values(ways)) {
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
  const content = typeof body === 'string' ? body : JSON.stringify(body);
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
  const answer = await text(response);
  const kept = Object.entries(response.headers).filter(([name]) => name !== 'date');
  return { status: response.statusCode, headers: Object.fromEntries(kept.toSorted()), body: sortErrors(answer) };
}

const inOrder = (calls: readonly Call[]): Call[] => {
  const isRead = ({ method }: Call) => method === 'GET';
  const reads = calls.filter(isRead).toSorted((a, b) => (a.path < b.path ? -1 : 1));
  return [...reads, ...calls.filter((call) => !isRead(call))];
};

const comparable = ({ method, path, headers: { host: _, ...headers }, body }: ScriptedRequest) => ({
  method,
  path,
  headers,
  body,
});

function sortErrors(answer: string): unknown {
  const hidden = answer.replace(/"errorId":"[\w-]{36}"/g, '"errorId":"one of ours"');
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
