import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { GatewayDeps, GatewayOptions } from '../../src/gateway.ts';
import { startGateway } from '../support/gateway.ts';
import { startService } from '../support/service.ts';

const READ = '{ notificationGroups { name } }';
const READS =
  '{ a: workflow(idOrIdentifier: "a") { id } b: workflow(idOrIdentifier: "b") { id } notificationGroups { id } }';
const CREATE = 'mutation { createFeed(input: { name: "News" }) { __typename } }';

/** Timeouts that are too long to end a call. */
const PATIENT = {
  operationTimeoutMs: 60_000,
  attemptTimeoutMs: 60_000,
  headersTimeoutMs: 60_000,
};

/** Starts a gateway whose upstream never responds. */
async function setUp(options: Partial<GatewayOptions>, deps: GatewayDeps = {}) {
  let upstreamCalled = Promise.withResolvers<void>();
  const upstream = await startService(() => {
    upstreamCalled.resolve();
  });
  const gateway = await startGateway({ upstream: upstream.url, ...PATIENT, ...options }, deps);
  onTestFinished(async () => {
    await gateway[Symbol.asyncDispose]();
    await upstream[Symbol.asyncDispose]();
  });
  const operations = () => gateway.log.filter(({ msg }) => msg === 'operation');
  return {
    gateway,
    requests: upstream.requests,
    /** Waits for the next upstream request. */
    waitForUpstreamCall: async () => {
      await upstreamCalled.promise;
      upstreamCalled = Promise.withResolvers();
    },
    /** Returns the log line of the only operation. */
    operationLog: async () => {
      await expect.poll(() => operations().length).toBe(1);
      return operations()[0];
    },
  };
}

async function sendBytes(url: string, bytes: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  socket.write(bytes);
  return socket;
}

const post = (body: string, headers = `Content-Length: ${Buffer.byteLength(body)}`) =>
  `POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nAuthorization: ApiKey k\r\n${headers}\r\n\r\n${body}`;

describe('a client that disconnects', () => {
  it.each([
    ['a query', READ, 'query'],
    ['a query of several calls', READS, 'query'],
    ['a mutation', CREATE, 'mutation'],
  ])('is logged as CLIENT_CLOSED, without a warning, during %s', async (_, query, type) => {
    const setup = await setUp({});
    const socket = await sendBytes(setup.gateway.url, post(JSON.stringify({ query })));
    await setup.waitForUpstreamCall();
    socket.destroy();
    expect(await setup.operationLog()).toMatchObject({ level: 30, code: 'CLIENT_CLOSED', httpStatus: 499, type });
    expect(setup.gateway.log.filter(({ level }) => Number(level) >= 40)).toEqual([]);
  });

  it('is logged as CLIENT_CLOSED while its call waits for a retry', async () => {
    const retryDelayed = Promise.withResolvers<void>();
    await using upstream = await startService(() => ({ status: 503, body: {} }));
    const random = () => {
      retryDelayed.resolve();
      return 1;
    };
    const delays = { retryBaseDelayMs: 10_000, retryMaxDelayMs: 60_000 };
    const setup = await setUp({ upstream: upstream.url, operationTimeoutMs: 120_000, ...delays }, { random });
    const socket = await sendBytes(setup.gateway.url, post(JSON.stringify({ query: READ })));
    await retryDelayed.promise;
    socket.destroy();
    expect(await setup.operationLog()).toMatchObject({ level: 30, code: 'CLIENT_CLOSED', httpStatus: 499 });
    expect(setup.gateway.log).toHaveLength(1);
  });

  it('is not confused with an operation that times out', async () => {
    const setup = await setUp({ operationTimeoutMs: 100 });
    const { status, codes } = await setup.gateway.send(READ);
    expect([status, codes]).toEqual([200, ['UPSTREAM_TIMEOUT']]);
    expect(await setup.operationLog()).toMatchObject({ level: 30, code: 'UPSTREAM_TIMEOUT', httpStatus: 200 });
    expect(setup.gateway.log.filter(({ level }) => level === 40)).toMatchObject([{ code: 'UPSTREAM_TIMEOUT' }]);
  });

  it.each([
    ['with a length', 'Content-Length: 1000'],
    ['in chunks', 'Transfer-Encoding: chunked'],
  ])('before it has sent the whole body causes no warning: %s', async (_, headers) => {
    const setup = await setUp({});
    const half = headers.startsWith('T') ? '8\r\n{"query"\r\n' : '{"query"';
    const socket = await sendBytes(setup.gateway.url, post(half, headers));
    await once(socket.resume().end(), 'close');
    socket.destroy();
    expect((await setup.gateway.send('{ __typename }')).status).toBe(200);
    await new Promise((resolve) => setImmediate(resolve));
    expect(setup.gateway.log.filter(({ level }) => Number(level) >= 40)).toEqual([]);
    expect(setup.requests).toEqual([]);
  });
});
