import { once } from 'node:events';
import type { Server as HttpServer } from 'node:http';
import { connect, constants, createSecureServer, createServer, type OutgoingHttpHeaders } from 'node:http2';
import type { Server } from 'node:net';
import { text } from 'node:stream/consumers';
import { pino } from 'pino';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { createGateway, type GatewayOptions } from '../../src/gateway.ts';
import { MCP } from '../support/agent.ts';
import { createAuthority, hasOpenssl, opensslOnly } from '../support/certificates.ts';
import { guards } from '../support/guards.ts';
import { ofTest } from '../support/lifetime.ts';
import { startService } from '../support/service.ts';

guards('src/http/adapters/node-adapter.ts', 'NodeRequest.constructor');
guards('src/http/adapters/node-adapter.ts', 'NodeRequest.toFetchRequest');

const warnings: unknown[] = []; // Node.js warns once of each header that HTTP/2 doesn't have.
const onWarning = (warning: Error) => void warnings.push(warning);
process.on('warning', onWarning);
afterAll(() => void process.off('warning', onWarning));

const GROUPS = JSON.stringify({ query: '{ notificationGroups { name } }' });
const HEADERS = { ':method': 'POST', ':path': '/graphql', 'content-type': 'application/json' };

/** Starts three upstreams, and a gateway that is the listener of a server for HTTP/2. */
async function start(isEncrypted: boolean, options: Partial<GatewayOptions> = {}) {
  const startUpstream = async () => ofTest(await startService(() => ({ body: { data: [] } })));
  const [eu, us, other] = [await startUpstream(), await startUpstream(), await startUpstream()];
  const log: Record<string, unknown>[] = [];
  const logger = pino({ level: 'info' }, { write: (line: string) => log.push(JSON.parse(line)) });
  const upstreams = {
    eu: { url: eu.url, hosts: ['eu.example.test'] },
    us: { url: us.url, hosts: ['us.example.test'] },
    other: { url: other.url, default: true },
  };
  const clients = { server: { corsOrigins: ['https://app.example.com'] } };
  const gateway = ofTest(createGateway({ upstreams, clients, maxBodyBytes: 2_000, ...options }, { logger }));
  const server: Server | HttpServer = isEncrypted
    ? createSecureServer(issue(), gateway.listener)
    : createServer(gateway.listener);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  const client = connect(`${isEncrypted ? 'https' : 'http'}://127.0.0.1:${port}`, { rejectUnauthorized: false });
  onTestFinished(async () => {
    await new Promise<void>((resolve) => client.close(resolve));
    server.close();
  });

  /** Sends a request. @returns its status, its headers and its body */
  async function send(headers: OutgoingHttpHeaders, body = '') {
    const stream = client.request({ ...HEADERS, ...headers }, { endStream: body === '' });
    if (body !== '') {
      stream.end(body);
    }
    const [received] = await once(stream, 'response');
    return { status: received[':status'], headers: received, body: await text(stream.setEncoding('utf8')) };
  }

  /** Returns the credentials that each upstream has got. */
  const received = () => [eu, us, other].map(({ requests }) => requests.map(({ headers }) => headers.authorization));
  return { client, send, received, log, eu };
}

function issue() {
  using authority = createAuthority();
  return authority.issue('gateway.test');
}

