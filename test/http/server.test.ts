import { once } from 'node:events';
import { Agent, request as sendRequest } from 'node:http';
import { connect, type Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { createOverloadMonitor } from '../../src/http/overload.ts';
import { startServer } from '../../src/http/server.ts';
import { startPausedServer } from '../support/paused-server.ts';
import { connectRaw } from '../support/raw-client.ts';

const statusOf = async (url: string) => (await fetch(url)).status;

/** Sends bytes as they are and reads until the server closes the connection. */
async function sendRaw(url: string, text: string): Promise<string> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.write(text);
  return readAll(socket);
}

async function readAll(socket: Socket): Promise<string> {
  let answer = '';
  socket.setEncoding('utf8').on('data', (chunk) => {
    answer += chunk;
  });
  socket.on('error', () => {});
  await once(socket, 'close');
  return answer;
}

it('a client that has not sent its whole request takes nobody’s place', async () => {
  await using held = await startPausedServer({ maxInFlightRequests: 1 });
  const { hostname, port } = new URL(held.url);
  const slow = Array.from({ length: 10 }, () => connect(Number(port), hostname));
  for (const socket of slow) {
    const arrival = held.nextRequest();
    socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{');
    await arrival;
  }
  expect(held.server.load()).toMatchObject({ running: 0, shedding: undefined });
  const arrival = held.nextRequest();
  const answer = statusOf(held.url);
  await arrival;
  expect(await statusOf(held.url)).toBe(503); // One that is whole runs.
  held.release();
  expect(await answer).toBe(200);
  for (const socket of slow) {
    socket.destroy();
  }
});

describe('health', () => {
  it('is answered on the exact paths, without asking the gateway', async () => {
    await using held = await startPausedServer();
    expect(await statusOf(`${held.url}/livez`)).toBe(200);
    expect(await statusOf(`${held.url}/readyz?verbose`)).toBe(200);
    for (const path of ['/graphql?x=/livez', '/livez/', '/x/readyz', '/health']) {
      const arrived = held.nextRequest();
      const answer = fetch(held.url + path);
      await arrived;
      held.release();
      expect(await (await answer).text()).toBe('done');
    }
  });

  it('stays live and becomes unready while it stops', async () => {
    await using held = await startPausedServer({ lameDuckMs: 1_000 });
    const agent = new Agent({ keepAlive: true });
    const arrived = held.nextRequest();
    const running = fetch(`${held.url}/graphql`);
    await arrived;
    const closing = held.server.close();
    expect(await statusOf(`${held.url}/livez`)).toBe(200);
    expect(await statusOf(`${held.url}/readyz`)).toBe(503);
    const refused = await fetch(`${held.url}/graphql`);
    expect([refused.status, refused.headers.get('retry-after'), refused.headers.get('connection')]).toEqual([
      503,
      '1',
      'close',
    ]);
    held.release();
    expect(await (await running).text()).toBe('done');
    await closing;
    agent.destroy();
    await expect(fetch(`${held.url}/livez`)).rejects.toThrow();
  });
});

describe('load shedding', () => {
  const SHED = {
    errors: [
      { message: expect.any(String), extensions: { code: 'OVERLOADED', retryable: true, retryAfterSeconds: 1 } },
    ],
  };

  it('answers one request too many with 503 and Retry-After, and serves again when one has ended', async () => {
    await using held = await startPausedServer({ maxInFlightRequests: 2 });
    const arrivals = [held.nextRequest(), held.nextRequest()];
    const running = [fetch(`${held.url}/graphql`), fetch(`${held.url}/graphql`)];
    await Promise.all(arrivals);
    const shed = await fetch(`${held.url}/graphql`, { method: 'POST', body: 'x'.repeat(100_000) });
    expect([shed.status, shed.headers.get('retry-after'), await shed.json()]).toEqual([503, '1', SHED]);
    expect(await statusOf(`${held.url}/readyz`)).toBe(503);
    expect(await statusOf(`${held.url}/livez`)).toBe(200);
    held.release();
    await Promise.all(running);
    await expect.poll(() => statusOf(`${held.url}/readyz`)).toBe(200);
  });

  it('sheds while the process is overloaded', async () => {
    let reason: 'heap' | undefined = 'heap';
    await using held = await startPausedServer({ overload: { reason: () => reason } });
    expect(await statusOf(`${held.url}/graphql`)).toBe(503);
    expect(await statusOf(`${held.url}/readyz`)).toBe(503);
    reason = undefined;
    expect(await statusOf(`${held.url}/readyz`)).toBe(200);
  });

  it('notices a late event loop and a full heap, and recovers', async () => {
    using monitor = createOverloadMonitor({ maxEventLoopDelayMs: 50, maxHeapPercent: 100 }, 100);
    await expect.poll(() => monitor.reason()).toBeUndefined();
    const blocking = setInterval(() => {
      const until = performance.now() + 120;
      while (performance.now() < until) {
        // Nothing else runs.
      }
    }, 1);
    await expect.poll(() => monitor.reason(), { timeout: 10_000, interval: 1 }).toBe('event loop');
    clearInterval(blocking);
    await expect.poll(() => monitor.reason(), { timeout: 10_000 }).toBeUndefined();
    using full = createOverloadMonitor({ maxEventLoopDelayMs: 60_000, maxHeapPercent: 0 }, 10);
    await expect.poll(() => full.reason()).toBe('heap');
  });
});

describe('a hostile connection', () => {
  const HEAD = 'POST /graphql HTTP/1.1\r\nHost: x\r\n';

  it.each([
    ['two Content-Length', `${HEAD}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}`, 400],
    ['Content-Length and Transfer-Encoding', `${HEAD}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}`, 400],
    ['17 KiB of headers', `${HEAD}X: ${'x'.repeat(17 * 1024)}\r\n\r\n`, 431],
    ['no HTTP', 'NONSENSE\r\n\r\n', 400],
  ])('with %s is refused', async (_, bytes, status) => {
    await using held = await startPausedServer();
    expect(await sendRaw(held.url, bytes)).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(await statusOf(`${held.url}/livez`)).toBe(200);
  });

  it('that never sends its headers, or its body, is cut off', async () => {
    await using held = await startPausedServer({ clientHeadersTimeoutMs: 200, clientRequestTimeoutMs: 400 });
    const answers = [sendRaw(held.url, 'POST /graphql HT'), sendRaw(held.url, `${HEAD}Content-Length: 10\r\n\r\n{`)];
    for (const answer of await Promise.all(answers)) {
      expect(answer === '' || answer.startsWith('HTTP/1.1 408 ')).toBe(true);
    }
  });
});

it('closing answers every request that a client has sent at a time on one connection', async () => {
  await using held = await startPausedServer();
  const client = await connectRaw(held.url);
  const arrivals = [held.nextRequest(), held.nextRequest(), held.nextRequest()];
  await client.send('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(3));
  await Promise.all(arrivals);
  const closing = held.server.close();
  held.release();
  await Promise.all([closing, client.closed]);
  expect(client.received().match(/done/g)).toHaveLength(3);
  expect(client.received().match(/^Connection: close/gm)).toHaveLength(1);
});

it('closing under load answers every request that was accepted', async () => {
  const server = await startServer({
    host: '127.0.0.1',
    port: 0,
    lameDuckMs: 300,
    listener: (_, response) => {
      setTimeout(() => response.end('done'), 20);
    },
  });
  const outcomes = { answered: 0, shed: 0, refused: 0, lost: 0 };
  const agent = new Agent({ keepAlive: true, maxSockets: 50 });

  const ask = () =>
    new Promise<keyof typeof outcomes>((resolve) => {
      const request = sendRequest(server.url, { agent, path: '/graphql' }, async (response) => {
        for await (const _ of response) {
          // The answer is read to its end.
        }
        resolve(response.statusCode === 200 ? 'answered' : 'shed');
      });
      request.on('error', (error: NodeJS.ErrnoException) =>
        resolve(error.code === 'ECONNREFUSED' ? 'refused' : 'lost'),
      );
      request.end();
    });
  const clients = Array.from({ length: 50 }, async () => {
    let outcome: keyof typeof outcomes;
    do {
      outcome = await ask();
      outcomes[outcome] += 1;
    } while (outcome === 'answered'); // Whoever is told to go elsewhere does.
  });
  await expect.poll(() => outcomes.answered).toBeGreaterThan(200);
  await server.close();
  await Promise.all(clients);
  agent.destroy();
  expect(outcomes).toMatchObject({ lost: 0 });
  expect(outcomes.shed + outcomes.refused).toBe(50);
});
