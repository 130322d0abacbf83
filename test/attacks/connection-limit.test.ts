import { expect, it } from 'vitest';
import { findMemoryProblem, maxClientFiles } from '../../packages/cli/src/server/process-limits.ts';
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

it('at the limit the oldest connection without a response is closed first, then the oldest idle one, but none with an in-flight request', async () => {
  await using held = await startPausedServer({ maxConnections: 6 });
  const idle = [await connectIdle(held), await connectIdle(held)] as const;
  const running = await connectRunning(held);
  const silent = await connectRaw(held.url);
  const stalled = [await connectStalled(held), await connectStalled(held)] as const;
  const order: string[] = [];
  const expected = { silent, first: stalled[0], second: stalled[1], idle: idle[0], 'other idle': idle[1] };
  for (const [name, client] of Object.entries({ ...expected, running })) {
    void client.closed.then(() => order.push(name));
  }
  const newcomers: RawClient[] = [];
  for (let count = 1; count <= 5; count += 1) {
    newcomers.push(await connectRunning(held));
    await expect.poll(() => order.length, EVENTUALLY).toBe(count);
  }
  expect(order).toEqual(Object.keys(expected));

  const refused = await connectRaw(held.url); // All others have in-flight requests.
  await refused.closed;
  expect(running.isClosed()).toBe(false);
  expect(held.server.load()).toMatchObject({ connections: 6, closed: { limit: 6, 'too slow': 0 } });
  held.release();
  await Promise.all([running, ...newcomers].map((client) => client.receives(/done/)));
});

it('at the limit a client that does not read its response is disconnected', async () => {
  await using held = await startPausedServer({
    maxConnections: 1,
    listener: (_, response) => void response.end(Buffer.alloc(64 * 1024 * 1024)),
    maxBufferedBytes: 1024 * 1024 * 1024,
  });
  const nonReader = await connectRaw(held.url, { reads: false });
  await nonReader.send(GET);
  await expect.poll(() => held.server.load().bufferedBytes, EVENTUALLY).toBeGreaterThan(0);
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
