import { createHistogram } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { pauseSync } from '../../../src/lib/promises.ts';
import { guards } from '../../../test/support/guards.ts';
import { type PausedServer, startPausedServer } from '../../../test/support/paused-server.ts';
import { connectRaw, postHead } from '../../../test/support/raw-client.ts';
import { createOverloadMonitor } from '../src/server/load-shedding.ts';

guards('packages/cli/src/server/server.ts', 'startServer.admit');

const statusOf = async (url: string) => (await fetch(url)).status;

/** Sends raw bytes and reads until the server closes the connection. */
async function sendRaw(url: string, text: string): Promise<string> {
  const client = await connectRaw(url);
  await client.send(text);
  await client.closed;
  return client.received();
}

it('incomplete requests do not count toward the limit of in-flight requests', async () => {
  await using paused = await startPausedServer({ maxInFlightRequests: 1 });
  const slow = await Promise.all(Array.from({ length: 10 }, () => connectRaw(paused.url)));
  for (const client of slow) {
    const arrival = paused.nextRequest();
    await client.send(`${postHead('/', 'Content-Length: 2')}{`);
    await arrival;
  }
  expect(paused.server.load()).toMatchObject({ running: 0, shedding: undefined });
  const arrival = paused.nextRequest();
  const response = statusOf(paused.url);
  await arrival;
  expect(await statusOf(paused.url)).toBe(503); // A complete request is in flight.
  paused.release();
  expect(await response).toBe(200);
  for (const { socket } of slow) {
    socket.destroy();
  }
});

describe('health', () => {
  it('is served on the exact paths, without calling the gateway', async () => {
    await using paused = await startPausedServer();
    expect(await statusOf(`${paused.url}/livez`)).toBe(200);
    expect(await statusOf(`${paused.url}/readyz?verbose`)).toBe(200);
    for (const path of ['/graphql?x=/livez', '/livez/', '/x/readyz', '/health']) {
      const arrived = paused.nextRequest();
      const response = fetch(paused.url + path);
      await arrived;
      paused.release();
      expect(await (await response).text()).toBe('done');
    }
  });

  it('is live but not ready during shutdown, which serves for the drain delay, and each response closes its connection', async () => {
    await using paused = await startPausedServer({ drainDelayMs: 1_000, maxInFlightRequests: 2 });
    const answerOf = async (path: string) => {
      const response = await fetch(paused.url + path);
      return [response.status, response.headers.get('connection'), await response.text()];
    };
    expect(await answerOf('/livez')).toEqual([200, 'keep-alive', 'ok\n']);
    const arrived = paused.nextRequest();
    const running = answerOf('/graphql');
    await arrived;
    const closing = paused.server.close();
    expect(await answerOf('/livez')).toEqual([200, 'close', 'ok\n']);
    expect(await answerOf('/readyz')).toEqual([503, 'close', 'stopping\n']);
    const second = paused.nextRequest();
    const served = answerOf('/graphql');
    await second;
    expect(await answerOf('/graphql')).toEqual([503, 'close', expect.stringContaining('OVERLOADED')]);
    paused.release();
    expect(await Promise.all([running, served])).toEqual(Array(2).fill([200, 'close', 'done']));
    await closing;
    await expect(fetch(`${paused.url}/livez`)).rejects.toThrow();
  });
});

