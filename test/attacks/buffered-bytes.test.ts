import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { startPausedServer } from '../support/paused-server.ts';
import { connectRaw, EVENTUALLY, postHead, type RawClient, readSlowly } from '../support/raw-client.ts';

const MIB = 1024 * 1024;
const GET = 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n';

const hangUp = (clients: readonly RawClient[]) => {
  for (const { socket } of clients) {
    socket.destroy();
  }
};

describe('unread response bytes', () => {
  /** Starts a server whose responses do not fit into the socket buffers. */
  const start = (maxBufferedBytes: number, responseTimeoutMs: number) =>
    startPausedServer({
      maxBufferedBytes,
      responseTimeoutMs,
      listener: (_, response) => void response.end(Buffer.alloc(16 * MIB)),
    });

  it('are limited: above the limit, requests are shed and clients that do not read are disconnected', async () => {
    await using paused = await start(40 * MIB, 45_000);
    const { server } = paused;
    const clients: RawClient[] = [];
    while (server.load().shedding === undefined) {
      const client = await connectRaw(server.url, { reads: false });
      clients.push(client);
      const before = server.load().bufferedBytes;
      await client.send(GET);
      await expect.poll(() => server.load().bufferedBytes, EVENTUALLY).toBeGreaterThan(before);
    }
    expect(server.load()).toMatchObject({ shedding: 'buffered bytes', running: 0 });
    const shed = await fetch(server.url);
    expect(shed.status).toBe(503);
    expect(await shed.json()).toMatchObject({ errors: [{ extensions: { code: 'OVERLOADED', retryable: true } }] });
    expect((await fetch(`${server.url}/readyz`)).status).toBe(200); // Others would get the same clients.
    expect((await fetch(`${server.url}/livez`)).status).toBe(200);
    await expect.poll(() => server.load().shedding, EVENTUALLY).toBeUndefined();
    const { closed, bufferedBytes } = server.load();
    expect(closed).toMatchObject({ 'buffered bytes': expect.toSatisfy((count) => count > 0), 'too slow': 0 });
    expect(bufferedBytes).toBeLessThan(40 * MIB);
    expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
    hangUp(clients);
  });

  it('disconnect nobody who reads a response in two sweeps', async () => {
    await using paused = await start(MIB, 600_000);
    const { server } = paused;
    const client = await connectRaw(server.url, { reads: false });
    await client.send(GET.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n'));
    expect(await readSlowly(client, 6)).toBeGreaterThan(16 * MIB); // Takes about two seconds; sweeps are every ten.
    expect(server.load().closed).toEqual({ 'too slow': 0, 'request timeout': 0, limit: 0, 'buffered bytes': 0 });
  });

  it('count while they are queued behind another response', async () => {
    let first: ServerResponse | undefined;
    await using paused = await startPausedServer({
      listener: (_, response) => {
        if (first === undefined) {
          first = response;
        } else {
          response.end(Buffer.alloc(MIB));
        }
      },
    });
    const { server } = paused;
    const client = await connectRaw(server.url);
    await client.send(GET.repeat(3));
    await expect.poll(() => server.load().bufferedBytes, EVENTUALLY).toBeGreaterThan(2 * MIB);
    first?.end();
    await expect.poll(() => server.load().bufferedBytes, EVENTUALLY).toBe(0);
    client.socket.destroy();
  });
});

describe('buffered bytes of request bodies', () => {
  it('count until the response is sent, or the client disconnects', async () => {
    await using held = await startPausedServer();
    const client = await connectRaw(held.url);
    await client.send(`${postHead('/', 'Content-Length: 60000')}${'x'.repeat(50_000)}`);
    await expect.poll(() => held.server.load().bufferedBytes, EVENTUALLY).toBe(50_000);
    await client.send('x'.repeat(10_000));
    await expect.poll(() => held.server.load(), EVENTUALLY).toMatchObject({ bufferedBytes: 60_000, running: 1 });
    held.release();
    await client.receives(/done/);
    await expect.poll(() => held.server.load(), EVENTUALLY).toMatchObject({ bufferedBytes: 0, running: 0 });
    await client.send(`${postHead('/', 'Content-Length: 1000')}${'x'.repeat(1_000)}`);
    await expect.poll(() => held.server.load(), EVENTUALLY).toMatchObject({ bufferedBytes: 1_000, running: 1 });
    client.socket.destroy();
    await expect.poll(() => held.server.load(), EVENTUALLY).toMatchObject({ bufferedBytes: 0, running: 0 });
  });

  it('disconnect the clients with the oldest requests and nobody else above the limit', async () => {
    await using held = await startPausedServer({ maxBufferedBytes: MIB });
    const clients: RawClient[] = [];
    for (let i = 0; i < 30; i += 1) {
      const client = await connectRaw(held.url);
      clients.push(client);
      const arrival = held.nextRequest();
      await client.send(`${postHead('/', 'Content-Length: 200000')}${'x'.repeat(100_000)}`);
      await arrival; // No request is shed.
      expect(held.server.load().bufferedBytes).toBeLessThan(1.2 * MIB);
    }
    expect(clients[0]?.isClosed()).toBe(true);
    expect(clients.at(-1)?.isClosed()).toBe(false);
    expect(held.server.load().shed).toMatchObject({ 'buffered bytes': 0 });
    hangUp(clients);
  });
});

it('bytes buffered outside the server count toward the limit', async () => {
  let bytes = 0;
  await using held = await startPausedServer({ maxBufferedBytes: MIB, bufferedBytes: () => bytes });
  expect((await fetch(`${held.url}/readyz`)).status).toBe(200);
  bytes = MIB + 1;
  expect((await fetch(`${held.url}/graphql`)).status).toBe(503);
  expect(held.server.load()).toMatchObject({ shedding: 'buffered bytes', shed: { 'buffered bytes': 1 } });
  bytes = 0;
  expect((await fetch(`${held.url}/readyz`)).status).toBe(200);
});
