import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import {
  brokenConnection,
  type Endpoint,
  isUpstreamError,
  notConnected,
  serviceUnavailable,
  timedOut,
  type UpstreamError,
} from '../../src/upstream/errors.ts';
import { createCircuitBreaker } from '../../src/upstream/policies/circuit-breaker.ts';
import { Retry, type RetrySettings } from '../../src/upstream/policies/retry.ts';
import { errorFromFailure, errorFromResponse } from '../../src/upstream/transport/to-error.ts';
import { startGateway } from '../support/gateway.ts';
import { bytesInUse } from '../support/heap.ts';
import { type RawScript, startRawUpstream } from '../support/raw-upstream.ts';
import { feed, subscriber, workflow } from '../support/records.ts';
import { DEFAULTS } from '../support/settings.ts';
import { codeOf, deferResponses, respondWithName, startClient } from '../support/upstream-client.ts';

const GET: Endpoint = { method: 'GET', route: '/v1/workflows/{workflowIdOrIdentifier}' };

const responseError = (status: number): UpstreamError =>
  errorFromResponse(
    {
      endpoint: GET,
      authorization: 'ApiKey secret',
      path: '/v1/workflows/w1',
      body: undefined,
      idempotencyKey: undefined,
    },
    { status, body: {}, retryAfter: undefined },
  );

/** Failures that do not indicate an outage. */
const NO_OUTAGES: [string, UpstreamError][] = [
  ...[400, 401, 403, 404, 409, 422, 429, 500, 501, 505].map((status): [string, UpstreamError] => [
    String(status),
    responseError(status),
  ]),
  ['a timeout', timedOut(GET, undefined)],
  ['a reset', brokenConnection(GET, undefined, 'reset')],
];

const OUTAGES: [string, UpstreamError][] = [
  ['502', serviceUnavailable(GET, 502, undefined)],
  ['503', serviceUnavailable(GET, 503, undefined)],
  ['504', responseError(504)],
  ['no headers in time', timedOut(GET, undefined, undefined, true)],
  ['no connection', notConnected(GET, 'refused', false)],
];

