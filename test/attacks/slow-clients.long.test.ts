import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { startServer } from '../../src/server/server.ts';
import { startPausedServer } from '../support/paused-server.ts';
import { connectRaw, EVENTUALLY, postHead, type RawClient, readSlowly } from '../support/raw-client.ts';

/** Shortened stall timeout. The default is 30 s at 100 B/s; here it is 600 bytes in 600 ms. */
const WINDOW_MS = 600;
const PACE = { clientStallTimeoutMs: WINDOW_MS, clientMinBytesPerSecond: 1_000 };

/** Sends bytes until the server closes the connection. @returns how long that took */
async function drip(client: RawClient, everyMs: number, bytes: string): Promise<number> {
  const startedAt = performance.now();
  while (!client.isClosed()) {
    client.socket.write(bytes);
    await Promise.race([sleep(everyMs), client.closed]);
  }
  return performance.now() - startedAt;
}

const STALLS = {
  'in its headers': 'POST / HTTP/1.1\r\nHost: localhost\r\nX-Stall: ',
  'in its body': postHead('/', 'Content-Length: 100000'),
  'in its chunked body': `${postHead('/', 'Transfer-Encoding: chunked')}5\r\n12345\r\n10000\r\n`,
};

describe.each(Object.entries(STALLS))('a client that stalls %s', (_, head) => {
  it('is disconnected if it sends nothing or too little within the timeout, and stays connected if it sends enough', async () => {
    await using held = await startPausedServer(PACE);
    const [silent, slow, fast] = await Promise.all([connectRaw(held.url), connectRaw(held.url), connectRaw(held.url)]);
    const startedAt = performance.now();
    const silence = silent.closed.then(() => performance.now() - startedAt);
    await Promise.all([silent, slow, fast].map((client) => client.send(head)));
    const dripping = drip(fast, 20, 'x'.repeat(60));
    for (const ms of await Promise.all([silence, drip(slow, 50, 'x')])) {
      expect(ms).toBeGreaterThan(WINDOW_MS * 0.9);
      expect(ms).toBeLessThan(WINDOW_MS * 4);
    }
    await sleep(WINDOW_MS);
    expect(fast.isClosed()).toBe(false);
    expect(held.server.load().closed).toEqual({ 'too slow': 2, limit: 0, 'buffered bytes': 0 });
    fast.socket.destroy();
    await dripping;
  });
});

it('a connection stays open while it is idle between two requests', async () => {
  await using held = await startPausedServer(PACE);
  const client = await connectRaw(held.url);
  for (let round = 0; round < 2; round += 1) {
    const arrival = held.nextRequest();
    await client.send('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await arrival;
    held.release();
    await client.receives(new RegExp(`(?:done.*){${round + 1}}`, 's'));
    await sleep(WINDOW_MS * 2);
    expect(client.isClosed()).toBe(false);
  }
  await client.send('POST / HTTP/1.1\r\nHost: local'); // A started request must be continued in time.
  await client.closed;
  client.socket.destroy();
});

it('time that the gateway spends working or not reading does not count', async () => {
  let read = () => {};
  await using server = await startServer({
    ...PACE,
    host: '127.0.0.1',
    port: 0,
    listener: (request, response) => {
      read = () => void request.resume().once('end', () => setTimeout(() => response.end('done'), WINDOW_MS * 2));
    },
  });
  const client = await connectRaw(server.url);
  await client.send(`${postHead('/', 'Content-Length: 300000')}${'x'.repeat(300_000)}`); // Exceeds what Node.js reads ahead.
  await sleep(WINDOW_MS * 2);
  expect(client.isClosed()).toBe(false);
  read();
  await client.receives(/done/);
  client.socket.destroy();
});

describe('a client that reads its response', () => {
  const RESPONSE = Buffer.alloc(64 * 1024 * 1024, 'x');
  const large = { ...PACE, maxBufferedBytes: 1024 * 1024 * 1024, host: '127.0.0.1', port: 0 };

  it('not at all is disconnected', async () => {
    const closed = Promise.withResolvers<void>();
    const listener = (_: unknown, response: ServerResponse) => {
      response.once('close', () => closed.resolve());
      response.end(RESPONSE);
    };
    await using server = await startServer({ ...large, listener });
    const client = await connectRaw(server.url, { reads: false });
    await client.send('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await expect.poll(() => server.load().bufferedBytes, EVENTUALLY).toBeGreaterThan(32 * 1024 * 1024);
    expect(server.load().running).toBe(0); // It does not count toward the limit on running requests.
    await closed.promise;
    expect(server.load()).toMatchObject({ bufferedBytes: 0, closed: { 'too slow': 1 } });
    client.socket.destroy();
  });

  it('slowly but steadily gets all of it, however long it takes', async () => {
    await using server = await startServer({ ...large, listener: (_, response) => void response.end(RESPONSE) });
    const client = await connectRaw(server.url, { reads: false });
    await client.send('GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
    const startedAt = performance.now();
    expect(await readSlowly(client, 1)).toBeGreaterThan(RESPONSE.length);
    expect(performance.now() - startedAt).toBeGreaterThan(WINDOW_MS);
  });
});
