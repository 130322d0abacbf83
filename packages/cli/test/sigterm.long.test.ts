import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { startNotigraph } from '../../../test/support/process.ts';
import { feed, group } from '../../../test/support/records.ts';
import { sendOperation } from '../../../test/support/send-operation.ts';
import { startService } from '../../../test/support/service.ts';
import { startServer } from '../src/server/server.ts';

const GROUPS = '{ notificationGroups { name } }';
const CREATE_FEED = 'mutation { createFeed(input: { name: "News" }) { ... on CreateFeedSuccess { feed { name } } } }';

it('100 in-flight operations return data after SIGTERM', async () => {
  await using upstream = await startService(({ method }) =>
    method === 'GET' ? { body: { data: [group()] } } : { status: 201, body: { data: feed({ name: 'News' }) } },
  );
  await using notigraph = await startNotigraph({
    args: ['--upstream', upstream.url],
    env: { NOTIGRAPH_SOCKETS: '100' },
  });
  for (let i = 0; i < 100; i += 1) {
    await sendOperation(notigraph.url, GROUPS, {}, `ApiKey key-${i}`); // The service accepts the keys.
  }
  upstream.forget();
  const held = upstream.hold(undefined, Infinity);
  const answers = Array.from({ length: 100 }, (_, i) =>
    sendOperation(notigraph.url, i % 2 === 0 ? GROUPS : CREATE_FEED, {}, `ApiKey key-${i}`),
  );
  await upstream.arrived(100);
  const ended = notigraph.stop('SIGTERM');
  await notigraph.printed('stdout', /^Shutting down: .+$/m);
  await expect.poll(() => fetch(notigraph.url).catch((error) => error.cause.code)).toBe('ECONNREFUSED');
  held.release();
  for (const [i, answer] of (await Promise.all(answers)).entries()) {
    expect(answer).toEqual({
      data: i % 2 === 0 ? { notificationGroups: [{ name: 'Group' }] } : { createFeed: { feed: { name: 'News' } } },
    });
  }
  const { stdout, ...result } = await ended;
  expect(result).toMatchObject({ code: 0, signal: null, stderr: '' });
  expect(stdout).not.toContain('drainTimeoutMs');
});

it('requests on connections made before a server closes are answered', async () => {
  const server = await startServer({ host: '127.0.0.1', port: 0, listener: (_, response) => void response.end() });
  const { promise: made, resolve: make } = Promise.withResolvers<void>();
  const answers = Array.from({ length: 50 }, async () => {
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1', make);
    socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
    return text(socket);
  });
  await made; // The system has established all connections by now; the event loop accepts one per turn.
  const closed = server.close();
  for (const answer of await Promise.all(answers)) {
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
  }
  await closed;
});
