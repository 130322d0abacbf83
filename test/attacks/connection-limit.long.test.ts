import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { findMemoryProblem, maxClientFiles } from '../../src/server/process-limits.ts';
import { type PausedServer, startPausedServer } from '../support/paused-server.ts';
import { connectRaw, EVENTUALLY, postHead, type RawClient } from '../support/raw-client.ts';

const GET = 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n';

/** Opens a connection with an in-flight request. */
async function connectRunning(held: PausedServer): Promise<RawClient> {
  const client = await connectRaw(held.url);
  const arrival = held.nextRequest();
  await client.send(GET);
  await arrival;
  return client;
}

/** Opens a connection that is idle after its first response. */
async function connectIdle(held: PausedServer): Promise<RawClient> {
  const client = await connectRunning(held);
  held.release();
  await client.receives(/done/);
  return client;
}

/** Opens a connection that stalls in the body of its request. */
async function connectStalled(held: PausedServer): Promise<RawClient> {
  const client = await connectRaw(held.url);
  const arrival = held.nextRequest();
  await client.send(postHead('/', 'Content-Length: 100000'));
  await arrival;
  return client;
}

it('at the limit the slowest connection is closed first, then idle ones, but none with an in-flight request', async () => {
  await using held = await startPausedServer({ maxConnections: 6, clientStallTimeoutMs: 6_000 });
  const idle = await connectIdle(held);
  const running = await connectRunning(held);
  const silent = await connectRaw(held.url);
  const [stopped, slow, fast] = [await connectStalled(held), await connectStalled(held), await connectStalled(held)];
  const timers = [
    setInterval(() => slow.socket.write('x'), 50), // 20 B/s
    setInterval(() => fast.socket.write('x'.repeat(1_000)), 50),
  ];
  await sleep(3_000); // Speeds are measured every 200 ms, over 600 ms, and later on a busy machine.
  const order: string[] = [];
  for (const [name, client] of Object.entries({ idle, running, silent, stopped, slow, fast })) {
    void client.closed.then(() => order.push(name));
  }
  const newcomers: RawClient[] = [];
  for (let count = 1; count <= 5; count += 1) {
    newcomers.push(await connectRunning(held));
    await expect.poll(() => order.length, EVENTUALLY).toBe(count);
  }
  expect(order).toEqual(['silent', 'stopped', 'slow', 'idle', 'fast']);

  const refused = await connectRaw(held.url); // All others have in-flight requests.
  await refused.closed;
  expect(running.isClosed()).toBe(false);
  expect(held.server.load()).toMatchObject({ connections: 6, closed: { limit: 6, 'too slow': 0 } });
  held.release();
  await Promise.all([running, ...newcomers].map((client) => client.receives(/done/)));
  for (const timer of timers) {
    clearInterval(timer);
  }
});

it('at the limit a client that does not read its response is disconnected', async () => {
  await using held = await startPausedServer({
    maxConnections: 1,
    clientStallTimeoutMs: 6_000,
    listener: (_, response) => void response.end(Buffer.alloc(64 * 1024 * 1024)),
    maxBufferedBytes: 1024 * 1024 * 1024,
  });
  const nonReader = await connectRaw(held.url, { reads: false });
  await nonReader.send(GET);
  await expect.poll(() => held.server.load().bufferedBytes, EVENTUALLY).toBeGreaterThan(0);
  await sleep(500); // The server waits for one measurement, so that the client can read a response that was just sent.
  const next = await connectRaw(held.url);
  await expect.poll(() => held.server.load().bufferedBytes, EVENTUALLY).toBe(0);
  expect(held.server.load().closed).toMatchObject({ limit: 1, 'too slow': 0 });
  expect(next.isClosed()).toBe(false);
  next.socket.destroy();
  nonReader.socket.destroy();
});

it('at the limit connections that their clients have just reset make room for new ones', async () => {
  await using held = await startPausedServer({ maxConnections: 4 });
  const connectAll = () => Promise.all(Array.from({ length: 4 }, () => connectRaw(held.url)));
  const clients = await connectAll();
  await expect.poll(() => held.server.load().connections, EVENTUALLY).toBe(4);
  for (const { socket } of clients) {
    socket.resetAndDestroy();
  }
  const newcomers = await connectAll(); // The server learns of both in the same turn of its event loop.
  for (const client of newcomers) {
    const arrival = held.nextRequest();
    await client.send(GET);
    await arrival;
  }
  held.release();
  await Promise.all(newcomers.map((client) => client.receives(/done/)));
});

it('the limit holds after connections ended that would have been closed for new ones', async () => {
  const maxConnections = 100; // Five of them are chosen at a time.
  await using held = await startPausedServer({ maxConnections });
  const connectAll = (count: number) => Promise.all(Array.from({ length: count }, () => connectRaw(held.url)));
  const isFull = () => expect.poll(() => held.server.load().connections, EVENTUALLY).toBe(maxConnections);
  const clients = await connectAll(maxConnections);
  await isFull();
  clients.push(...(await connectAll(1)));
  await expect.poll(() => held.server.load().closed.limit, EVENTUALLY).toBe(1);
  for (const { socket } of clients) {
    socket.destroy();
  }
  await expect.poll(() => held.server.load().connections, EVENTUALLY).toBe(0);
  await connectAll(maxConnections);
  await isFull();
  const newcomers = await connectAll(10);
  await expect.poll(() => held.server.load().closed.limit, EVENTUALLY).toBe(11);
  expect(held.server.load().connections).toBe(maxConnections);
  expect(newcomers).toHaveLength(10);
});

it('connections stay below the number of files that the process may open', () => {
  const limits = (files: number | string) =>
    `Max processes 5 5 processes\nMax open files            ${files}     20000   files\n`;
  expect(maxClientFiles(limits(20_000))).toBe(19_744);
  expect(maxClientFiles(limits(1_024))).toBe(768);
  expect(maxClientFiles(limits(256))).toBe(128);
  expect(maxClientFiles(limits('unlimited'))).toBe(Number.POSITIVE_INFINITY);
  expect(maxClientFiles('')).toBe(Number.POSITIVE_INFINITY);
});

it('a limit of memory that is less than the process can use is a problem', () => {
  const MIB = 2 ** 20;
  const memory = { maxBufferedBytes: 64 * MIB };
  expect(findMemoryProblem(memory, 1, { limit: 512 * MIB, heap: 352 * MIB })).toBeUndefined();
  expect(findMemoryProblem(memory, 1, { limit: 0, heap: 352 * MIB })).toBeUndefined();
  expect(findMemoryProblem(memory, 1, { limit: 256 * MIB, heap: 352 * MIB })).toMatch(
    /^The memory limit of 256 MiB is less than the 496 MiB/,
  );
  expect(findMemoryProblem(memory, 2, { limit: 512 * MIB, heap: 352 * MIB })).toMatch(
    / 992 MiB that 2 processes can use/,
  );
});