describe('retries', () => {
  /** Counts the retries that the budget allows of `failing` calls, next to `hanging` calls in flight. */
  function startRetries({ failing, hanging }: { failing: number; hanging: number }) {
    const { budget } = new Retry(DEFAULTS);
    let retried = 0;
    const resend = () => {
      retried += 1;
    };
    for (let i = 0; i < failing + hanging; i += 1) {
      budget.startCall();
    }
    for (let i = 0; i < failing; i += 1) {
      budget.request({ resend });
    }
    return { budget, retried: () => retried };
  }

  it.each([
    [3, 1, 3],
    [10, 0, 3],
    [17, 0, 3], // 20% of 17 is 3.4, which is not enough for a fourth.
    [17, 3, 4],
    [40, 60, 20],
    [40, 64, 20],
    [40, 65, 21],
  ])('of %i failing calls next to %i in-flight calls are limited to %i at a time', (failing, hanging, expected) => {
    expect(startRetries({ failing, hanging }).retried()).toBe(expected);
  });

  it('beyond the budget start when another retry ends', () => {
    const { budget, retried } = startRetries({ failing: 17, hanging: 0 });
    for (let ended = 1; ended <= 14; ended += 1) {
      budget.endRetry();
      expect(retried()).toBe(3 + ended);
    }
    budget.endRetry();
    expect(retried()).toBe(17);
  });

  it('that end at once, because the circuit is open, let any number of others follow', () => {
    const { budget } = new Retry({ ...DEFAULTS, retryBudgetFloor: 1 });
    let ended = 0;
    const resend = () => {
      ended += 1;
      budget.endRetry();
    };
    budget.request({ resend: () => {} });
    for (let i = 0; i < 20_000; i += 1) {
      budget.request({ resend });
    }
    budget.endRetry();
    expect(ended).toBe(20_000);
  });

  it.each([
    [4, 2], // A fifth of five calls in flight is one retry.
    [3, 1],
  ])(
    'of a call next to %i others in flight send it %i times, regardless of calls that have ended',
    async (others, expected) => {
      const options = { retryBudgetFloor: 0, retryBudgetPercent: 20, retryBaseDelayMs: 1, retryMaxDelayMs: 50 };
      const { pending, script } = deferResponses();
      await using client = await startClient(
        (request, connection) => {
          if (request.path.endsWith('/failing')) {
            connection.answer({ status: 503, body: {} });
          } else if (request.path.endsWith('/ended')) {
            connection.answer({ body: { data: workflow() } });
          } else {
            script(request, connection);
          }
        },
        { ...options, maxRetries: 1 },
      );
      for (let i = 0; i < 5; i += 1) {
        await client.caller('a').getWorkflow('ended');
      }
      const reads = Array.from({ length: others }, (_, i) => client.caller('a').getWorkflow(`w${i}`));
      await client.upstream.arrived(5 + others);
      expect(await client.caller('a').getWorkflow('failing').catch(codeOf)).toBe('UPSTREAM_UNAVAILABLE');
      expect(client.upstream.requests.filter(({ path }) => path.endsWith('/failing'))).toHaveLength(expected);
      for (const { connection } of pending) {
        connection.answer({ body: { data: workflow() } });
      }
      await Promise.all(reads);
    },
  );

  it('release the budget when they end', async () => {
    let requests = 0;
    await using client = await startClient(
      (_, { answer }) => {
        requests += 1;
        answer({ status: requests % 2 === 1 ? 503 : 500, body: {} });
      },
      { retryBudgetFloor: 1, retryBudgetPercent: 0 },
      () => 0,
    );
    for (let i = 0; i < 5; i += 1) {
      expect(await client.caller('a').getWorkflow('w1').catch(codeOf)).toBe('UPSTREAM_ERROR');
    }
    expect(requests).toBe(10);
  });

  /** Returns the delays before the retries of a call, in milliseconds. */
  function retryDelays(
    { random, ...options }: Partial<RetrySettings> & { random?: () => number },
    error = serviceUnavailable(GET, 503, undefined),
  ): number[] {
    const retry = new Retry({ ...DEFAULTS, ...options }, random);
    const delays: number[] = [];
    for (let retries = 0; ; retries += 1) {
      const deadlineAt = performance.now() + 600_000;
      const delay = retry.delayOf({ isRepeatable: true, retries, deadlineAt }, error);
      if (delay === undefined) {
        return delays;
      }
      delays.push(delay);
    }
  }

  it('are limited to two', () => {
    expect(retryDelays({ random: () => 0 })).toHaveLength(2);
  });

  it('wait for a random part of a delay that doubles from 100 ms to 1 s', () => {
    expect(retryDelays({ random: () => 1, maxRetries: 6 })).toEqual([100, 200, 400, 800, 1_000, 1_000]);
    expect(retryDelays({ random: () => 0.5, maxRetries: 6 })).toEqual([50, 100, 200, 400, 500, 500]);
    expect(retryDelays({ random: () => 0, maxRetries: 3 })).toEqual([0, 0, 0]);
  });

  it('wait by default for a random time below 100 ms, then below 200 ms', () => {
    const firsts = new Set<number>();
    for (let i = 0; i < 50; i += 1) {
      const [first = -1, second = -1] = retryDelays({});
      expect(first).toBeLessThan(101);
      expect(second).toBeLessThan(201);
      firsts.add(first);
    }
    expect(firsts.size).toBeGreaterThan(10);
    expect(Math.max(...firsts)).toBeGreaterThan(50);
  });

  it('wait for Retry-After plus a random part of the delay, so that clients do not retry at once', () => {
    expect(retryDelays({ random: () => 0.5 }, serviceUnavailable(GET, 503, 2))).toEqual([2_050, 2_100]);
    expect(retryDelays({ random: () => 0.5 }, serviceUnavailable(GET, 503, 0))).toEqual([50, 100]);
    expect(retryDelays({ random: () => 0.5 }, serviceUnavailable(GET, 503, 3))).toEqual([]);
  });
});

