import { describe, expect, it } from 'vitest';
import { createOverloadMonitor } from '../../src/server/load-shedding.ts';
import { startPausedServer } from '../support/paused-server.ts';
import { connectRaw, postHead } from '../support/raw-client.ts';

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

  it('is live but not ready during shutdown, which serves for the drain delay', async () => {
    await using paused = await startPausedServer({ drainDelayMs: 1_000 });
    const arrived = paused.nextRequest();
    const running = fetch(`${paused.url}/graphql`);
    await arrived;
    const closing = paused.server.close();
    expect(await statusOf(`${paused.url}/livez`)).toBe(200);
    expect(await statusOf(`${paused.url}/readyz`)).toBe(503);
    const second = paused.nextRequest();
    const served = fetch(`${paused.url}/graphql`);
    await second;
    paused.release();
    expect(await (await served).text()).toBe('done');
    expect(await (await running).text()).toBe('done');
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
    const excess = () => (isOverloaded ? ({ reason: 'event loop', value: 412, limit: 200 } as const) : undefined);
    let isOverloaded = true;
    await using paused = await startPausedServer({ overload: { excess }, logger, shedQuietMs: 1_000 });
    const statuses = await Promise.all(Array.from({ length: 10 }, () => statusOf(paused.url)));
    expect(statuses).toEqual(Array(10).fill(503));
    expect(lines).toEqual([[{ reason: 'event loop', value: 412, limit: 200 }, expect.stringContaining('are shed')]]);
    isOverloaded = false;
    await expect.poll(() => lines, { timeout: 10_000 }).toHaveLength(2);
    expect(lines[1]).toEqual([
      { reason: 'event loop', requests: 10, ms: expect.any(Number) },
      'requests are no longer shed',
    ]);
    isOverloaded = true;
    await statusOf(paused.url);
    expect(lines).toHaveLength(3);
    // A shutdown has its own line.
    await paused.server.close();
    expect(lines).toHaveLength(3);
  });

  it('rejects requests while the process is overloaded', async () => {
    for (const reason of ['heap', 'event loop'] as const) {
      let isOverloaded = true;
      const excess = () => (isOverloaded ? { reason, value: 90, limit: 85 } : undefined);
      await using paused = await startPausedServer({ overload: { excess } });
      expect(await statusOf(`${paused.url}/graphql`)).toBe(503);
      expect(await statusOf(`${paused.url}/readyz`)).toBe(503);
      isOverloaded = false;
      expect(await statusOf(`${paused.url}/readyz`)).toBe(200);
    }
  });

  it('detects a delayed event loop and a full heap, and recovers', async () => {
    using monitor = createOverloadMonitor({ maxEventLoopDelayMs: 50 }, 100, 100);
    await expect.poll(() => monitor.excess()).toBeUndefined();
    const blocking = setInterval(() => {
      const until = performance.now() + 120;
      while (performance.now() < until) {
        // Blocks the event loop.
      }
    }, 1);
    await expect
      .poll(() => monitor.excess(), { timeout: 50_000, interval: 1 }) // While others take the processors, it is not to blame.
      .toEqual({ reason: 'event loop', value: expect.any(Number), limit: 50 });
    clearInterval(blocking);
    await expect.poll(() => monitor.excess(), { timeout: 20_000 }).toBeUndefined();
    using full = createOverloadMonitor({ maxEventLoopDelayMs: 60_000 }, 10, 0);
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
  ])('with %s is rejected', async (_, bytes, status) => {
    await using paused = await startPausedServer();
    expect(await sendRaw(paused.url, bytes)).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(await statusOf(`${paused.url}/livez`)).toBe(200);
  });
});

it('retiring completes all pipelined requests of a connection', async () => {
  await using paused = await startPausedServer();
  const client = await connectRaw(paused.url);
  const arrivals = [paused.nextRequest(), paused.nextRequest(), paused.nextRequest()];
  await client.send('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(3));
  await Promise.all(arrivals);
  const closing = paused.server.retire();
  paused.release();
  await Promise.all([closing, client.closed]);
  expect(client.received().match(/done/g)).toHaveLength(3);
  expect(client.received().match(/^Connection: close/gm)).toHaveLength(1);
});
