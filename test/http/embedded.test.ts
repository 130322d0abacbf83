import { createServer, type IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { pino } from 'pino';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createClient } from '../../packages/client/src/index.ts';
import { createGateway } from '../../src/gateway.ts';
import { connectAgent, MCP } from '../support/agent.ts';
import { guards } from '../support/guards.ts';
import { healthyService } from '../support/healthy-service.ts';
import { ofFile } from '../support/lifetime.ts';
import { listen } from '../support/listen.ts';
import { startService } from '../support/service.ts';

guards('src/http/adapters/node-adapter.ts', 'createListener');
guards('src/http/adapters/fetch-adapter.ts', 'createFetchHandler');
guards('src/http/adapters/fetch-adapter.ts', 'FetchRequest.body');
guards('src/http/adapters/node-adapter.ts', 'NodeRequest.body');

const QUERY = '{ notificationGroups { id } }';
const HEADERS = { authorization: 'ApiKey k', 'content-type': 'application/json' };

const upstream = ofFile(await startService(healthyService));
const gateway = ofFile(
  createGateway({ upstream: upstream.url, endpoint: '/api/graphql', maxBodyBytes: 2_000, mcp: MCP, graphiql: true }),
);

/** Starts a server that does something with each request before the gateway gets it. @returns the URL of the endpoint */
async function startHost(prepare: (request: IncomingMessage) => Promise<void> | void): Promise<string> {
  const server = await listen(
    createServer(async (request, response) => {
      await prepare(request);
      gateway.listener(request, response);
    }),
  );
  onTestFinished(() => server.close());
  return server.url + gateway.endpoint;
}

/** Sends a body, without `Content-Length` if it is a stream. */
async function post(url: string, body: string | Blob, { isChunked = false } = {}) {
  const stream = isChunked ? new Blob([body]).stream() : body;
  const init: RequestInit & { duplex: 'half' } = { method: 'POST', headers: HEADERS, body: stream, duplex: 'half' };
  const response = await fetch(url, init);
  const { data, errors } = await response.json();
  return { status: response.status, data, code: errors?.[0].extensions.code, message: errors?.[0].message };
}

const groups = { status: 200, data: { notificationGroups: [{ id: 'g1' }, { id: 'g2' }] } };

/** Rewrites the URL as Express does for `app.use(path, …)`. */
function mountAt(path: string, request: IncomingMessage) {
  const { url = '' } = request;
  const rest = url.slice(path.length);
  Object.assign(request, { originalUrl: url, url: rest.startsWith('/') ? rest : `/${rest}` });
}

it.each(['/api', '/api/graphql'])('a gateway mounted at %s is served at its endpoint', async (path) => {
  const url = await startHost((request) => mountAt(path, request));
  expect(await post(url, JSON.stringify({ query: QUERY }))).toMatchObject(groups);
  const response = await fetch(`${url}?query=${QUERY}`, { headers: HEADERS });
  expect(await response.json()).toEqual({ data: groups.data });
  const page = await fetch(url, { headers: { accept: 'text/html' } });
  expect(page.headers.get('content-type')).toContain('text/html');
});

it('a gateway whose logger throws leaves no request open, and can be disposed', async () => {
  const logger = pino(
    {},
    {
      write() {
        throw new Error('the log is closed');
      },
    },
  );
  const broken = createGateway({ upstream: upstream.url }, { logger });
  const server = await listen(createServer(broken.listener));
  onTestFinished(() => server.close());
  const body = JSON.stringify({ query: QUERY });
  await expect(post(server.url + broken.endpoint, body)).rejects.toThrow('fetch failed');
  const request = new Request(server.url + broken.endpoint, { method: 'POST', headers: HEADERS, body });
  await expect(broken.fetch(request)).rejects.toThrow('the log is closed');
  await broken.dispose();
});

it('tools are served at a mounted path', async () => {
  const url = await startHost((request) => mountAt('/mcp', request));
  await using agent = await connectAgent({ url }, 'ApiKey k');
  expect(await agent.names()).toContain('Groups');
});

/** Reads the body as a parser of the host does, which leaves the result in `request.body`. */
const parseWith = (parse: (bytes: Buffer) => unknown) => async (request: IncomingMessage) => {
  const bytes = await buffer(request);
  Object.assign(request, { body: parse(bytes) });
};

const PARSERS: [string, (bytes: Buffer) => unknown][] = [
  ['an object', (bytes) => JSON.parse(String(bytes))],
  ['a text', String],
  ['bytes', (bytes) => bytes],
];

it.each(PARSERS)('a body that the host has parsed to %s is used, within the size limit', async (_, parse) => {
  const url = await startHost(parseWith(parse));
  expect(await post(url, JSON.stringify({ query: QUERY }))).toMatchObject(groups);
  const body = JSON.stringify({ query: `${QUERY} # ${'ü'.repeat(1_000)}` });
  for (const isChunked of [false, true]) {
    expect(await post(url, body, { isChunked })).toMatchObject({ status: 413, code: 'PAYLOAD_TOO_LARGE' });
  }
});

it('bytes that are not UTF-8 are rejected after the host has read them', async () => {
  const url = await startHost(parseWith((bytes) => bytes));
  const body = new Blob([Buffer.from(JSON.stringify({ query: `${QUERY} # Übung` }), 'latin1')]);
  expect(await post(url, body)).toMatchObject({ status: 400, message: 'The request body is not UTF-8.' });
});