describe('the circuit breaker', () => {
  function createBreaker() {
    let time = 1_000_000;
    const breaker = createCircuitBreaker(DEFAULTS, () => time);
    const run = async <T>(work: () => Promise<T>, credential = 'a'): Promise<T> => {
      const call = {};
      const refusal = breaker.refusal(call, credential, GET);
      if (refusal !== undefined) {
        breaker.ended(call, credential, refusal, false);
        throw refusal;
      }
      try {
        const result = await work();
        const success = { status: 200, body: {}, replayed: false, rateLimit: undefined, bytes: 2 };
        breaker.ended(call, credential, success, true);
        return result;
      } catch (failure) {
        if (isUpstreamError(failure)) {
          breaker.ended(call, credential, failure, true);
        }
        throw failure;
      }
    };
    const attempt = async (outcome: 'ok' | UpstreamError) => {
      if (outcome !== 'ok') {
        throw outcome;
      }
    };
    return {
      wait(milliseconds: number) {
        time += milliseconds;
      },
      /** Whether the call was attempted. */
      async call(outcome: 'ok' | UpstreamError, credential?: string): Promise<boolean> {
        let made = false;
        await run(() => {
          made = true;
          return attempt(outcome);
        }, credential).catch((error: unknown) => {
          expect(error === outcome || Reflect.get(Object(error), 'sent') === false).toBe(true);
        });
        return made;
      },
      run,
      async calls(count: number, outcome: 'ok' | UpstreamError, credential?: string): Promise<void> {
        for (let i = 0; i < count; i += 1) {
          await this.call(outcome, credential);
        }
      },
    };
  }
  const outage = serviceUnavailable(GET, 503, undefined);

  it.each(OUTAGES)('opens after 20 calls that fail with %s, not after 19', async (_, error) => {
    const breaker = createBreaker();
    await breaker.calls(19, error);
    expect(await breaker.call(error)).toBe(true);
    expect(await breaker.call('ok')).toBe(false);
    await expect(breaker.run(async () => 'unreached')).rejects.toMatchObject({
      code: 'UPSTREAM_UNAVAILABLE',
      retryAfterSeconds: 2,
      sent: false,
    });
  });

  it.each(NO_OUTAGES)('stays closed after a hundred calls that fail with %s', async (_, error) => {
    const breaker = createBreaker();
    await breaker.calls(100, error);
    expect(await breaker.call('ok')).toBe(true);
  });

  it('opens if at least half of the calls fail', async () => {
    const below = createBreaker();
    await below.calls(11, 'ok');
    await below.calls(10, outage);
    expect(await below.call('ok')).toBe(true);

    const half = createBreaker();
    await half.calls(10, 'ok');
    await half.calls(10, outage);
    expect(await half.call('ok')).toBe(false);
  });

  it('ignores calls after ten seconds, with and without calls in between', async () => {
    const idle = createBreaker();
    await idle.calls(19, outage);
    idle.wait(10_001);
    await idle.calls(19, outage);
    expect(await idle.call('ok')).toBe(true);

    const busy = createBreaker();
    await busy.calls(19, outage);
    for (let i = 0; i < 10; i += 1) {
      busy.wait(1_001);
      await busy.call('ok');
    }
    await busy.calls(9, outage); // Nine of at most 19 calls in the window; including the old ones it would be 28 of 38.
    expect(await busy.call('ok')).toBe(true);

    const recent = createBreaker();
    await recent.calls(19, outage);
    recent.wait(8_900);
    await recent.call(outage);
    expect(await recent.call('ok')).toBe(false);
  });

  it('permits one probe after two seconds, and rejects other calls until it has ended', async () => {
    const breaker = createBreaker();
    await breaker.calls(20, outage);
    breaker.wait(1_999);
    expect(await breaker.call('ok')).toBe(false);
    breaker.wait(1);
    const { promise, resolve } = Promise.withResolvers<void>();
    const probe = breaker.run(() => promise);
    for (let i = 0; i < 5; i += 1) {
      expect(await breaker.call('ok')).toBe(false);
    }
    resolve();
    await probe;
    expect(await breaker.call('ok')).toBe(true);
  });

  it('stays open for 2, 4, 8 and again 8 seconds while the probes fail', async () => {
    const breaker = createBreaker();
    await breaker.calls(20, outage);
    for (const seconds of [2, 4, 8, 8]) {
      breaker.wait(seconds * 1_000 - 1);
      expect(await breaker.call(outage)).toBe(false);
      breaker.wait(1);
      expect(await breaker.call(outage)).toBe(true);
    }
    breaker.wait(8_000);
    expect(await breaker.call('ok')).toBe(true);
    // After closing, it again takes twenty failures to open, and the first probe follows after two seconds.
    await breaker.calls(19, outage);
    expect(await breaker.call(outage)).toBe(true);
    expect(await breaker.call('ok')).toBe(false);
    breaker.wait(2_000);
    expect(await breaker.call('ok')).toBe(true);
  });

  it.each([
    ['no headers in time', timedOut(GET, undefined, undefined, true)],
    ['504', responseError(504)],
  ])('pauses only the calls of a credential if no other had a failure (%s)', async (_, slow) => {
    const breaker = createBreaker();
    await breaker.calls(10, 'ok', 'b');
    await breaker.calls(20, slow, 'a');
    expect(await breaker.call('ok', 'a')).toBe(false);
    expect(await breaker.call('ok', 'b')).toBe(true);
    // Single failures of others are no outage either, and neither are late ones of the first.
    await breaker.calls(20, 'ok', 'c');
    await breaker.calls(19, slow, 'b');
    expect(await breaker.call(slow, 'b')).toBe(true);
    expect(await breaker.call('ok', 'c')).toBe(true);
    breaker.wait(2_000);
    expect(await breaker.call('ok', 'a')).toBe(true);
    expect(await breaker.call('ok', 'a')).toBe(true);
  });

  it('pauses all calls once those of other credentials fail too', async () => {
    const slow = timedOut(GET, undefined, undefined, true);
    const together = createBreaker();
    await together.call(slow, 'b');
    await together.calls(19, slow, 'a');
    expect(await together.call('ok', 'c')).toBe(false);

    const later = createBreaker();
    await later.calls(20, slow, 'a');
    await later.calls(19, slow, 'b');
    expect(await later.call(slow, 'b')).toBe(true);
    expect(await later.call('ok', 'c')).toBe(false);
    later.wait(2_000);
    expect(await later.call('ok', 'a')).toBe(true);
    expect(await later.call('ok', 'c')).toBe(true);
  });

  it('closes when the probe gets a response, even an error response', async () => {
    const breaker = createBreaker();
    await breaker.calls(20, outage);
    breaker.wait(2_000);
    expect(await breaker.call(responseError(404))).toBe(true);
    expect(await breaker.call('ok')).toBe(true);
  });

  it.each([
    ['gets no response', timedOut(GET, undefined)],
    ['is cancelled by its caller', brokenConnection(GET, undefined, 'client gone')],
  ])('stays open after a probe that %s, and permits another one', async (_, error) => {
    const breaker = createBreaker();
    await breaker.calls(20, outage);
    breaker.wait(2_000);
    expect(await breaker.call(error)).toBe(true);
    expect(await breaker.call(outage)).toBe(true);
    expect(await breaker.call('ok')).toBe(false);
  });

  it('is not reopened by late responses of earlier calls', async () => {
    const breaker = createBreaker();
    const { promise, reject } = Promise.withResolvers<void>();
    const late = Array.from({ length: 30 }, () => breaker.run(() => promise).catch(() => {}));
    await breaker.calls(20, outage);
    breaker.wait(1_500);
    reject(outage);
    await Promise.all(late);
    breaker.wait(500);
    expect(await breaker.call('ok')).toBe(true);
  });

  it('stops requests of all callers to a service that is down, but not because of 500 responses', async () => {
    let time = 0;
    await using upstream = await startRawUpstream((_, { answer }) => answer({ status: 500, body: {} }));
    await using gateway = await startGateway(
      {
        upstream: upstream.url,
        maxRetries: 0,
      },
      { monotonicNow: () => time },
    );
    const read = (id: number, key: string) =>
      gateway.send(`{ workflow(idOrIdentifier: "w${id}") { id } }`, {}, { authorization: `ApiKey ${key}` });
    for (const status of [500, 404, 429]) {
      upstream.script = (_, { answer }) => answer({ status, body: {} });
      for (let i = 0; i < 40; i += 1) {
        await read(i, 'bad-ids');
      }
    }
    time += 11_000;
    upstream.script = (_, { answer }) => answer({ status: 503, body: {} });
    for (let i = 0; i < 25; i += 1) {
      await read(i, `key-${i % 2}`);
    }
    expect(upstream.requests).toHaveLength(120 + 20);
    const { body } = await read(0, 'another');
    expect(body.errors?.[0]?.extensions).toEqual({
      code: 'UPSTREAM_UNAVAILABLE',
      retryable: true,
      retryAfterSeconds: 2,
      requestId: expect.any(String),
    });
    const write = await gateway.send('mutation { createFeed(input: { name: "n" }) { __typename } }');
    expect(write.body.errors?.[0]?.extensions).toMatchObject({ code: 'UPSTREAM_UNAVAILABLE', outcome: 'NOT_APPLIED' });
    time += 2_000;
    upstream.script = (_, { answer }) => answer({ body: { data: workflow() } });
    expect((await read(1, 'another')).codes).toEqual([]);
    expect((await read(2, 'bad-ids')).codes).toEqual([]);
  });
});

