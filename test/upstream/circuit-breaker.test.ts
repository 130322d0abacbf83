import { describe, expect, it } from 'vitest';
import type { GatewayOptions } from '../../src/gateway.ts';
import { clientClosed, type Endpoint, errorOf, type UpstreamError } from '../../src/upstream/errors.ts';
import { createCircuitBreaker } from '../../src/upstream/policies/circuit-breaker.ts';
import { errorFromResponse } from '../../src/upstream/transport/to-error.ts';
import { type StartedGateway, startGateway } from '../support/gateway.ts';
import { guards } from '../support/guards.ts';
import { metricValues } from '../support/metrics-text.ts';
import { workflow } from '../support/records.ts';
import { type Script, startService } from '../support/service.ts';
import { deferResponses, respondWithName } from '../support/upstream-client.ts';

guards('src/upstream/errors.ts', 'endedEarly');

const answer: Script = (_, connection) => connection.answer({ body: { data: workflow() } });
const hang: Script = () => {};

const read = (gateway: StartedGateway, id: number | string, key: string) =>
  gateway.send(`{ workflow(idOrIdentifier: "w${id}") { id } }`, {}, { authorization: `ApiKey ${key}` });

describe('the circuit breaker', () => {
  const GET: Endpoint = { method: 'GET', route: '/v1/workflows/{workflowIdOrIdentifier}' };
  const SUCCESS = { status: 200, body: {}, replayed: false, rateLimit: undefined, bytes: 2 };
  const noHeaders = errorOf('timedOut', GET, { isOutage: true });
  const outage = errorOf('unavailable', GET, { status: 503 });

  const responseError = (status: number): UpstreamError => {
    const request = { endpoint: GET, credential: 'ApiKey a', path: '/v1/workflows/w1', args: {} };
    return errorFromResponse(request, { status, body: { form: 'json', json: {} }, retryAfter: undefined });
  };

  function createBreaker() {
    let time = 1_000_000;
    const breaker = createCircuitBreaker(() => time);
    /** Starts a call. @returns the refusal, and a function that ends the call if there is none */
    function start(credential = 'a', callerId = credential) {
      const call = {};
      const request = { credential, callerId, endpoint: GET };
      const refusal = breaker.refusal(call, request);
      if (refusal !== undefined) {
        breaker.ended(call, request, refusal, false);
      }
      const end = (outcome: 'ok' | UpstreamError) =>
        breaker.ended(call, request, outcome === 'ok' ? SUCCESS : outcome, true);
      return { refusal, end };
    }
    /** Makes a call. @returns whether it was sent */
    function call(outcome: 'ok' | UpstreamError, credential?: string, callerId?: string): boolean {
      const { refusal, end } = start(credential, callerId);
      if (refusal === undefined) {
        end(outcome);
      }
      return refusal === undefined;
    }
    return {
      start,
      call,
      calls(count: number, outcome: 'ok' | UpstreamError, credential?: string, callerId?: string) {
        for (let i = 0; i < count; i += 1) {
          call(outcome, credential, callerId);
        }
      },
      wait(milliseconds: number) {
        time += milliseconds;
      },
    };
  }

  it.each<[string, UpstreamError]>([
    ['502', errorOf('unavailable', GET, { status: 502 })],
    ['503', outage],
    ['504', responseError(504)],
    ['no headers in time', noHeaders],
    ['no connection', errorOf('notConnected', GET)],
    ['a reset', errorOf('brokenConnection', GET)],
    ['a body that is cut off', errorOf('brokenConnection', GET, { status: 200 })],
  ])('opens after 20 calls that fail with %s, not after 19', (_, error) => {
    const breaker = createBreaker();
    breaker.calls(19, error);
    expect(breaker.call(error)).toBe(true);
    const refusal = { code: 'UPSTREAM_UNAVAILABLE', retryAfterSeconds: 2, sent: false };
    expect(breaker.start().refusal).toMatchObject(refusal);
  });

  it.each<[string, UpstreamError]>([
    ...[400, 401, 404, 409, 429, 500, 501].map((status): [string, UpstreamError] => [
      String(status),
      responseError(status),
    ]),
    ['a timeout', errorOf('timedOut', GET)],
  ])('stays closed after a hundred calls that fail with %s', (_, error) => {
    const breaker = createBreaker();
    breaker.calls(100, error);
    expect(breaker.call('ok')).toBe(true);
  });

  it.each([
    [11, true],
    [10, false],
  ])('opens if at least half of the calls fail: ten next to %i', (successes, isClosed) => {
    const breaker = createBreaker();
    breaker.calls(successes, 'ok');
    breaker.calls(10, outage);
    expect(breaker.call('ok')).toBe(isClosed);
  });

  it('ignores calls after ten seconds, with and without calls in between', () => {
    const idle = createBreaker();
    idle.calls(19, outage);
    idle.wait(10_001);
    idle.calls(19, outage);
    expect(idle.call('ok')).toBe(true);

    const busy = createBreaker();
    busy.calls(19, outage);
    for (let i = 0; i < 10; i += 1) {
      busy.wait(1_001);
      busy.call('ok');
    }
    busy.calls(9, outage); // Nine of at most 19 calls in the window; including the old ones it would be 28 of 38.
    expect(busy.call('ok')).toBe(true);

    const recent = createBreaker();
    recent.calls(19, outage);
    recent.wait(8_900);
    recent.call(outage);
    expect(recent.call('ok')).toBe(false);
  });

  it('permits one probe after two seconds, and rejects other calls until it has ended', () => {
    const breaker = createBreaker();
    breaker.calls(20, outage);
    breaker.wait(1_999);
    expect(breaker.call('ok')).toBe(false);
    breaker.wait(1);
    const probe = breaker.start();
    expect([breaker.call('ok'), breaker.call('ok')]).toEqual([false, false]);
    probe.end('ok');
    expect(breaker.call('ok')).toBe(true);
  });

  it('stays open for 2, 4, 8 and again 8 seconds while the probes fail', () => {
    const breaker = createBreaker();
    breaker.calls(20, outage);
    for (const seconds of [2, 4, 8, 8]) {
      breaker.wait(seconds * 1_000 - 1);
      expect(breaker.call(outage)).toBe(false);
      breaker.wait(1);
      expect(breaker.call(outage)).toBe(true);
    }
    breaker.wait(8_000);
    expect(breaker.call('ok')).toBe(true);
    // After closing, it again takes twenty failures to open, and the first probe follows after two seconds.
    breaker.calls(19, outage);
    expect(breaker.call(outage)).toBe(true);
    expect(breaker.call('ok')).toBe(false);
    breaker.wait(2_000);
    expect(breaker.call('ok')).toBe(true);
  });

  it.each<[string, UpstreamError]>([
    ['no headers in time', noHeaders],
    ...[408, 504, 524].map((status): [string, UpstreamError] => [String(status), responseError(status)]),
    ['a reset', errorOf('brokenConnection', GET)],
    ['a body that is cut off', errorOf('brokenConnection', GET, { status: 200 })],
  ])('pauses only the calls of a credential if no other had a failure (%s)', (_, slow) => {
    const breaker = createBreaker();
    breaker.calls(10, 'ok', 'b');
    breaker.calls(20, slow, 'a');
    expect(breaker.call('ok', 'a')).toBe(false);
    expect(breaker.call('ok', 'b')).toBe(true);
    // Single failures of others are no outage either, and neither are late ones of the first.
    breaker.calls(20, 'ok', 'c');
    breaker.calls(19, slow, 'b');
    expect(breaker.call(slow, 'b')).toBe(true);
    expect(breaker.call('ok', 'c')).toBe(true);
    breaker.wait(2_000);
    expect([breaker.call('ok', 'a'), breaker.call('ok', 'a')]).toEqual([true, true]);
  });

  it('pauses only the calls of a person if no other has a failure, and all of the credential if another one has', () => {
    const breaker = createBreaker();
    breaker.calls(10, 'ok', 'a', 'person-2');
    breaker.calls(20, noHeaders, 'a', 'person-1');
    expect(breaker.call('ok', 'a', 'person-1')).toBe(false);
    expect([breaker.call('ok', 'a', 'person-2'), breaker.call('ok', 'a'), breaker.call('ok', 'b')]).toEqual([
      true,
      true,
      true,
    ]);

    const together = createBreaker();
    together.call(noHeaders, 'a', 'person-2');
    together.calls(19, noHeaders, 'a', 'person-1');
    expect([together.call('ok', 'a', 'person-3'), together.call('ok', 'a'), together.call('ok', 'b')]).toEqual([
      false,
      false,
      true,
    ]);
  });

  it('pauses all of a credential if two persons fail one after the other, and everybody if a third of another one does', () => {
    const breaker = createBreaker();
    breaker.calls(20, noHeaders, 'a', 'person-1');
    breaker.calls(20, noHeaders, 'a', 'person-2');
    expect([breaker.call('ok', 'a', 'person-3'), breaker.call('ok', 'b')]).toEqual([false, true]);
    breaker.calls(40, noHeaders, 'b', 'person-4');
    expect(breaker.call('ok', 'c')).toBe(false);
  });

  it('pauses all calls once those of other credentials fail too', () => {
    const together = createBreaker();
    together.call(noHeaders, 'b');
    together.calls(19, noHeaders, 'a');
    expect(together.call('ok', 'c')).toBe(false);

    const later = createBreaker();
    later.calls(20, noHeaders, 'a');
    later.calls(19, noHeaders, 'b');
    expect(later.call(noHeaders, 'b')).toBe(true);
    expect(later.call('ok', 'c')).toBe(false);
    later.wait(2_000);
    expect([later.call('ok', 'a'), later.call('ok', 'c')]).toEqual([true, true]);
  });

  it.each([
    ['gets an error response', responseError(404), true],
    ['gets no response', errorOf('timedOut', GET), false],
    [
      'is cancelled by its caller',
      clientClosed(GET, { sent: true, status: undefined, outcome: undefined }, 'gone'),
      false,
    ],
  ])('after a probe that %s, closes if it got a response, and else permits another one', (_, outcome, closes) => {
    const breaker = createBreaker();
    breaker.calls(20, outage);
    breaker.wait(2_000);
    expect(breaker.call(outcome)).toBe(true);
    expect(breaker.call(outage)).toBe(true);
    expect(breaker.call('ok')).toBe(closes);
  });

  it('is not reopened by late responses of earlier calls', () => {
    const breaker = createBreaker();
    const late = Array.from({ length: 30 }, () => breaker.start());
    breaker.calls(20, outage);
    breaker.wait(1_500);
    for (const { end } of late) {
      end(outage);
    }
    breaker.wait(500);
    expect(breaker.call('ok')).toBe(true);
  });
});

