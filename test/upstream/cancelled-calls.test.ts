import { describe, expect, it, onTestFinished } from 'vitest';
import { Usage } from '../../src/telemetry/usage.ts';
import { OperationClient } from '../../src/upstream/client.ts';
import { isUpstreamError, type UpstreamError } from '../../src/upstream/errors.ts';
import { Service } from '../../src/upstream/service.ts';
import { Abort } from '../../src/upstream/signal.ts';
import { createSocketPool } from '../../src/upstream/transport/create-socket-pool.ts';
import { startScriptedUpstream } from '../support/scripted-upstream.ts';
import { settingsOf } from '../support/settings.ts';

describe('a cancelled call', () => {
  const createCaller = (signal: Abort, milliseconds: number) => ({
    authorization: 'ApiKey a',
    signal,
    deadlineAt: performance.now() + milliseconds,
    requestId: 'r',
    events: new Usage(),
  });

  /** Makes two calls, of which the second waits for the first, and cancels both. Returns their errors. */
  async function callUntil(cancel: (client: Abort) => void, write: boolean, milliseconds = 60_000) {
    const upstreamCalled = Promise.withResolvers<void>();
    await using upstream = await startScriptedUpstream(() => {
      upstreamCalled.resolve();
      return 'taken over';
    });
    const pool = createSocketPool(new URL(upstream.url).origin, settingsOf(upstream.url));
    onTestFinished(() => pool.close());
    const settings = settingsOf(upstream.url, { maxConcurrentCallsPerKey: 1 });
    const service = new Service(settings, { pool });
    const callers = [new Abort(), new Abort()];
    const failures: Promise<UpstreamError>[] = [];
    for (const [i, signal] of callers.entries()) {
      const client = new OperationClient(settings, service, createCaller(signal, milliseconds / (1 + i))); // The second deadline expires while the call is queued.
      const call = write
        ? client.write({ method: 'POST', route: '/v1/feeds', body: { name: 'a' }, expect: 'record' })
        : client.read({ route: '/v1/feeds', expect: 'list' });
      failures.push(
        call.then(
          () => Promise.reject(new Error('The call succeeded.')),
          (error) => error,
        ),
      );
    }
    await upstreamCalled.promise;
    for (const caller of callers) {
      cancel(caller);
    }
    const errors = await Promise.all(failures);
    expect(errors.every(isUpstreamError)).toBe(true);
    return errors.map(({ code, outcome, sent, retry, isOutage }) => ({ code, outcome, sent, retry, isOutage }));
  }

  const closed = { code: 'CLIENT_CLOSED', retry: 'never', isOutage: false };

  it('fails with CLIENT_CLOSED, and a write that was sent has outcome UNKNOWN', async () => {
    expect(await callUntil((client) => client.abort(new DOMException('', 'TimeoutError')), true)).toEqual([
      { ...closed, outcome: 'UNKNOWN', sent: true },
      { ...closed, outcome: 'NOT_APPLIED', sent: false }, // The call was queued.
    ]);
    const [first] = await callUntil((client) => client.abort(), false);
    expect(first).toMatchObject({ ...closed, outcome: undefined });
  });

  it('fails with CLIENT_CLOSED while it waits for a retry, regardless of the previous failure', async () => {
    const retryDelayed = Promise.withResolvers<void>();
    await using upstream = await startScriptedUpstream(() => ({ status: 503, body: {} }));
    const pool = createSocketPool(new URL(upstream.url).origin, settingsOf(upstream.url));
    onTestFinished(() => pool.close());
    const random = () => {
      retryDelayed.resolve();
      return 1;
    };
    const settings = settingsOf(upstream.url, { retryBaseDelayMs: 60_000, retryMaxDelayMs: 60_000 });
    const signal = new Abort();
    const caller = createCaller(signal, 120_000);
    const client = new OperationClient(settings, new Service(settings, { pool, random }), caller);
    const call = client.write({ method: 'PUT', route: '/v1/feeds', expect: 'record' });
    await retryDelayed.promise;
    signal.abort();
    await expect(call).rejects.toMatchObject({ ...closed, outcome: 'UNKNOWN', status: 503 });
    expect(upstream.requests).toHaveLength(1);
  });

  it('fails with UPSTREAM_TIMEOUT if its deadline expires', async () => {
    expect(await callUntil(() => {}, true, 1_000)).toMatchObject([
      { code: 'UPSTREAM_TIMEOUT', outcome: 'UNKNOWN' },
      { code: 'UPSTREAM_TIMEOUT', outcome: 'NOT_APPLIED' },
    ]);
  });

  it.each([true, false])('is not sent if it was cancelled before (write: %s)', async (write) => {
    await using upstream = await startScriptedUpstream(() => ({ body: { data: [] } }));
    const pool = createSocketPool(new URL(upstream.url).origin, settingsOf(upstream.url));
    onTestFinished(() => pool.close());
    const signal = new Abort();
    signal.abort();
    const caller = createCaller(signal, 120_000);
    const settings = settingsOf(upstream.url);
    const client = new OperationClient(settings, new Service(settings, { pool }), caller);
    const call = write
      ? client.write({ method: 'POST', route: '/v1/feeds', expect: 'record' })
      : client.read({ route: '/v1/feeds', expect: 'list' });
    await expect(call).rejects.toMatchObject({ code: 'CLIENT_CLOSED', sent: false });
    expect(upstream.requests).toEqual([]);
  });
});
