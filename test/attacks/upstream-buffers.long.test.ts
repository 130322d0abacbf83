import { expect, it } from 'vitest';
import { createGateway } from '../../src/gateway.ts';
import { startServer } from '../../src/server/server.ts';
import { type Connection, HEAD, startService } from '../support/service.ts';

const MIB = 1024 * 1024;

it('upstream responses that together exceed the memory limit are OVERLOADED and count toward load shedding', async () => {
  const waiting: Connection[] = [];
  const start = `{"data":[{"_id":"g1","name":"${'x'.repeat(2 * MIB)}`;
  const end = '"}]}';
  await using upstream = await startService((_, connection) => {
    connection.send(`${HEAD}content-length: ${start.length + end.length}\r\n\r\n${start}`);
    waiting.push(connection);
  });
  await using gateway = createGateway({ upstream: upstream.url, maxBufferedBytes: 9 * MIB });
  await using server = await startServer({
    host: '127.0.0.1',
    port: 0,
    drainTimeoutMs: 400,
    listener: gateway.listener,
    bufferedBytes: gateway.bufferedBytes,
    maxBufferedBytes: 7 * MIB,
  });
  const send = async (i: number) => {
    const response = await fetch(`${server.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `ApiKey key-${i}` },
      body: '{"query":"{ notificationGroups { __typename } }"}',
    });
    const { errors } = await response.json();
    return [response.status, errors?.[0].extensions.code];
  };

  const sent = Array.from({ length: 6 }, (_, i) => send(i));
  const rejected: unknown[] = [];
  for (const outcome of sent) {
    outcome.then((settled) => rejected.push(settled));
  }
  // Four responses fit. The other two must be rejected before the four end, because an ended response makes room.
  await expect
    .poll(() => rejected)
    .toEqual([
      [200, 'OVERLOADED'],
      [200, 'OVERLOADED'],
    ]);
  await expect.poll(() => gateway.bufferedBytes()).toBeGreaterThan(8 * MIB);
  expect(gateway.bufferedBytes()).toBeLessThanOrEqual(9 * MIB);
  expect(await send(7)).toEqual([503, 'OVERLOADED']);
  expect(server.load().shedding).toBe('buffered bytes');

  for (const { send } of waiting) {
    send(end);
  }
  const outcomes = await Promise.all(sent);
  expect(outcomes.filter(([, code]) => code === undefined)).toHaveLength(4);
  expect(outcomes.filter(([, code]) => code === 'OVERLOADED')).toHaveLength(2);
  expect(gateway.bufferedBytes()).toBe(0);
  expect(server.load().shedding).toBeUndefined();
});