describe.each([
  ['without TLS', false, 'http'],
  [`with TLS${opensslOnly}`, true, 'https'],
])('HTTP/2 %s', (_, isEncrypted, scheme) => {
  it.runIf(hasOpenssl || !isEncrypted)('selects the upstream by :authority, which gets the key', async () => {
    const { send, received } = await start(isEncrypted);
    const requests: [headers: OutgoingHttpHeaders, status: number][] = [
      [{ ':authority': 'eu.example.test', authorization: 'ApiKey eu' }, 200],
      [{ ':authority': 'US.example.test:8443', authorization: 'ApiKey us' }, 200],
      [{ host: 'eu.example.test', authorization: 'ApiKey eu' }, 200],
      [{ ':authority': 'us.example.test', host: 'us.example.test', authorization: 'ApiKey us' }, 200],
      [{ ':authority': 'unknown.example.test', authorization: 'ApiKey other' }, 200],
      [{ ':authority': 'eu.example.test', host: 'us.example.test', authorization: 'ApiKey nobody' }, 400],
    ];
    for (const [headers, expected] of requests) {
      const { status, body } = await send(headers, GROUPS);
      expect([headers, status, body]).toEqual([
        headers,
        expected,
        expected === 200 ? '{"data":{"notificationGroups":[]}}' : expect.stringContaining('BAD_REQUEST'),
      ]);
    }
    expect(received()).toEqual([['ApiKey eu', 'ApiKey eu'], ['ApiKey us', 'ApiKey us'], ['ApiKey other']]);
  });

  it.runIf(hasOpenssl || !isEncrypted)('hides pseudo headers from plugins, and gives them the host', async () => {
    const seen: unknown[] = [];
    const { send } = await start(isEncrypted, {
      plugins: [
        {
          onExecute({ args }) {
            const { request } = args.contextValue;
            seen.push(request.url, Object.fromEntries(request.headers));
          },
        },
      ],
    });
    const headers = { authorization: 'ApiKey k', 'x-request-id': 'r1', cookie: ['a=1', 'b=2'] };
    expect(await send({ ...headers, ':authority': 'eu.example.test' }, GROUPS)).toMatchObject({ status: 200 });
    expect(seen).toEqual([
      'http://eu.example.test/graphql',
      { ...headers, cookie: 'a=1; b=2', host: 'eu.example.test', 'content-type': 'application/json' },
    ]);
  });

  it.runIf(hasOpenssl || !isEncrypted)('compares pages with its own scheme and host', async () => {
    const key = 'ApiKey an-obvious-test-key';
    const { send } = await start(isEncrypted, {
      mcp: MCP,
      graphiql: { authorization: key },
      hosts: ['api.example.test'],
    });
    const list = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
    const accept = 'application/json, text/event-stream';
    for (const [origin, authority, expected] of [
      [`${scheme}://api.example.test`, 'api.example.test', 200],
      [`${scheme === 'http' ? 'https' : 'http'}://api.example.test`, 'api.example.test', 403],
      [`${scheme}://attacker.example`, 'attacker.example', 403],
    ] as const) {
      const headers = { ':path': '/mcp', ':authority': authority, authorization: 'ApiKey k', accept, origin };
      expect([origin, (await send(headers, list)).status]).toEqual([origin, expected]);
    }
    const page = { ':method': 'GET', accept: 'text/html' };
    expect((await send({ ...page, ':authority': 'api.example.test' })).body).toContain(key);
    const foreign = await send({ ...page, ':authority': 'attacker.example' });
    expect([foreign.status, foreign.body]).toEqual([200, expect.not.stringContaining(key)]);
  });
});

it('all kinds of responses are sent without a header of HTTP/1', async () => {
  const { send } = await start(false);
  const origin = 'https://app.example.com';
  const headers = { authorization: 'ApiKey k', origin };
  const large = JSON.stringify({ query: `{ __typename } #${'x'.repeat(2_000)}` });
  const responses = [
    await send({ ...headers, ':method': 'OPTIONS', 'access-control-request-method': 'POST' }),
    await send({ ...headers, ':method': 'GET', ':path': '/graphql?query={__typename}' }),
    await send(headers, large),
    await send(headers, '{'),
    await send({ ...headers, 'content-type': 'text/plain' }, GROUPS),
    await send({ ...headers, ':path': '/other' }, GROUPS),
  ];
  expect(responses.map(({ status }) => status)).toEqual([204, 200, 413, 400, 415, 404]);
  for (const response of responses) {
    expect(response.headers).toMatchObject({ 'access-control-allow-origin': origin });
    expect(response.headers).not.toHaveProperty('connection');
  }
  expect(warnings).toEqual([]);
});

it('a stream that the client cancels ends the operation', async () => {
  const { client, eu, log } = await start(false);
  const held = eu.hold();
  const stream = client.request({ ...HEADERS, ':authority': 'eu.example.test', authorization: 'ApiKey k' });
  stream.on('error', () => {});
  stream.end(GROUPS);
  await held.arrived;
  stream.close(constants.NGHTTP2_CANCEL);
  await expect.poll(() => log.map(({ code }) => code)).toEqual(['CLIENT_CLOSED']);
  held.release();
});