describe('calls of one credential', () => {
  it('are limited to ten at a time and a hundred queued, without delaying other credentials', async () => {
    const { pending, script } = deferResponses();
    await using upstream = await startRawUpstream((request, connection) => {
      if (request.headers.authorization === 'ApiKey quiet') {
        connection.answer({ body: { data: workflow() } });
      } else {
        script(request, connection);
      }
    });
    await using gateway = await startGateway({ upstream: upstream.url });
    const ask = (document: string, key = 'busy') => gateway.send(document, {}, { authorization: `ApiKey ${key}` });
    const read = (id: number) => ask(`{ workflow(idOrIdentifier: "w${id}") { name } }`);

    const reads = Array.from({ length: 111 }, (_, i) => read(i));
    const { codes } = await Promise.race(reads); // The only call that can have ended.
    expect(codes).toEqual(['OVERLOADED']);
    expect(upstream.requests).toHaveLength(10);

    const { body } = await ask('mutation { createFeed(input: { name: "n" }) { __typename } }');
    expect(body.errors?.[0]?.extensions).toEqual({
      code: 'OVERLOADED',
      retryable: true,
      retryAfterSeconds: 1,
      outcome: 'NOT_APPLIED',
      requestId: expect.any(String),
    });
    expect((await ask('{ workflow(idOrIdentifier: "w1") { name } }', 'quiet')).codes).toEqual([]);

    let most = 0;
    for (let answered = 0; answered < 110; answered += 1) {
      await upstream.arrived(answered + 2); // Includes the call of the other credential.
      most = Math.max(most, pending.length - answered);
      respondWithName(pending[answered], 'late');
    }
    const responses = await Promise.all(reads);
    expect(most).toBe(10);
    expect(responses.filter(({ body }) => body.errors === undefined)).toHaveLength(110);
  });

  it('run in the order in which they arrive', async () => {
    const { pending, script } = deferResponses();
    await using client = await startClient(script, { maxConcurrentCallsPerKey: 2 });
    const reads = Array.from({ length: 8 }, (_, i) => client.caller('k').getWorkflow(`w${i}`));
    for (const i of [1, 0, 3, 2, 4, 5, 6, 7]) {
      await client.upstream.arrived(Math.max(2, i + 1));
      const started = pending.map(({ request }) => Number(request.path.at(-1)));
      expect(Math.max(...started)).toBe(started.length - 1); // Two arrive at once, in any order.
      respondWithName(pending[started.indexOf(i)], 'done');
      await reads[i];
    }
    expect(pending).toHaveLength(8);
  });

  it('leave no memory behind, regardless of how they end', async () => {
    await using client = await startClient((_, { answer }) => answer({ status: 503, body: {} }), { maxRetries: 0 });
    for (let i = 0; i < DEFAULTS.breakerMinimumCalls; i += 1) {
      await client
        .caller('a')
        .getWorkflow('w1')
        .catch(() => {}); // The circuit opens, so that calls end without sockets.
    }
    const before = bytesInUse();
    for (let i = 0; i < 20_000; i += 1) {
      const key = `${i}`.padEnd(2_000, 'k').split('').join(''); // A flat string of 2 kB that is not shared.
      await client
        .caller(key)
        .getWorkflow('w1')
        .catch(() => {});
    }
    expect(bytesInUse() - before).toBeLessThan(10_000_000);
  });
});

