import { describe, expect, it } from 'vitest';
import type { GatewayOptions } from '../../src/gateway.ts';
import { Usage } from '../../src/telemetry/usage.ts';
import { readRateLimit } from '../../src/upstream/transport/exchange.ts';
import { startGateway } from '../support/gateway.ts';
import { guards } from '../support/guards.ts';
import { feed, workflow } from '../support/records.ts';
import type { Script } from '../support/service.ts';
import { deferResponses, startClient } from '../support/upstream-client.ts';

guards('src/upstream/calls/call.ts', 'Call.#attemptEnded');
guards('src/upstream/policies/throttle.ts', 'createThrottle.note');
guards('src/upstream/transport/to-error.ts', 'isForeign');

const READ = '{ workflow(idOrIdentifier: "w1") { name } }';
const CREATE = 'mutation { createFeed(input: { name: "News" }) { __typename } }';

type Headers = Record<string, string>;

const succeed =
  (headers: Headers = {}): Script =>
  ({ method }, { answer }) =>
    answer({ headers, body: { data: method === 'POST' ? feed() : workflow() } });

const respond429 =
  (headers: Headers): Script =>
  (_, { answer }) =>
    answer({ status: 429, headers, body: {} });

/** Starts a gateway and its service. */
async function setUp(script: Script, options: Omit<GatewayOptions, 'upstream'> = {}) {
  const gateway = await startGateway({ service: script, ...options });
  return {
    ...gateway,
    calls: () => gateway.service.requests.length,
    /** Runs an operation. @returns the extensions of the first error, if any */
    async run(document = READ, key = 'a') {
      const { status, body } = await gateway.send(document, {}, { authorization: `ApiKey ${key}` });
      expect(status).toBe(200);
      return body.errors?.[0]?.extensions;
    },
  };
}

describe('after a 429 with Retry-After 30', () => {
  it('calls of this key fail immediately and retryably for 30 seconds, without being sent', async () => {
    await using setup = await setUp(respond429({ 'retry-after': '30' }));
    expect(await setup.run()).toMatchObject({ code: 'RATE_LIMITED', retryAfterSeconds: 30, upstream: { status: 429 } });
    setup.service.script = succeed();
    setup.advance(9.5);
    expect(await setup.run()).toEqual({
      code: 'RATE_LIMITED',
      retryable: true,
      retryAfterSeconds: 21,
      requestId: expect.any(String),
    });
    expect(await setup.run(CREATE)).toMatchObject({
      code: 'RATE_LIMITED',
      retryAfterSeconds: 21,
      outcome: 'NOT_APPLIED',
    });
    setup.advance(20.4);
    expect(await setup.run()).toMatchObject({ code: 'RATE_LIMITED', retryAfterSeconds: 1 });
    expect(setup.calls()).toBe(1);
    expect([await setup.run(READ, 'b'), await setup.run(CREATE, 'b')]).toEqual([undefined, undefined]);
    expect(await setup.run()).toMatchObject({ code: 'RATE_LIMITED' }); // Only other keys were sent.
    setup.advance(0.1);
    expect([await setup.run(), await setup.run(CREATE)]).toEqual([undefined, undefined]);
    expect(setup.calls()).toBe(5);
  });

  it('a call that was sent before can still succeed, but does not end the throttling', async () => {
    const { pending, script } = deferResponses();
    await using setup = await setUp(script, { maxConcurrentCallsPerKey: 2 });
    await setup.accept('a');
    const slow = Promise.all([setup.run(), setup.run('{ workflow(idOrIdentifier: "w2") { name } }')]);
    await expect.poll(() => pending.length).toBe(2);
    pending[0]?.connection.answer({ status: 429, headers: { 'retry-after': '30' }, body: {} });
    await expect
      .poll(() => setup.run('{ workflow(idOrIdentifier: "w3") { name } }'))
      .toMatchObject({ code: 'RATE_LIMITED' });
    expect(setup.calls()).toBe(2);
    pending[1]?.connection.answer({ headers: { 'ratelimit-remaining': '7' }, body: { data: workflow() } });
    expect(await slow).toEqual([expect.objectContaining({ code: 'RATE_LIMITED' }), undefined]);
    expect(await setup.run()).toMatchObject({ code: 'RATE_LIMITED' }); // The response to an earlier call is outdated.
    expect(setup.calls()).toBe(2);
  });

  it('a response to an earlier call does not shorten it, and after it, calls need not wait for one another', async () => {
    const { pending, script } = deferResponses();
    await using setup = await setUp(script, { maxConcurrentCallsPerKey: 2 });
    await setup.accept('a');
    const reads = ['w1', 'w2'].map((id) => `{ workflow(idOrIdentifier: "${id}") { name } }`);
    const slow = Promise.all(reads.map((read) => setup.run(read)));
    await expect.poll(() => pending.length).toBe(2);
    for (const [i, seconds] of ['30', '10'].entries()) {
      pending[i]?.connection.answer({ status: 429, headers: { 'retry-after': seconds }, body: {} });
    }
    await slow;
    setup.advance(15);
    expect(await setup.run()).toMatchObject({ code: 'RATE_LIMITED', retryAfterSeconds: 15 });
    setup.advance(15);
    const both = Promise.all(reads.map((read) => setup.run(read)));
    await expect.poll(() => pending.length).toBe(4);
    for (const { connection } of pending.slice(2)) {
      connection.answer({ body: { data: workflow() } });
    }
    expect(await both).toEqual([undefined, undefined]);
  });
});

