import { expect, it } from 'vitest';
import { READ, respondHealthy, setUp, WRITES, watchTimers } from '../support/failing-service.ts';

watchTimers();

it('by default an operation times out after 15 s and an attempt after 6 s', async () => {
  const dripped: number[] = [];
  await using setup = await setUp(respondHealthy);
  await setup.run(READ); // The service accepts the key.
  setup.upstream.forget();
  setup.upstream.script = ({ path }, connection) => {
    if (path.endsWith('/drip')) {
      dripped.push(performance.now());
      connection.send('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 500\r\n\r\n');
      connection.drip(' ', 1_000);
    }
  };
  const [read, write, drip] = await Promise.all([
    setup.run(READ),
    setup.run(WRITES.createSubscriber),
    setup.run('{ workflow(idOrIdentifier: "drip") { id } }'),
  ]);
  expect([read.error?.code, write.error?.code, drip.error?.code]).toEqual(Array(3).fill('UPSTREAM_TIMEOUT'));
  for (const { ms } of [read, drip]) {
    expect(ms).toBeGreaterThan(14_900);
    expect(ms).toBeLessThan(18_000);
  }
  expect(write.error).toMatchObject({ outcome: 'UNKNOWN' });
  expect(write.ms).toBeLessThan(9_000);
  expect(setup.calls().filter((method) => method === 'POST')).toHaveLength(1);
  expect(dripped.length).toBeGreaterThan(1);
  const [first = 0, second = 0] = dripped;
  expect(second - first).toBeGreaterThan(5_900);
  expect(second - first).toBeLessThan(9_000);
});