describe('identical in-flight reads', () => {
  it('of one operation share a request', async () => {
    await using upstream = await startRawUpstream((_, { answer }) => answer({ body: [] }));
    await using gateway = await startGateway({ upstream: upstream.url });
    await gateway.data(`{ a: notificationStats(days: 5) { key } b: notificationStats(days: 5) { key }
      c: notificationStats(days: 6) { key } }`);
    expect(upstream.requests.map(({ path }) => path).sort()).toEqual([
      '/v1/notifications/graph/stats?days=5',
      '/v1/notifications/graph/stats?days=6',
    ]);
    expect(gateway.log.flatMap(({ upstreamCalls }) => upstreamCalls ?? [])).toEqual([2]);
  });

  it('of one credential share a request; those of another credential never do', async () => {
    const { pending, script } = deferResponses();
    await using client = await startClient(script);
    const reads = ['a', 'a', 'b', 'a', 'b'].map((key) => client.caller(key).getWorkflow('w1'));
    await client.upstream.arrived(2);
    for (const { request, connection } of pending) {
      connection.answer({ body: { data: workflow({ name: request.headers.authorization ?? '' }) } });
    }
    const names = (await Promise.all(reads)).map((found) => found?.name);
    expect(names).toEqual(['ApiKey a', 'ApiKey a', 'ApiKey b', 'ApiKey a', 'ApiKey b']);
    expect(client.upstream.requests).toHaveLength(2);
  });

  it('are not cached: a read after the response sends a new request', async () => {
    let asked = 0;
    await using client = await startClient((_, { answer }) => {
      asked += 1;
      answer({ body: { data: workflow({ name: `${asked}` }) } });
    });
    for (const expected of ['1', '2', '3']) {
      expect((await client.caller('a').getWorkflow('w1'))?.name).toBe(expected);
    }
  });

  it('fail together, and the failure is not cached', async () => {
    const { pending, script } = deferResponses();
    await using client = await startClient(script);
    const reads = [1, 2, 3].map(() => client.caller('a').getWorkflow('w1').catch(codeOf));
    await client.upstream.arrived(1);
    pending[0]?.connection.answer({ status: 500, body: {} });
    expect(await Promise.all(reads)).toEqual(['UPSTREAM_ERROR', 'UPSTREAM_ERROR', 'UPSTREAM_ERROR']);
    const next = client.caller('a').getWorkflow('w1');
    await client.upstream.arrived(2);
    respondWithName(pending[1], 'well again');
    expect((await next)?.name).toBe('well again');
  });
});