describe('a service that reports the remaining calls', () => {
  it.each<[string, Headers]>([
    [
      'RateLimit-Remaining: 0',
      { 'ratelimit-limit': '100, 100;w=60', 'ratelimit-remaining': '0', 'ratelimit-reset': '30' },
    ],
    ['X-RateLimit-Remaining: 0', { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '30' }],
  ])('and responds with %s receives no calls of this key until the reset', async (_, headers) => {
    await using setup = await setUp(succeed(headers));
    expect(await setup.run()).toBeUndefined(); // The call that reported the limit succeeded.
    setup.service.script = succeed();
    expect(await setup.run(CREATE)).toMatchObject({
      code: 'RATE_LIMITED',
      retryable: true,
      retryAfterSeconds: 30,
      outcome: 'NOT_APPLIED',
    });
    expect(await setup.run(READ, 'b')).toBeUndefined();
    expect(setup.calls()).toBe(2);
    setup.advance(30);
    expect(await setup.run(CREATE)).toBeUndefined();
    expect(setup.calls()).toBe(3);
  });

  it('and responds with 429 without Retry-After is not called until the reset', async () => {
    await using setup = await setUp(respond429({ 'ratelimit-remaining': '0', 'ratelimit-reset': '30' }));
    expect(await setup.run()).toMatchObject({ code: 'RATE_LIMITED', retryAfterSeconds: 30 });
    expect(setup.calls()).toBe(1);
  });

  it.each<[string, Headers]>([
    ['5 calls', { 'ratelimit-remaining': '5', 'ratelimit-reset': '30' }],
    ['0 calls, for three seconds', { 'ratelimit-remaining': '0', 'ratelimit-reset': '3' }],
    ['0 calls without a reset', { 'ratelimit-remaining': '0' }],
    ['only a reset', { 'ratelimit-reset': '30' }],
    ['0 of 0 calls', { 'ratelimit-limit': '0', 'ratelimit-remaining': '0', 'ratelimit-reset': '30' }],
    ['a word instead of a number', { 'ratelimit-remaining': 'none', 'ratelimit-reset': '30' }],
    ['a reset in a year', { 'ratelimit-remaining': '0', 'ratelimit-reset': '31536000' }],
  ])('%s, is still called', async (_, headers) => {
    await using setup = await setUp(succeed(headers));
    for (let i = 0; i < 3; i += 1) {
      expect(await setup.run()).toBeUndefined();
    }
    expect(setup.calls()).toBe(3);
  });
});

describe('a limit that lasts longer than a minute', () => {
  const TOO_LONG = { 'retry-after': '86400' };

  it('is probed with one call after 60 seconds, and ends when that call succeeds', async () => {
    await using setup = await setUp(respond429(TOO_LONG));
    await setup.accept('a');
    expect(await setup.run()).toMatchObject({ retryAfterSeconds: 86_400 });
    expect(await setup.run()).toMatchObject({ code: 'RATE_LIMITED', retryAfterSeconds: 60 });
    setup.advance(59.9);
    expect(await setup.run()).toMatchObject({ code: 'RATE_LIMITED' });
    setup.advance(0.1);
    const { pending, script } = deferResponses();
    setup.service.script = script;
    const probe = setup.run();
    await expect.poll(() => pending.length).toBe(1);
    expect(await setup.run(CREATE)).toMatchObject({ code: 'RATE_LIMITED', retryAfterSeconds: 1 });
    expect(setup.calls()).toBe(2);
    setup.service.script = succeed();
    pending[0]?.connection.answer({ body: { data: workflow() } });
    expect(await probe).toBeUndefined();
    expect(await Promise.all([setup.run(), setup.run(CREATE)])).toEqual([undefined, undefined]);
    expect(setup.calls()).toBe(4);
  });

  it('restarts when the probe is rate limited', async () => {
    await using setup = await setUp(respond429(TOO_LONG));
    await setup.run();
    setup.advance(60);
    expect(await setup.run()).toMatchObject({ code: 'RATE_LIMITED', upstream: { status: 429 } });
    setup.advance(59);
    expect(await setup.run()).toMatchObject({ retryAfterSeconds: 1 });
    expect(setup.calls()).toBe(2);
  });

  it('ends when the probe fails with another status', async () => {
    await using setup = await setUp(respond429(TOO_LONG));
    await setup.run();
    setup.advance(60);
    setup.service.script = (_, { answer }) => answer({ status: 401, body: {} });
    expect(await setup.run()).toMatchObject({ code: 'UNAUTHENTICATED' });
    setup.advance(1);
    setup.service.script = succeed();
    expect(await Promise.all([setup.run(), setup.run(CREATE)])).toEqual([undefined, undefined]);
  });

  it.each<[string, Script]>([
    ['gets no response', (_, { reset }) => reset()],
    ['is rate limited without Retry-After', respond429({})],
  ])('is probed again when the probe %s', async (_, script) => {
    await using setup = await setUp(respond429(TOO_LONG), { maxRetries: 0 });
    await setup.accept('a');
    await setup.run();
    setup.advance(60);
    setup.service.script = script;
    expect(await setup.run()).toHaveProperty('code');
    const { pending, script: keep } = deferResponses();
    setup.service.script = keep;
    const tried = setup.run();
    await expect.poll(() => pending.length).toBe(1);
    expect(await setup.run(CREATE)).toMatchObject({ code: 'RATE_LIMITED' });
    pending[0]?.connection.answer({ body: { data: workflow() } });
    expect(await tried).toBeUndefined();
    expect(setup.calls()).toBe(3);
  });
});

