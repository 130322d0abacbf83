import { describe, expect, it } from 'vitest';
import { READ, SET_STATUS, SHORT_PAUSES, stage, WRITES, watchTimers } from '../support/faults.ts';

watchTimers();

describe('an upstream that accepts and never answers', () => {
  const options = { operationTimeoutMs: 700, attemptTimeoutMs: 150, ...SHORT_PAUSES };

  it('is asked three times by a query, which is UPSTREAM_TIMEOUT', async () => {
    await using on = await stage(() => {}, options);
    const { result, error, ms } = await on.run(READ);
    expect({ result, error }).toMatchObject({ result: null, error: { code: 'UPSTREAM_TIMEOUT', retryable: true } });
    expect(ms).toBeGreaterThan(440);
    expect(ms).toBeLessThan(700);
    expect(on.calls()).toEqual(['GET', 'GET', 'GET']);
    await on.upstream.allClosed();
  });

  it('is asked three times to set a status, and once by every other write, and all are UNKNOWN', async () => {
    await using on = await stage(() => {}, options);
    for (const write of [SET_STATUS, ...Object.values(WRITES)]) {
      expect((await on.run(write)).error).toMatchObject({
        code: 'UPSTREAM_TIMEOUT',
        outcome: 'UNKNOWN',
        retryable: false,
      });
    }
    expect(on.calls()).toEqual(['PUT', 'PUT', 'PUT', 'POST', 'POST', 'POST', 'PATCH', 'DELETE', 'DELETE', 'DELETE']);
    await on.upstream.allClosed();
  });

  it('is left when the operation’s time is over, in the middle of an attempt', async () => {
    await using on = await stage(() => {}, {
      operationTimeoutMs: 700,
      attemptTimeoutMs: 500,
      ...SHORT_PAUSES,
    });
    const { error, ms } = await on.run(READ);
    expect(error).toMatchObject({ code: 'UPSTREAM_TIMEOUT' });
    expect(ms).toBeGreaterThan(690);
    expect(ms).toBeLessThan(950);
    expect(on.calls()).toEqual(['GET', 'GET']);
    await on.upstream.allClosed();
  });

  it('ends in 15 s, an attempt in 6 s, with the numbers that are built in', async () => {
    const dripped: number[] = [];
    await using on = await stage(({ path }, connection) => {
      if (path.endsWith('/drip')) {
        dripped.push(performance.now());
        connection.send('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 500\r\n\r\n');
        connection.drip(' ', 1_000);
      }
    });
    const [read, write, drip] = await Promise.all([
      on.run(READ),
      on.run(WRITES.createSubscriber),
      on.run('{ workflow(idOrIdentifier: "drip") { id } }'),
    ]);
    expect([read.error?.code, write.error?.code, drip.error?.code]).toEqual(Array(3).fill('UPSTREAM_TIMEOUT'));
    for (const { ms } of [read, drip]) {
      expect(ms).toBeGreaterThan(14_900);
      expect(ms).toBeLessThan(15_500);
    }
    expect(write.error).toMatchObject({ outcome: 'UNKNOWN' });
    expect(write.ms).toBeLessThan(6_300);
    expect(on.calls().filter((method) => method === 'POST')).toHaveLength(1);
    expect(dripped.length).toBeGreaterThan(1);
    const [first = 0, second = 0] = dripped;
    expect(second - first).toBeGreaterThan(5_900);
    expect(second - first).toBeLessThan(6_500);
  });
});