describe('one operation', () => {
  const ids = (count: number) => Array.from({ length: count }, (_, i) => `w${i}`);
  const answerAll: RawScript = ({ method, path }, { answer }) =>
    answer({ body: { data: method === 'GET' ? (path === '/v1/notification-groups' ? [] : workflow()) : feed() } });

  it('can make fifty upstream calls; the next one fails with BUDGET_EXCEEDED without being sent', async () => {
    await using upstream = await startRawUpstream(answerAll);
    await using gateway = await startGateway({ upstream: upstream.url });
    const document = `query ($ids: [ID!]!, $one: Boolean!) {
      workflows(idsOrIdentifiers: $ids) { id } notificationGroups @include(if: $one) { id } }`;
    expect((await gateway.send(document, { ids: ids(50), one: false })).codes).toEqual([]);
    expect((await gateway.send(document, { ids: ids(49), one: true })).codes).toEqual([]);
    expect(upstream.requests).toHaveLength(100);
    const { body, status } = await gateway.send(document, { ids: ids(50), one: true });
    expect(status).toBe(200);
    expect(body.errors?.map(({ extensions }) => extensions)).toEqual([
      { code: 'BUDGET_EXCEEDED', retryable: false, requestId: expect.any(String) },
    ]);
    expect(upstream.requests).toHaveLength(150);
  });

  it('that exceeds its budget with a write reports NOT_APPLIED', async () => {
    await using upstream = await startRawUpstream(answerAll);
    await using gateway = await startGateway({ upstream: upstream.url, maxUpstreamCalls: 2 });
    const field = (name: string) => `${name}: createFeed(input: { name: "${name}" }) { __typename }`;
    const { body } = await gateway.send(`mutation { ${['a', 'b', 'c'].map(field).join(' ')} }`);
    expect(body.data).toMatchObject({ a: {}, b: {}, c: null });
    expect(body.errors).toMatchObject([
      { path: ['c'], extensions: { code: 'BUDGET_EXCEEDED', outcome: 'NOT_APPLIED' } },
    ]);
    expect(upstream.requests.map(({ body: sent }) => sent)).toEqual(['{"name":"a"}', '{"name":"b"}']);
  });

  it('can write a hundred bulk items, which do not count as calls; only the next one fails, with NOT_APPLIED', async () => {
    const warnings: Error[] = [];
    const onWarning = (warning: Error) => void warnings.push(warning);
    process.on('warning', onWarning);
    await using upstream = await startRawUpstream(({ path }, { answer }) =>
      answer({ status: 201, body: { data: path === '/v1/feeds' ? feed() : subscriber() } }),
    );
    await using gateway = await startGateway({ upstream: upstream.url });
    const item = '{ results { __typename ... on UpstreamFailure { outcome retryable } } succeeded failed }';
    const document = `mutation ($many: CreateSubscribersInput!, $one: CreateSubscribersInput!) {
      many: createSubscribers(input: $many) ${item} one: createSubscribers(input: $one) ${item}
      createFeed(input: { name: "n" }) { __typename } }`;
    const subscribers = ids(100).map((subscriberId) => ({ subscriberId }));
    const { body } = await gateway.send(document, {
      many: { subscribers },
      one: { subscribers: subscribers.slice(0, 1) },
    });
    expect(body).toMatchObject({
      data: {
        many: { succeeded: 100, failed: 0 },
        one: { failed: 1, results: [{ __typename: 'UpstreamFailure', outcome: 'NOT_APPLIED', retryable: false }] },
        createFeed: { __typename: 'CreateFeedSuccess' },
      },
    });
    expect(upstream.requests).toHaveLength(101);
    process.off('warning', onWarning);
    expect(warnings).toEqual([]); // For example about too many listeners on the operation's signal.
  });
});

