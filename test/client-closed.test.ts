import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { GatewayOptions } from '../src/gateway.ts';
import { createUpstreamClient } from '../src/upstream/client.ts';
import { isUpstreamError, type UpstreamError } from '../src/upstream/errors/errors.ts';
import { createDispatcher } from '../src/upstream/transport/dispatcher.ts';
import { createExchange } from '../src/upstream/transport/exchange.ts';
import { Abort } from '../src/upstream/transport/signal.ts';
import { startGateway } from './support/gateway.ts';
import { startScriptedUpstream } from './support/scripted-upstream.ts';

const READ = '{ notificationGroups { name } }';
const READS =
  '{ a: workflow(idOrIdentifier: "a") { id } b: workflow(idOrIdentifier: "b") { id } notificationGroups { id } }';
const CREATE = 'mutation { createFeed(input: { name: "News" }) { __typename } }';

/** No limit of its own ends a call. */
const PATIENT = {
  operationTimeoutMs: 60_000,
  policies: { attemptTimeoutMs: 60_000 },
  connections: { headersTimeoutMs: 60_000 },
};

/** A gateway whose upstream takes every request and answers none. */
async function stage(options: Partial<GatewayOptions>) {
  let asked = Promise.withResolvers<void>();
  const upstream = await startScriptedUpstream(() => {
    asked.resolve();
    return 'taken over';
  });
  const gateway = await startGateway({ upstream: upstream.url, ...PATIENT, ...options });
  onTestFinished(async () => {
    await gateway[Symbol.asyncDispose]();
    await upstream[Symbol.asyncDispose]();
  });
  const operations = () => gateway.log.filter(({ msg }) => msg === 'operation');
  return {
    gateway,
    requests: upstream.requests,
    /** The next request reaches the upstream. */
    asked: async () => {
      await asked.promise;
      asked = Promise.withResolvers();
    },
    /** The line of the log about the next operation. */
    logged: async () => {
      await expect.poll(() => operations().length).toBe(1);
      return operations()[0];
    },
  };
}

/** Opens a connection and sends bytes. */
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
  ])('is CLIENT_CLOSED in the log, and no warning: %s', async (_, query, type) => {
    const on = await stage({});
    const socket = await sendBytes(on.gateway.url, post(JSON.stringify({ query })));
    await on.asked();
    socket.destroy();
    expect(await on.logged()).toMatchObject({ level: 30, code: 'CLIENT_CLOSED', status: 499, type });
    expect(on.gateway.log.filter(({ level }) => Number(level) >= 40)).toEqual([]);
  });

  it('while its call waits for a retry is CLIENT_CLOSED too', async () => {
    const pausing = Promise.withResolvers<void>();
    await using upstream = await startScriptedUpstream(() => ({ status: 503, body: {} }));
    const random = () => {
      pausing.resolve();
      return 1;
    };
    const retry = { baseDelayMs: 60_000, maxDelayMs: 60_000, random };
    const on = await stage({ upstream: upstream.url, operationTimeoutMs: 120_000, policies: { retry } });
    const socket = await sendBytes(on.gateway.url, post(JSON.stringify({ query: READ })));
    await pausing.promise;
    socket.destroy();
    expect(await on.logged()).toMatchObject({ level: 30, code: 'CLIENT_CLOSED', status: 499 });
    expect(on.gateway.log).toHaveLength(1);
  });

  it('is not a client whose operation has run out of time', async () => {
    const on = await stage({ operationTimeoutMs: 100 });
    const { status, codes } = await on.gateway.send(READ);
    expect([status, codes]).toEqual([200, ['UPSTREAM_TIMEOUT']]);
    expect(await on.logged()).toMatchObject({ level: 30, code: 'UPSTREAM_TIMEOUT', status: 200 });
    expect(on.gateway.log.filter(({ level }) => level === 40)).toMatchObject([{ code: 'UPSTREAM_TIMEOUT' }]);
  });

  it.each([
    ['with a length', 'Content-Length: 1000'],
    ['in chunks', 'Transfer-Encoding: chunked'],
  ])('has not sent its whole body is no error: %s', async (_, headers) => {
    const on = await stage({});
    const half = headers.startsWith('T') ? '8\r\n{"query"\r\n' : '{"query"';
    const socket = await sendBytes(on.gateway.url, post(half, headers));
    await once(socket.resume().end(), 'close');
    socket.destroy();
    expect((await on.gateway.send('{ __typename }')).status).toBe(200);
    await new Promise((resolve) => setImmediate(resolve));
    expect(on.gateway.log.filter(({ level }) => Number(level) >= 40)).toEqual([]);
    expect(on.requests).toEqual([]);
  });
});