describe('load shedding', () => {
  const SHED = {
    errors: [
      { message: expect.any(String), extensions: { code: 'OVERLOADED', retryable: true, retryAfterSeconds: 1 } },
    ],
  };

  it('rejects requests above the limit with 503 and Retry-After, and recovers when one has ended', async () => {
    await using paused = await startPausedServer({ maxInFlightRequests: 2 });
    const arrivals = [paused.nextRequest(), paused.nextRequest()];
    const running = [fetch(`${paused.url}/graphql`), fetch(`${paused.url}/graphql`)];
    await Promise.all(arrivals);
    const shed = await fetch(`${paused.url}/graphql`, { method: 'POST', body: 'x'.repeat(100_000) });
    expect([shed.status, shed.headers.get('retry-after'), await shed.json()]).toEqual([503, '1', SHED]);
    // While a service hangs, all instances have as many requests. Without them, there would be none.
    expect(await statusOf(`${paused.url}/readyz`)).toBe(200);
    expect(await statusOf(`${paused.url}/livez`)).toBe(200);
    paused.release();
    await Promise.all(running);
    const next = paused.nextRequest();
    const accepted = statusOf(paused.url);
    await next;
    paused.release();
    expect(await accepted).toBe(200);
  });

  it('writes one warning when it begins, with the measured value and its limit, and one when it has ended', async () => {
    const lines: unknown[][] = [];
    const logger = { warn: (...line: unknown[]) => void lines.push(line) };
    const excess = () => (isOverloaded ? ({ reason: 'heap', value: 90, limit: 85 } as const) : undefined);
    let isOverloaded = true;
    await using paused = await startPausedServer({ overload: { excess }, logger, shedQuietMs: 1_000 });
    const statuses = await Promise.all(Array.from({ length: 10 }, () => statusOf(paused.url)));
    expect(statuses).toEqual(Array(10).fill(503));
    expect(lines).toEqual([[{ reason: 'heap', value: 90, limit: 85 }, expect.stringContaining('are shed')]]);
    isOverloaded = false;
    await expect.poll(() => lines, { timeout: 10_000 }).toHaveLength(2);
    expect(lines[1]).toEqual([{ reason: 'heap', requests: 10, ms: expect.any(Number) }, 'requests are no longer shed']);
    isOverloaded = true;
    await statusOf(paused.url);
    expect(lines).toHaveLength(3);
    // A shutdown has its own line.
    await paused.server.close();
    expect(lines).toHaveLength(3);
  });

  it('rejects requests while the heap is full', async () => {
    let isOverloaded = true;
    const excess = () => (isOverloaded ? ({ reason: 'heap', value: 90, limit: 85 } as const) : undefined);
    await using paused = await startPausedServer({ overload: { excess } });
    expect(await statusOf(`${paused.url}/graphql`)).toBe(503);
    expect(await statusOf(`${paused.url}/readyz`)).toBe(503);
    isOverloaded = false;
    expect(await statusOf(`${paused.url}/readyz`)).toBe(200);
  });

  it('rejects requests because of a late event loop only while sixteen are being answered', async () => {
    let isLate = true;
    const excess = () => (isLate ? ({ reason: 'event loop', value: 412, limit: 200 } as const) : undefined);
    await using paused = await startPausedServer({ overload: { excess } });
    const running: Promise<number>[] = [];
    const start = async () => {
      const arrival = paused.nextRequest();
      running.push(statusOf(`${paused.url}/graphql`));
      await arrival;
    };
    while (running.length < 16) {
      expect(await statusOf(`${paused.url}/readyz`)).toBe(200);
      await start();
    }
    expect(await statusOf(`${paused.url}/graphql`)).toBe(503);
    expect(await statusOf(`${paused.url}/readyz`)).toBe(503);
    expect(paused.server.load().shedding).toBe('event loop');
    isLate = false;
    expect(await statusOf(`${paused.url}/readyz`)).toBe(200);
    await start();
    isLate = true;
    paused.release();
    expect(await Promise.all(running)).toEqual(Array(17).fill(200));
    await start();
    expect(await statusOf(`${paused.url}/readyz`)).toBe(200);
  });

  it('detects an event loop that is late in two windows in a row, and recovers', async () => {
    const delay = Object.assign(createHistogram(), { disable: () => true });
    using monitor = createOverloadMonitor({ maxEventLoopDelayMs: 200 }, { intervalMs: 1, maxHeapPercent: 100, delay });
    const found: unknown[] = [];
    for (const delayMs of [412, 412, 3, 412, 3, 412, 412, 412]) {
      for (let sample = 0; sample < 5; sample += 1) {
        delay.record(delayMs * 1e6);
      }
      await expect.poll(() => delay.count).toBe(0); // The window is over.
      found.push(monitor.excess()?.reason);
    }
    const late = 'event loop';
    expect(found).toEqual([undefined, late, undefined, undefined, undefined, undefined, late, late]);
  });

  it('detects the delay of this process and a full heap', async () => {
    const blocking = setInterval(pauseSync, 1, 120);
    using monitor = createOverloadMonitor({ maxEventLoopDelayMs: 50 }, { intervalMs: 100, maxHeapPercent: 100 });
    await expect
      .poll(() => monitor.excess(), { timeout: 20_000, interval: 1 })
      .toEqual({ reason: 'event loop', value: expect.any(Number), limit: 50 });
    clearInterval(blocking);
    await expect.poll(() => monitor.excess(), { timeout: 20_000 }).toBeUndefined();
    using full = createOverloadMonitor({ maxEventLoopDelayMs: 60_000 }, { intervalMs: 10, maxHeapPercent: 0 });
    await expect.poll(() => full.excess()?.reason).toBe('heap');
  });
});