describe('a call that waits for a connection', () => {
  it('ends when its operation times out, and is never sent', async () => {
    const { pending, script } = deferResponses();
    const patience = 120_000; // Longer than the test may take.
    await using client = await startClient(script, { sockets: 1, attemptTimeoutMs: patience });
    const reading = client.caller('a', { withinMs: patience }).getWorkflow('w1');
    await client.upstream.arrived(1);
    const failure = await client
      .caller('b', { withinMs: 100 })
      .createFeed('n')
      .catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'UPSTREAM_TIMEOUT', outcome: 'NOT_APPLIED', sent: false, retryable: true });
    respondWithName(pending[0], 'first');
    await reading;
    const next = client.caller('c').getWorkflow('w2');
    await client.upstream.arrived(2);
    respondWithName(pending[1], 'second');
    await next;
    expect(client.upstream.requests.map(({ path }) => path)).toEqual(['/v1/workflows/w1', '/v1/workflows/w2']);
  });

  it('ends when its caller disconnects', async () => {
    const { script } = deferResponses();
    await using client = await startClient(script, { sockets: 1 });
    const leaver = new AbortController();
    const reading = client.caller('a').getWorkflow('w1').catch(codeOf);
    await client.upstream.arrived(1);
    const write = client
      .caller('b', leaver)
      .createFeed('n')
      .catch((error: unknown) => error);
    await new Promise((resolve) => setImmediate(resolve));
    leaver.abort(new Error('read ECONNRESET'));
    expect(await write).toMatchObject({ code: 'CLIENT_CLOSED', outcome: 'NOT_APPLIED' });
    await client[Symbol.asyncDispose]();
    expect(await reading).toBe('UPSTREAM_UNAVAILABLE');
    expect(client.upstream.requests).toHaveLength(1);
  });
});

describe('upstream connections', () => {
  it('are closed if no response headers arrive in time', async () => {
    const patience = 120_000; // Longer than the test may take.
    const limits = { maxRetries: 0, headersTimeoutMs: 300, attemptTimeoutMs: patience };
    await using client = await startClient(() => {}, limits);
    const read = client.caller('a', { withinMs: patience }).getWorkflow('w1');
    expect(await read.catch(codeOf)).toBe('UPSTREAM_TIMEOUT');
    await client.upstream.allClosed();
  });

  it('are reused, and closed when they are idle', async () => {
    await using client = await startClient((_, { answer }) => answer({ body: { data: workflow() } }), {
      socketIdleMs: 2_000, // Longer than any pause between the requests on a busy machine.
    });
    for (let i = 0; i < 5; i += 1) {
      await client.caller('a').getWorkflow('w1');
    }
    expect(client.upstream.connections()).toBeLessThan(3); // A second connection may be opened while the first one is checked.
    await client.upstream.allClosed();
  });
});