describe('a call whose caller leaves', () => {
  const createCaller = (signal: Abort, milliseconds: number) => ({
    authorization: 'ApiKey a',
    signal,
    deadlineAt: performance.now() + milliseconds,
    requestId: 'r',
    usage: { calls: 0, bulkItems: 0, requests: 0 },
  });

  /** Calls an upstream until the caller leaves. */
  async function callUntil(leave: (client: Abort) => void, write: boolean, milliseconds = 60_000) {
    const asked = Promise.withResolvers<void>();
    await using upstream = await startScriptedUpstream(() => {
      asked.resolve();
      return 'taken over';
    });
    const dispatcher = createDispatcher(new URL(upstream.url).origin);
    onTestFinished(() => dispatcher.close());
    const bind = createUpstreamClient({
      baseUrl: new URL(upstream.url),
      dispatcher,
      userAgent: 'test',
      concurrency: { maxRunning: 1 },
    });
    const callers = [new Abort(), new Abort()];
    const failures: Promise<UpstreamError>[] = [];
    for (const [i, signal] of callers.entries()) {
      const client = bind(createCaller(signal, milliseconds / (1 + i))); // The second one ends while it waits for the first one.
      const call = write
        ? client.write({ method: 'POST', route: '/v1/feeds', body: { name: 'a' }, expect: 'record' })
        : client.read({ route: '/v1/feeds', expect: 'list' });
      failures.push(
        call.then(
          () => Promise.reject(new Error('answered')),
          (error) => error,
        ),
      );
    }
    await asked.promise;
    for (const caller of callers) {
      leave(caller);
    }
    const errors = await Promise.all(failures);
    expect(errors.every(isUpstreamError)).toBe(true);
    return errors.map(({ code, outcome, sent, retry, isOutage }) => ({ code, outcome, sent, retry, isOutage }));
  }

  const closed = { code: 'CLIENT_CLOSED', retry: 'never', isOutage: false };

  it('is CLIENT_CLOSED, and a write that was sent has an unknown outcome', async () => {
    expect(await callUntil((client) => client.abort(new DOMException('', 'TimeoutError')), true)).toEqual([
      { ...closed, outcome: 'UNKNOWN', sent: true },
      { ...closed, outcome: 'NOT_APPLIED', sent: false }, // It waited for its turn.
    ]);
    const [first] = await callUntil((client) => client.abort(), false);
    expect(first).toMatchObject({ ...closed, outcome: undefined });
  });

  it('is CLIENT_CLOSED while it waits to be repeated, whatever had failed before', async () => {
    const pausing = Promise.withResolvers<void>();
    await using upstream = await startScriptedUpstream(() => ({ status: 503, body: {} }));
    const dispatcher = createDispatcher(new URL(upstream.url).origin);
    onTestFinished(() => dispatcher.close());
    const random = () => {
      pausing.resolve();
      return 1;
    };
    const retry = { baseDelayMs: 60_000, maxDelayMs: 60_000, random };
    const signal = new Abort();
    const caller = createCaller(signal, 120_000);
    const client = createUpstreamClient({ baseUrl: new URL(upstream.url), dispatcher, userAgent: 'test', retry })(
      caller,
    );
    const call = client.write({ method: 'PUT', route: '/v1/feeds', expect: 'record' });
    await pausing.promise;
    signal.abort();
    await expect(call).rejects.toMatchObject({ ...closed, outcome: 'UNKNOWN', status: 503 });
    expect(upstream.requests).toHaveLength(1);
  });

  it('is UPSTREAM_TIMEOUT where its deadline ends it', async () => {
    expect(await callUntil(() => {}, true, 1_000)).toMatchObject([
      { code: 'UPSTREAM_TIMEOUT', outcome: 'UNKNOWN' },
      { code: 'UPSTREAM_TIMEOUT', outcome: 'NOT_APPLIED' },
    ]);
  });

  it.each([true, false])('is not made where the caller has left before (write: %s)', async (write) => {
    await using upstream = await startScriptedUpstream(() => ({ body: { data: [] } }));
    const dispatcher = createDispatcher(new URL(upstream.url).origin);
    onTestFinished(() => dispatcher.close());
    const signal = new Abort();
    signal.abort();
    const caller = createCaller(signal, 120_000);
    const client = createUpstreamClient({ baseUrl: new URL(upstream.url), dispatcher, userAgent: 'test' })(caller);
    const call = write
      ? client.write({ method: 'POST', route: '/v1/feeds', expect: 'record' })
      : client.read({ route: '/v1/feeds', expect: 'list' });
    await expect(call).rejects.toMatchObject({ code: 'CLIENT_CLOSED', sent: false });
    const exchange = createExchange({ origin: upstream.url, dispatcher, userAgent: 'test' }, () => {});
    const endpoint = { method: 'POST', route: '/v1/feeds' } as const;
    const request = {
      endpoint,
      authorization: 'ApiKey a',
      path: '/v1/feeds',
      requestId: 'r',
      call: { ...endpoint, expect: 'record' },
    } as const;
    await expect(exchange(request, signal)).rejects.toMatchObject({ code: 'CLIENT_CLOSED', outcome: 'NOT_APPLIED' });
    expect(upstream.requests).toEqual([]);
  });
});
