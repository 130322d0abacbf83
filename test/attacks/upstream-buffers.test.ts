import { expect, it } from 'vitest';
import { startGateway } from '../support/gateway.ts';
import { type Connection, HEAD } from '../support/service.ts';

const MIB = 1024 * 1024;

it('upstream responses that together exceed the memory limit are OVERLOADED and count toward load shedding', async () => {
  const waiting: Connection[] = [];
  const start = `{"data":[{"_id":"g1","name":"${'x'.repeat(2 * MIB)}`;
  const end = '"}]}';
  await using gateway = await startGateway(
    {
      service: (_, connection) => {
        connection.send(`${HEAD}content-length: ${start.length + end.length}\r\n\r\n${start}`);
        waiting.push(connection);
      },
      maxBufferedBytes: 9 * MIB,
    },
    { server: { maxBufferedBytes: 7 * MIB } },
  );
  const send = async (i: number) => {
    const query = '{ notificationGroups { __typename } }';
    const { status, codes } = await gateway.send(query, {}, { authorization: `ApiKey key-${i}` });
    return [status, codes[0]];
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
  expect(gateway.load().shedding).toBe('buffered bytes');

  for (const { send } of waiting) {
    send(end);
  }
  const outcomes = await Promise.all(sent);
  expect(outcomes.filter(([, code]) => code === undefined)).toHaveLength(4);
  expect(outcomes.filter(([, code]) => code === 'OVERLOADED')).toHaveLength(2);
  expect(gateway.bufferedBytes()).toBe(0);
  expect(gateway.load().shedding).toBeUndefined();
});