describe('a connection failure', () => {
  const POST: Endpoint = { method: 'POST', route: '/v1/feeds' };
  const withCode = (code: string, syscall: string) => Object.assign(new Error(code), { code, syscall });

  it.each([
    ['EHOSTUNREACH', 'read'],
    ['ENETUNREACH', 'write'],
    ['ETIMEDOUT', 'read'],
    ['EPROTO', 'write'],
    ['ERR_SSL_BAD_RECORD', 'read'],
    ['ECONNRESET', 'read'],
  ])('such as %s says NOT_APPLIED only if no connection had taken the request', (code, syscall) => {
    const failure = withCode(code, syscall);
    expect(errorFromFailure(POST, failure, { sent: false, status: undefined })).toMatchObject({
      outcome: 'NOT_APPLIED',
      isOutage: true,
    });
    expect(errorFromFailure(POST, failure, { sent: true, status: undefined })).toMatchObject({
      code: 'UPSTREAM_UNAVAILABLE',
      outcome: 'UNKNOWN',
      retry: 'repeatable',
      isOutage: false,
    });
  });

  it('before the request was sent is retried for every method, unless TLS failed', () => {
    expect(errorFromFailure(POST, withCode('ECONNREFUSED', 'connect'), { sent: false, status: undefined }).retry).toBe(
      'always',
    );
    for (const code of ['DEPTH_ZERO_SELF_SIGNED_CERT', 'CERT_HAS_EXPIRED', 'ERR_TLS_CERT_ALTNAME_INVALID', 'EPROTO']) {
      expect(errorFromFailure(POST, withCode(code, ''), { sent: false, status: undefined }).retry).toBe('never');
    }
  });
});

describe('an upstream call', () => {
  const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;

  /** Responds to workflows according to their ids: with success, with an error, or never. */
  const script: RawScript = ({ path }, connection) => {
    if (path.endsWith('/well')) {
      connection.answer({ body: { data: workflow() } });
    } else if (path.endsWith('/refused')) {
      connection.answer({ status: 401, body: {} });
    }
  };

  it.each<
    [string, { id: string; attemptTimeoutMs?: number; withinMs?: number; isAborted?: boolean }, string | undefined]
  >([
    ['succeeds', { id: 'well' }, undefined],
    ['is refused', { id: 'refused' }, 'UNAUTHENTICATED'],
    ['takes too long', { id: 'never', attemptTimeoutMs: 500 }, 'UPSTREAM_TIMEOUT'],
    ['exceeds the operation timeout', { id: 'never', withinMs: 30 }, 'UPSTREAM_TIMEOUT'],
    ['is cancelled by its caller', { id: 'never', isAborted: true }, 'CLIENT_CLOSED'],
  ])(
    'that %s leaves no timer and no listener',
    async (_, { id, attemptTimeoutMs = 5_000, withinMs, isAborted }, code) => {
      await using client = await startClient(script, { attemptTimeoutMs, maxRetries: 0 });
      await client.caller('warm').getWorkflow('well'); // Opens the socket, which has its own timers.
      const { signal, abort } = createAbort();
      const before = timers();
      const call = client.caller('a', { signal, ...(withinMs !== undefined && { withinMs }) }).getWorkflow(id);
      const ended = call.then(
        () => undefined,
        (failure: unknown) => codeOf(failure),
      );
      expect(timers()).toBeGreaterThan(before);
      expect(getEventListeners(signal, 'abort')).toHaveLength(1);
      if (isAborted) {
        abort();
      }
      expect(await ended).toBe(code);
      expect(timers()).toBeLessThanOrEqual(before);
      expect(getEventListeners(signal, 'abort')).toEqual([]);
    },
  );
});

function createAbort() {
  const controller = new AbortController();
  return { signal: controller.signal, abort: () => controller.abort() };
}
