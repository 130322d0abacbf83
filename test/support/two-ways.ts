import { once } from 'node:events';
import { request as sendRequest } from 'node:http';
import { text } from 'node:stream/consumers';
import type { GatewayOptions } from '../../src/gateway.ts';
import { startGateway, type TestGateway } from './gateway.ts';
import { type Script, type ScriptedRequest, startScriptedUpstream } from './scripted-upstream.ts';

/** A request as it goes over the wire. */
export interface WireRequest {
  method?: string;
  path?: string;
  headers?: Record<string, string>;
  body?: string | object;
}

/** What came back, and what went upstream. */
export interface WireAnswer {
  status: number;
  headers: Record<string, unknown>;
  /** Parsed where it is JSON; errors in the order of their paths, for executors may find them in another one. */
  body: unknown;
  upstream: Pick<ScriptedRequest, 'method' | 'path' | 'headers' | 'body'>[];
}

/** The same gateway twice: everything compiled, and nothing. */
export interface TwoWays extends AsyncDisposable {
  compiled: TestGateway;
  reference: TestGateway;
  /** Sends the request to both. */
  ask(request: WireRequest): Promise<{ compiled: WireAnswer; reference: WireAnswer }>;
}

export async function startTwoWays(script: Script, options: Partial<GatewayOptions> = {}): Promise<TwoWays> {
  const start = async (compileAfter: number) => {
    const upstream = await startScriptedUpstream(script);
    const gateway = await startGateway({
      policies: { retry: { maxRetries: 0 } },
      ...options,
      upstream: upstream.url,
      compileAfter,
    });
    return { upstream, gateway };
  };
  const ways = { compiled: await start(0), reference: await start(1_000_000) };

  async function askOne({ upstream, gateway }: Awaited<ReturnType<typeof start>>, request: WireRequest) {
    const before = upstream.requests.length;
    const answer = await send(gateway.url, request);
    return { ...answer, upstream: upstream.requests.slice(before).map(comparable) };
  }

  return {
    compiled: ways.compiled.gateway,
    reference: ways.reference.gateway,
    ask: async (request) => ({
      compiled: await askOne(ways.compiled, request),
      reference: await askOne(ways.reference, request),
    }),
    async [Symbol.asyncDispose]() {
      for (const { upstream, gateway } of Object.values(ways)) {
        await gateway[Symbol.asyncDispose]();
        await upstream[Symbol.asyncDispose]();
      }
    },
  };
}

async function send(url: string, { method = 'POST', path = '/graphql', headers = {}, body = '' }: WireRequest) {
  const content = typeof body === 'string' ? body : JSON.stringify(body);
  const request = sendRequest(new URL(path, url), {
    method,
    headers: {
      ...(method === 'POST' && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(content) }),
      authorization: 'ApiKey two-ways',
      'x-request-id': 'r1',
      ...headers,
    },
  });
  request.end(content);
  const [response] = await once(request, 'response');
  const answer = await text(response);
  const { date: _, ...kept } = response.headers;
  return { status: response.statusCode, headers: kept, body: sortErrors(answer) };
}

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
