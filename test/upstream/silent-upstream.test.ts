import { describe, expect, it } from 'vitest';
import { READ, SET_STATUS, SHORT_RETRY_DELAYS, setUp, WRITES, watchTimers } from '../support/faults.ts';

watchTimers();

describe('an upstream that accepts connections but never responds', () => {
  const options = { operationTimeoutMs: 30_000, attemptTimeoutMs: 500, ...SHORT_RETRY_DELAYS };

  it('makes a query fail with UPSTREAM_TIMEOUT after three attempts', async () => {
    await using setup = await setUp(() => {}, options);
    const { result, error, ms } = await setup.run(READ);
    expect({ result, error }).toMatchObject({ result: null, error: { code: 'UPSTREAM_TIMEOUT', retryable: true } });
    expect(ms).toBeGreaterThan(1_490);
    expect(ms).toBeLessThan(10_000);
    expect(setup.calls()).toEqual(['GET', 'GET', 'GET']);
    await setup.upstream.allClosed();
  });

  it('makes writes fail with outcome UNKNOWN, after three attempts for the status and one for others', async () => {
    await using setup = await setUp(() => {}, options);
    for (const write of [SET_STATUS, ...Object.values(WRITES)]) {
      expect((await setup.run(write)).error).toMatchObject({
        code: 'UPSTREAM_TIMEOUT',
        outcome: 'UNKNOWN',
        retryable: false,
      });
    }
    expect(setup.calls()).toEqual(['PUT', 'PUT', 'PUT', 'POST', 'POST', 'POST', 'PATCH', 'DELETE', 'DELETE', 'DELETE']);
    await setup.upstream.allClosed();
  });

  it('is disconnected when the operation times out during an attempt', async () => {
    await using setup = await setUp(() => {}, {
      operationTimeoutMs: 3_000,
      attemptTimeoutMs: 2_000,
      ...SHORT_RETRY_DELAYS,
    });
    const { error, ms } = await setup.run(READ);
    expect(error).toMatchObject({ code: 'UPSTREAM_TIMEOUT' });
    expect(ms).toBeGreaterThan(2_990);
    expect(ms).toBeLessThan(3_950); // The second attempt would end after four seconds.
    expect(setup.calls()).toEqual(['GET', 'GET']);
    await setup.upstream.allClosed();
  });
});
