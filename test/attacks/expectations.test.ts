import { expect, it } from 'vitest';
import { startPausedServer } from '../support/paused-server.ts';
import { connectRaw, EVENTUALLY, postHead } from '../support/raw-client.ts';

const CONTINUE = 'Expect: 100-continue';

it('a body that is too large is rejected without 100 Continue', async () => {
  await using held = await startPausedServer({ maxBodyBytes: 1_000 });
  const client = await connectRaw(held.url);
  await client.send(postHead('/graphql', CONTINUE, 'Content-Length: 1001'));
  await client.closed;
  const [head = '', body = ''] = client.received().split('\r\n\r\n');
  expect(head).toMatch(/^HTTP\/1\.1 413 /); // The rejection is the first thing that is sent.
  expect(JSON.parse(body)).toEqual({
    errors: [{ message: expect.stringContaining('1000'), extensions: { code: 'PAYLOAD_TOO_LARGE', retryable: false } }],
  });
});

it('a body of an acceptable length gets 100 Continue, then its response', async () => {
  await using held = await startPausedServer({ maxBodyBytes: 1_000 });
  for (const length of ['Content-Length: 1000', 'Transfer-Encoding: chunked']) {
    const client = await connectRaw(held.url);
    const arrival = held.nextRequest();
    await client.send(postHead('/graphql', CONTINUE, length, 'Connection: close'));
    await client.receives(/^HTTP\/1\.1 100 Continue\r\n\r\n$/);
    await arrival;
    await client.send(length.startsWith('Content') ? 'x'.repeat(1_000) : '1\r\nx\r\n0\r\n\r\n');
    await expect.poll(() => held.server.load().running, EVENTUALLY).toBe(1);
    held.release();
    await client.closed;
    expect(client.received()).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 OK\r\n.*done/s);
  }
});

it('a body that would be shed gets no 100 Continue', async () => {
  await using held = await startPausedServer({
    overload: { excess: () => ({ reason: 'heap', value: 90, limit: 85 }) },
  });
  const client = await connectRaw(held.url);
  await client.send(postHead('/graphql', CONTINUE, 'Content-Length: 10'));
  await client.closed;
  expect(client.received()).toMatch(/^HTTP\/1\.1 503 /);
});

it('any other expectation is rejected with 417', async () => {
  await using held = await startPausedServer();
  const client = await connectRaw(held.url);
  await client.send(postHead('/graphql', 'Expect: the-unexpected', 'Content-Length: 10'));
  await client.closed;
  const [head, body = ''] = client.received().split('\r\n\r\n');
  expect(head).toMatch(/^HTTP\/1\.1 417 /);
  expect(JSON.parse(body)).toEqual({
    errors: [
      { message: expect.stringContaining('Expect'), extensions: { code: 'EXPECTATION_FAILED', retryable: false } },
    ],
  });
});