/** Names of the upstream, so that lines about the breaker name it. */
const optionsFor = (url: string, options: Partial<GatewayOptions>): GatewayOptions => ({
  upstreams: { main: { url, default: true } },
  maxRetries: 0,
  attemptTimeoutMs: 200,
  ...options,
});

const linesOf = ({ log }: StartedGateway) => log.filter(({ msg }) => /circuit breaker/.test(String(msg)));

const stateOf = async (gateway: StartedGateway) =>
  Object.values(metricValues(await gateway.metrics(), /^notigraph_circuit_breaker_state/))[0];

it.each<[string, Script]>([
  ['resets connections', (_, connection) => connection.reset()],
  [
    'cuts bodies off',
    (_, connection) => {
      connection.send('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{');
      connection.end();
    },
  ],
])('a service that %s opens the circuit breaker', async (_, script) => {
  await using upstream = await startService(script);
  await using gateway = await startGateway(optionsFor(upstream.url, { attemptTimeoutMs: 6_000 }));
  for (let i = 0; i < 20; i += 1) {
    expect((await read(gateway, i, `k${i % 2}`)).codes).toEqual(['UPSTREAM_UNAVAILABLE']);
  }
  expect(await stateOf(gateway)).toBe(2);
  const { body } = await read(gateway, 20, 'another');
  const code = 'UPSTREAM_UNAVAILABLE';
  expect(body.errors?.map(({ extensions }) => extensions)).toEqual([
    { code, retryable: true, retryAfterSeconds: 2, requestId: expect.any(String) },
  ]);
  const write = await gateway.send('mutation { createFeed(input: { name: "n" }) { __typename } }');
  expect(write.body.errors?.[0]?.extensions).toMatchObject({ code, outcome: 'NOT_APPLIED' });
  expect(upstream.requests).toHaveLength(20);
});

