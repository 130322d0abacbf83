import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { guards } from '../support/guards.ts';
import { startPausedServer } from '../support/paused-server.ts';
import { connectRaw, EVENTUALLY, postHead, type RawClient, readSlowly } from '../support/raw-client.ts';

guards('packages/cli/src/server/connections.ts', 'Connections.#reject');

/** Shortened time limit. */
const LIMIT_MS = 600;
const LIMITS = {
  headersTimeoutMs: LIMIT_MS,
  requestTimeoutMs: LIMIT_MS,
  responseTimeoutMs: LIMIT_MS,
};

/** Sends bytes until the server closes the connection. */
async function drip(client: RawClient): Promise<void> {
  while (!client.isClosed()) {
    client.socket.write('x');
    await Promise.race([sleep(50), client.closed]);
  }
}

const STALLS = {
  'before its headers': '',
  'in its headers': 'POST / HTTP/1.1\r\nHost: localhost\r\nX-Stall: ',
  'in its body': postHead('/', 'Content-Length: 100000'),
  'in its chunked body': `${postHead('/', 'Transfer-Encoding: chunked')}5\r\n12345\r\n10000\r\n`,
};

it.concurrent.each(Object.entries(STALLS))(
  'a client that stalls %s is disconnected and counted, also if it sends a byte at a time',
  async (_, head) => {
    await using held = await startPausedServer(LIMITS);
    const clients = await Promise.all([connectRaw(held.url), connectRaw(held.url)]);
    const startedAt = performance.now();
    await Promise.all(clients.map((client) => client.send(head)));
    const [silent, dripping] = clients;
    for (const end of [silent.closed, head === '' ? dripping.closed : drip(dripping)]) {
      await end;
      expect(performance.now() - startedAt).toBeGreaterThan(LIMIT_MS * 0.9);
      expect(performance.now() - startedAt).toBeLessThan(LIMIT_MS * 4);
    }
    expect(silent.received()).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\n/);
    expect(held.server.load().closed).toMatchObject({ 'request timeout': 2, 'too slow': 0 });
  },
);

it.concurrent('a malformed request is 400 and not counted as slow, and never answered within another response', async () => {
  await using held = await startPausedServer({
    ...LIMITS,
    listener: (_, response) => void response.writeHead(200, { 'content-length': 10 }).write('begun'),
  });
  const malformed = await connectRaw(held.url);
  await malformed.send('GET / HTTP/1.1\r\nHost localhost\r\n\r\n');
  await malformed.closed;
  expect(malformed.received()).toBe('HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n');
  const pipelining = await connectRaw(held.url);
  await pipelining.send('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
  await pipelining.receives(/begun/);
  await pipelining.send('nonsense\r\n\r\n');
  await pipelining.closed;
  expect(pipelining.received()).toMatch(/^HTTP\/1\.1 200 OK\r\n.*\r\n\r\nbegun$/s);
  expect(held.server.load().closed).toMatchObject({ 'request timeout': 0 });
});

it.concurrent('a connection stays open while it is idle between two requests', async () => {
  await using held = await startPausedServer(LIMITS);
  const client = await connectRaw(held.url);
  for (let round = 0; round < 2; round += 1) {
    const arrival = held.nextRequest();
    await client.send('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await arrival;
    held.release();
    await client.receives(new RegExp(`(?:done.*){${round + 1}}`, 's'));
    await sleep(LIMIT_MS * 2);
    expect(client.isClosed()).toBe(false);
  }
  await client.send('POST / HTTP/1.1\r\nHost: local'); // A started request must be continued in time.
  await client.closed;
  client.socket.destroy();
});

it.concurrent('time that the gateway spends working does not count', async () => {
  await using server = await startPausedServer({
    ...LIMITS,
    listener: (request, response) =>
      void request.resume().once('end', () => setTimeout(() => response.end('done'), LIMIT_MS * 2)),
  });
  const client = await connectRaw(server.url);
  await client.send(`${postHead('/', 'Content-Length: 300000')}${'x'.repeat(300_000)}`);
  await client.receives(/done/);
  client.socket.destroy();
});

describe('a client that reads its response', () => {
  const RESPONSE = Buffer.alloc(64 * 1024 * 1024, 'x');
  const large = { ...LIMITS, maxBufferedBytes: 1024 * 1024 * 1024 };

  it('not at all is disconnected', async () => {
    const closed = Promise.withResolvers<void>();
    await using paused = await startPausedServer({
      ...large,
      listener: (_, response) => {
        response.once('close', () => closed.resolve());
        response.end(RESPONSE);
      },
    });
    const { server } = paused;
    const client = await connectRaw(server.url, { reads: false });
    await client.send('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await expect.poll(() => server.load().bufferedBytes, EVENTUALLY).toBeGreaterThan(32 * 1024 * 1024);
    expect(server.load().running).toBe(0); // It does not count toward the limit on running requests.
    await closed.promise;
    expect(server.load()).toMatchObject({ bufferedBytes: 0, closed: { 'too slow': 1 } });
    client.socket.destroy();
  });

  it('slowly gets all of it within the time limit', async () => {
    await using server = await startPausedServer({
      ...large,
      responseTimeoutMs: 60_000,
      listener: (_, response) => void response.end(RESPONSE),
    });
    const client = await connectRaw(server.url, { reads: false });
    await client.send('GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
    expect(await readSlowly(client, 1)).toBeGreaterThan(RESPONSE.length);
  });

  it.concurrent.each(['in one write', 'as a stream'])('too slowly is disconnected: %s', async (form) => {
    await using paused = await startPausedServer({
      ...large,
      listener: (_, response) => void (form === 'in one write' ? response.end(RESPONSE) : response.write(RESPONSE)),
    });
    const { server } = paused;
    const client = await connectRaw(server.url, { reads: false });
    await client.send('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
    expect(await readSlowly(client, 200)).toBeLessThan(RESPONSE.length);
    expect(server.load().closed).toMatchObject({ 'too slow': 1 });
  });
});