describe('the usage of an operation', () => {
  it('has the lowest reported number of remaining calls', async () => {
    const remaining: Record<string, string> = { w1: '9', w2: '4', w3: '7' };
    await using client = await startClient(({ path }, { answer }) => {
      const left = remaining[path.split('/').at(-1) ?? ''] ?? '';
      const headers = { 'ratelimit-limit': '10', 'ratelimit-remaining': left, 'ratelimit-reset': '20' };
      answer({ headers, body: { data: workflow() } });
    });
    const events = new Usage();
    const caller = client.caller('a', { events });
    for (const [id, expected] of [
      ['w1', 9],
      ['w2', 4],
      ['w3', 4],
    ] as const) {
      await caller.getWorkflow(id);
      expect(events.rateLimit).toEqual({ limit: 10, remaining: expected, resetSeconds: 20 });
    }
  });

  it('includes the rate limit of a shared response', async () => {
    const { pending, script } = deferResponses();
    await using client = await startClient(script);
    const usages = [new Usage(), new Usage()];
    const reads = usages.map((events) => client.caller('a', { events }).getWorkflow('w1'));
    await client.upstream.arrived(1);
    pending[0]?.connection.answer({ headers: { 'x-ratelimit-remaining': '3' }, body: { data: workflow() } });
    await Promise.all(reads);
    expect(client.upstream.requests).toHaveLength(1);
    const expected = { remaining: 3, limit: undefined, resetSeconds: undefined };
    expect(usages.map(({ rateLimit }) => rateLimit)).toEqual([expected, expected]);
  });

  it.each([404, 500])('includes the rate limit of a response with status %i', async (status) => {
    const headers = { 'ratelimit-remaining': '3', 'ratelimit-reset': '9' };
    await using client = await startClient((_, { answer }) =>
      answer({ status, headers, body: { statusCode: status } }),
    );
    const events = new Usage();
    const caller = client.caller('a', { events });
    await caller.getWorkflow('w1').catch(() => {});
    expect(events.rateLimit).toMatchObject({ remaining: 3, resetSeconds: 9 });
  });

  it('has no remaining calls if a call was rate limited or not even sent', async () => {
    await using client = await startClient(respond429({ 'retry-after': '30' }));
    for (const requests of [1, 0]) {
      const events = new Usage();
      const write = client.caller('a', { events }).createFeed('News');
      await expect(write).rejects.toMatchObject({ code: 'RATE_LIMITED', sent: requests === 1 });
      expect(events).toMatchObject({ requests, rateLimit: { remaining: 0, resetSeconds: 30 } });
    }
  });
});

describe('a reset', () => {
  const NOW = Date.UTC(2026, 0, 1);
  const SECOND = NOW / 1_000;

  it.each([
    ['30', 30],
    ['0', 0],
    ['1.2', 2],
    ['60;w=60', 60],
    [String(SECOND + 45), 45],
    [`${SECOND + 45}.5`, 46],
    [String(SECOND - 5), 0],
    [String(NOW + 7_500), 8],
    ['2678400', 2_678_400],
    ['2678401', undefined],
    [String(SECOND + 2_678_401), undefined],
    ['1e3', undefined],
    ['0x10', undefined],
    ['', undefined],
  ])('of %j is parsed as seconds from now or as a timestamp', (reset, expected) => {
    const headers = { 'ratelimit-remaining': '1', 'ratelimit-reset': reset };
    expect(readRateLimit(200, headers, NOW)).toEqual({ limit: undefined, remaining: 1, resetSeconds: expected });
  });
});