describe('a hostile connection', () => {
  const HEAD = 'POST /graphql HTTP/1.1\r\nHost: x\r\n';

  it.each([
    ['two Content-Length', `${HEAD}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}`, 400],
    ['Content-Length and Transfer-Encoding', `${HEAD}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}`, 400],
    ['17 KiB of headers', `${HEAD}X: ${'x'.repeat(17 * 1024)}\r\n\r\n`, 431],
    ['data that is not HTTP', 'NONSENSE\r\n\r\n', 400],
    ['a pseudo header of HTTP/2', `${HEAD}:authority: y\r\n\r\n`, 400],
  ])('with %s is rejected', async (_, bytes, status) => {
    await using paused = await startPausedServer();
    expect(await sendRaw(paused.url, bytes)).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(await statusOf(`${paused.url}/livez`)).toBe(200);
  });
});

describe('retiring', () => {
  const GET = 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n';

  /** Connects, sends one request, and waits for its response. */
  async function connectServed(paused: PausedServer, request = GET) {
    const client = await connectRaw(paused.url);
    const arrival = paused.nextRequest();
    await client.send(request);
    (await arrival).response.end('first');
    await client.receives(/first/);
    return client;
  }

  /** Responds to the next request. */
  const answerNext = (paused: PausedServer) => void paused.nextRequest().then(({ response }) => response.end('second'));

  it.each(['arrive before', 'arrive during'])(
    'completes the pipelined requests of a connection that %s it',
    async (when) => {
      await using paused = await startPausedServer({ drainTimeoutMs: 5_000 });
      const client = await connectServed(paused);
      const send = async () => {
        const arrivals = [paused.nextRequest(), paused.nextRequest(), paused.nextRequest()];
        await client.send(GET.repeat(3));
        await Promise.all(arrivals);
      };
      const isBefore = when === 'arrive before';
      await (isBefore && send());
      const closing = paused.server.retire();
      await (isBefore || send());
      paused.release();
      await Promise.all([closing, client.closed]);
      expect(client.received().match(/done/g)).toHaveLength(3);
      expect(client.received().match(/^Connection: close/gm)).toHaveLength(1);
    },
  );

  it('answers requests that have arrived unread when the wait for them ends', async () => {
    await using paused = await startPausedServer({ drainTimeoutMs: 500 });
    const clients = await Promise.all(Array.from({ length: 10 }, () => connectServed(paused)));
    const closing = paused.server.retire();
    for (const { socket } of clients) {
      answerNext(paused);
      socket.write(GET); // The operating system takes it at once.
    }
    pauseSync(200); // The timer that ends the wait is due before the event loop reads again.
    await Promise.all([closing, ...clients.map(({ closed }) => closed)]);
    expect(clients.filter((client) => client.received().endsWith('second'))).toHaveLength(10);
  });

  it('answers a request that has arrived unread when all others are answered', async () => {
    await using paused = await startPausedServer({ drainTimeoutMs: 500 });
    const [client, other] = [await connectServed(paused), await connectRaw(paused.url)];
    const started = paused.nextRequest();
    await other.send(GET);
    const { response } = await started;
    const closing = paused.server.retire();
    pauseSync(200);
    await sleep(1); // The timer that ends the wait has run.
    answerNext(paused);
    client.socket.write(GET);
    response.end('other');
    await Promise.all([closing, client.closed, other.closed]);
    expect([client.received(), other.received()]).toEqual([
      expect.stringMatching(/second$/),
      expect.stringMatching(/other$/),
    ]);
  });

  it('closes idle connections and those with answered requests late, but not one with a part of an unanswered request', async () => {
    await using paused = await startPausedServer({ drainTimeoutMs: 5_000 });
    const [silent, idle, partial] = [
      await connectRaw(paused.url),
      await connectServed(paused),
      await connectServed(paused),
    ];
    const early = await connectServed(paused, `${postHead('/', 'Content-Length: 2')}{`);
    await partial.send(GET.slice(0, -4));
    const startedAt = performance.now();
    const closing = paused.server.retire();
    await Promise.all([silent.closed, idle.closed, early.closed]);
    expect(performance.now() - startedAt).toBeGreaterThan(1_200); // A quarter of the drain timeout.
    answerNext(paused);
    await partial.send(GET.slice(-4));
    await Promise.all([closing, partial.closed]);
    expect(partial.received()).toMatch(/^Connection: close[\s\S]*second$/m);
  });

  it('waits no longer than the drain timeout for the rest of a request', async () => {
    await using paused = await startPausedServer({ drainTimeoutMs: 100 });
    const client = await connectServed(paused);
    await client.send(GET.slice(0, -4));
    await Promise.all([paused.server.retire(), client.closed]);
    expect(client.received()).toMatch(/first$/);
  });
});