it('calls that are not sent count neither as failures nor as successes', async () => {
  await using upstream = await startService(({ headers }, connection) =>
    headers.authorization === 'ApiKey paused'
      ? connection.answer({ status: 429, headers: { 'retry-after': '30' }, body: {} })
      : connection.answer({ status: 503, body: {} }),
  );
  await using gateway = await startGateway(optionsFor(upstream.url, {}));
  for (let i = 0; i < 60; i += 1) {
    expect((await read(gateway, i, 'paused')).codes).toEqual(['RATE_LIMITED']);
  }
  for (let i = 0; i < 18; i += 1) {
    await read(gateway, i, 'k');
  }
  expect(await stateOf(gateway)).toBe(0); // 19 calls, with the first one of the other key.
  await read(gateway, 18, 'k');
  expect(await stateOf(gateway)).toBe(2);
});

describe('a service that accepts requests and never answers', () => {
  it('opens the circuit breaker, with one line in the log, and one when it answers again', async () => {
    let time = 0;
    const now = () => new Date(Date.UTC(2030, 0, 1) + time);
    await using upstream = await startService(answer);
    await using gateway = await startGateway(optionsFor(upstream.url, {}), { monotonicNow: () => time, now });
    for (const key of ['k0', 'k1']) {
      await read(gateway, 0, key); // The service accepts the keys.
    }
    time += 20_000;
    upstream.script = hang;
    const failed = await Promise.all(Array.from({ length: 10 }, (_, i) => read(gateway, i, `k${i % 2}`)));
    time += 3_000;
    failed.push(...(await Promise.all(Array.from({ length: 10 }, (_, i) => read(gateway, i, `k${i % 2}`)))));
    expect(new Set(failed.flatMap(({ codes }) => codes))).toEqual(new Set(['UPSTREAM_TIMEOUT']));
    expect(await stateOf(gateway)).toBe(2);
    const sent = upstream.requests.length;
    for (let i = 0; i < 30; i += 1) {
      expect((await read(gateway, i, 'another')).codes).toEqual(['UPSTREAM_UNAVAILABLE']);
    }
    expect(upstream.requests).toHaveLength(sent);
    const opened = {
      level: 40,
      upstream: 'main',
      code: 'UPSTREAM_TIMEOUT',
      cause: 'The operation timed out.',
      since: '2030-01-01T00:00:20.000Z',
      msg: 'The circuit breaker opened. Calls to the service are paused.',
    };
    expect(linesOf(gateway)).toEqual([expect.objectContaining(opened)]);
    expect(gateway.log.filter(({ msg }) => /paused/.test(String(msg)))).toHaveLength(1);

    time += 2_000;
    expect(await stateOf(gateway)).toBe(1); // Nothing more may happen on an instance without traffic.
    const probe = read(gateway, 0, 'another');
    await upstream.arrived(sent + 1);
    expect(await stateOf(gateway)).toBe(1);
    expect((await probe).codes).toEqual(['UPSTREAM_TIMEOUT']);
    upstream.script = answer;
    time += 4_000;
    expect((await read(gateway, 0, 'another')).codes).toEqual([]);
    expect(await stateOf(gateway)).toBe(0);
    expect(linesOf(gateway).slice(1)).toEqual([
      expect.objectContaining({
        level: 40,
        upstream: 'main',
        since: '2030-01-01T00:00:23.000Z',
        ms: 6_000,
        msg: 'The circuit breaker closed. The service responds again.',
      }),
    ]);
  });

  it('opens it also for a request that waited for a connection, because its time starts with the connection', async () => {
    const { pending, script } = deferResponses();
    await using upstream = await startService(script);
    await using gateway = await startGateway(optionsFor(upstream.url, { sockets: 1, attemptTimeoutMs: 1_000 }), {
      breakerMinimumCalls: 1,
    });
    const first = read(gateway, 0, 'a');
    await upstream.arrived(1);
    const second = read(gateway, 1, 'b');
    await expect
      .poll(async () => metricValues(await gateway.metrics(), /^notigraph_upstream_requests_waiting/))
      .toEqual({ 'notigraph_upstream_requests_waiting{upstream="main"}': 1 });
    respondWithName(pending[0], 'first');
    expect([(await first).codes, (await second).codes]).toEqual([[], ['UPSTREAM_TIMEOUT']]);
    expect(upstream.requests).toHaveLength(2);
    expect(await stateOf(gateway)).toBe(2);
  });

  it('does not open it because of the time limit of operations, or clients that leave', async () => {
    await using upstream = await startService(hang);
    await using gateway = await startGateway(
      optionsFor(upstream.url, { operationTimeoutMs: 500, attemptTimeoutMs: 6_000 }),
      { breakerMinimumCalls: 1 },
    );
    expect((await read(gateway, 0, 'a')).codes).toEqual(['UPSTREAM_TIMEOUT']);
    expect(await stateOf(gateway)).toBe(0);

    await using patient = await startGateway(optionsFor(upstream.url, { attemptTimeoutMs: 6_000 }), {
      breakerMinimumCalls: 1,
    });
    const client = new AbortController();
    const request = { authorization: 'ApiKey a', signal: client.signal };
    const left = patient.send('{ workflow(idOrIdentifier: "w") { id } }', {}, request);
    await upstream.arrived(2);
    client.abort();
    await expect(left).rejects.toThrow();
    await expect.poll(() => patient.log.filter(({ httpStatus }) => httpStatus === 499)).toHaveLength(1);
    expect(await stateOf(patient)).toBe(0);
  });
});

it('requests that only one API key makes slow pause only the calls with this key', async () => {
  await using upstream = await startService((request, connection) => {
    if (request.headers.authorization !== 'ApiKey slow') {
      answer(request, connection);
    }
  });
  await using gateway = await startGateway(optionsFor(upstream.url, {}));
  const slow = Array.from({ length: 30 }, (_, i) => read(gateway, i, 'slow'));
  for (let id = 0; id < 3; id += 1) {
    expect((await read(gateway, id, 'other')).codes).toEqual([]);
  }
  await Promise.all(slow); // All at once, because failures count for ten seconds only.
  expect((await read(gateway, 0, 'slow')).codes).toEqual(['UPSTREAM_UNAVAILABLE']);
  expect((await read(gateway, 0, 'other')).codes).toEqual([]);
  const [line, ...more] = linesOf(gateway);
  expect(more).toEqual([]);
  expect(line).toMatchObject({ tenant: expect.stringMatching(/^[0-9a-f]{8}$/), cause: 'The operation timed out.' });
});