it('an object that cannot be written as JSON is rejected', async () => {
  const circular: unknown[] = [];
  circular.push(circular);
  const url = await startHost(parseWith(() => ({ query: QUERY, variables: { circular } })));
  expect(await post(url, '{}')).toMatchObject({ status: 400, code: 'BAD_REQUEST' });
});

it('a body that the host has not read is read, whatever the host calls a body', async () => {
  const url = await startHost((request) => void Object.assign(request, { body: {} }));
  expect(await post(url, JSON.stringify({ query: QUERY }))).toMatchObject(groups);
});

it('an empty body that the host has read is answered', async () => {
  const url = await startHost(parseWith(String));
  expect(await post(url, '')).toMatchObject({ status: 400, code: 'BAD_REQUEST' });
});

const ALREADY_READ = {
  status: 500,
  code: 'BODY_ALREADY_READ',
  message: expect.stringContaining('before body parsers'),
};

it.each<[string, (request: IncomingMessage) => Promise<void>]>([
  ['read and not kept', async (request) => void (await buffer(request))],
  ['read and not parsed', parseWith(() => undefined)],
  [
    'begun to read',
    (request) => {
      Object.assign(request, { body: {} });
      return new Promise((resolve) => request.once('data', () => resolve()));
    },
  ],
])('a body that the host has %s is an error that says what to do', async (_, use) => {
  const url = await startHost(use);
  expect(await post(url, JSON.stringify({ query: QUERY }), { isChunked: true })).toMatchObject(ALREADY_READ);
});

/** Reads a part of the body, and gives its stream back. */
async function beginToRead({ body }: Request): Promise<void> {
  const reader = body?.getReader();
  await reader?.read();
  reader?.releaseLock();
}

it.each<[string, (request: Request) => Promise<unknown> | unknown]>([
  ['read', (request) => request.text()],
  ['locked', (request) => request.body?.getReader()],
  ['begun', (request) => beginToRead(request)],
])('fetch says the same about a body that was %s', async (_, use) => {
  const request = new Request(`http://localhost${gateway.endpoint}`, {
    method: 'POST',
    headers: HEADERS,
    body: JSON.stringify({ query: QUERY }),
  });
  await use(request);
  const response = await gateway.fetch(request);
  const { errors } = await response.json();
  expect({ status: response.status, code: errors[0].extensions.code, message: errors[0].message }).toMatchObject(
    ALREADY_READ,
  );
});

it('fetch reads nothing more of a body that is too large', async () => {
  const cancel = vi.fn();
  const pull = (controller: ReadableStreamDefaultController) => controller.enqueue(Buffer.alloc(100_000, ' '));
  const body = new ReadableStream({ pull, cancel });
  const init: RequestInit & { duplex: 'half' } = { method: 'POST', headers: HEADERS, body, duplex: 'half' };
  const response = await gateway.fetch(new Request(`http://localhost${gateway.endpoint}`, init));
  expect([response.status, cancel.mock.calls.length]).toEqual([413, 1]);
});

describe('a client in the same process', () => {
  const notigraph = (fetch: typeof gateway.fetch) =>
    createClient({ url: gateway.endpoint, authorization: 'ApiKey k', fetch, retries: false });

  it('sends its requests with the gateway’s fetch, with and without an origin', async () => {
    for (const url of [gateway.endpoint, `https://graphql.example.com${gateway.endpoint}`]) {
      for (const address of [url, new URL(url, 'http://localhost')]) {
        const client = createClient({ url: address, authorization: 'ApiKey k', fetch: gateway.fetch });
        expect(await client.request(QUERY)).toMatchObject(groups);
        expect(upstream.requests.at(-1)?.headers.authorization).toBe('ApiKey k');
      }
    }
  });

  it('is a fetch for other clients, and for hosts that pass their environment', async () => {
    const likeGlobal: typeof globalThis.fetch = gateway.fetch;
    const body = JSON.stringify({ query: QUERY });
    const init = { method: 'POST', headers: HEADERS, body };
    expect(await (await likeGlobal(gateway.endpoint, init)).json()).toEqual({ data: groups.data });
    const host: { fetch(request: Request, env: { KV: string }, context: object): Promise<Response> } = gateway;
    const request = new Request(`http://localhost${gateway.endpoint}`, init);
    const environment = { KV: 'k', method: 'GET', headers: { authorization: 'ApiKey other' }, body: '{' };
    expect(await (await host.fetch(request, environment, {})).json()).toEqual({ data: groups.data });
    expect(upstream.requests.at(-1)?.headers.authorization).toBe('ApiKey k');
  });

  it('gets the reason of its signal, and then nothing goes on', async () => {
    const held = await startService(() => new Promise(() => {}));
    await using slow = createGateway({ upstream: held.url, endpoint: gateway.endpoint });
    const signal = AbortSignal.abort(new Error('too early'));
    await expect(notigraph(slow.fetch).request(QUERY, {}, { signal })).rejects.toThrow('too early');
    expect(held.requests).toEqual([]);
    const controller = new AbortController();
    const request = notigraph(slow.fetch).request(QUERY, {}, { signal: controller.signal });
    await expect.poll(() => held.requests).toHaveLength(1);
    controller.abort(new Error('the user has left'));
    await expect(request).rejects.toThrow('the user has left');
    await held[Symbol.asyncDispose]();
  });

  it('gets an error for an address that is none', async () => {
    await expect(gateway.fetch('http://')).rejects.toThrow('Invalid URL');
  });
});

it('createGateway says at once that Bun is not supported', () => {
  vi.stubGlobal('Bun', {});
  onTestFinished(() => void vi.unstubAllGlobals());
  expect(() => createGateway({ upstream: upstream.url })).toThrow('Bun is not supported');
});
