import { describe, expect, it } from 'vitest';
import type { GatewayOptions } from '../../src/gateway.ts';
import { createUpstreamClient, type Usage } from '../../src/upstream/client.ts';
import { readRateLimit } from '../../src/upstream/errors/rate-limit.ts';
import { createDispatcher } from '../../src/upstream/transport/dispatcher.ts';
import { bindUpstream } from '../../src/upstream/upstream.ts';
import { startGateway } from '../support/gateway.ts';
import { type RawConnection, type RawScript, startRawUpstream } from '../support/raw-upstream.ts';
import { feed, workflow } from '../support/records.ts';
import { DEFAULTS, settingsOf } from '../support/settings.ts';

const READ = '{ workflow(idOrIdentifier: "w1") { name } }';
const CREATE = 'mutation { createFeed(input: { name: "News" }) { __typename } }';

type Headers = Record<string, string>;

const well =
  (headers: Headers = {}): RawScript =>
  ({ method }, { answer }) =>
    answer({ headers, body: { data: method === 'POST' ? feed() : workflow() } });

const refuse =
  (headers: Headers): RawScript =>
  (_, { answer }) =>
    answer({ status: 429, headers, body: {} });

/** A gateway in front of a script, with a clock for what it holds back. */
async function setUp(script: RawScript, options: Omit<GatewayOptions, 'upstream'> = {}) {
  const upstream = await startRawUpstream(script);
  let time = 1_000;
  const gateway = await startGateway({ upstream: upstream.url, ...options }, { monotonicNow: () => time });
  return {
    upstream,
    gateway,
    calls: () => upstream.requests.length,
    pass(seconds: number) {
      time += seconds * 1_000;
    },
    /** @returns the extensions of the first error, if there is one */
    async run(document = READ, key = 'a') {
      const { status, body } = await gateway.send(document, {}, { authorization: `ApiKey ${key}` });
      expect(status).toBe(200);
      return body.errors?.[0]?.extensions;
    },
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]();
      await upstream[Symbol.asyncDispose]();
    },
  };
}

/** Lets the upstream take what is sent now, and answers when the test says. */
function hold() {
  const held: RawConnection[] = [];
  return { held, script: (_: unknown, connection: RawConnection) => void held.push(connection) };
}

describe('after a 429 with Retry-After 30', () => {
  it('no call of this key is sent for 30 seconds: reads and writes fail at once, and can be sent again', async () => {
    await using setup = await setUp(refuse({ 'retry-after': '30' }));
    expect(await setup.run()).toMatchObject({ code: 'RATE_LIMITED', retryAfterSeconds: 30, upstream: { status: 429 } });
    setup.upstream.script = well();
    setup.pass(9.5);
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
    setup.pass(20.4);
    expect(await setup.run()).toMatchObject({ code: 'RATE_LIMITED', retryAfterSeconds: 1 });
    expect(setup.calls()).toBe(1);
    setup.pass(0.1);
    expect(await setup.run()).toBeUndefined();
    expect(await setup.run(CREATE)).toBeUndefined();
    expect(setup.calls()).toBe(3);
  });

  it('calls of other keys are sent as before', async () => {
    await using setup = await setUp(refuse({ 'retry-after': '30' }));
    await setup.run();
    setup.upstream.script = well();
    expect(await setup.run(READ, 'b')).toBeUndefined();
    expect(await setup.run(CREATE, 'b')).toBeUndefined();
    expect(await setup.run(READ, 'a')).toMatchObject({ code: 'RATE_LIMITED' });
    expect(setup.calls()).toBe(3);
  });

  it('calls that wait for their turn are not sent either', async () => {
    await using setup = await setUp(refuse({ 'retry-after': '30' }), { maxConcurrentCallsPerKey: 2 });
    const ids = Array.from({ length: 8 }, (_, i) => `w${i}`);
    const { body, codes } = await setup.gateway.send(
      `{ ${ids.map((id) => `${id}: workflow(idOrIdentifier: "${id}") { name }`)} }`,
    );
    expect(body.data).toEqual(Object.fromEntries(ids.map((id) => [id, null])));
    expect(codes).toEqual(ids.map(() => 'RATE_LIMITED'));
    expect(setup.calls()).toBe(2);
  });

  it('a call that was sent before may still be answered, and ends nothing', async () => {
    const { held, script } = hold();
    await using setup = await setUp(script, { maxConcurrentCallsPerKey: 2 });
    const slow = Promise.all([setup.run(), setup.run('{ workflow(idOrIdentifier: "w2") { name } }')]);
    await expect.poll(() => held.length).toBe(2);
    held[0]?.answer({ status: 429, headers: { 'retry-after': '30' }, body: {} });
    await expect
      .poll(() => setup.run('{ workflow(idOrIdentifier: "w3") { name } }'))
      .toMatchObject({ code: 'RATE_LIMITED' });
    expect(setup.calls()).toBe(2);
    held[1]?.answer({ headers: { 'ratelimit-remaining': '7' }, body: { data: workflow() } });
    expect(await slow).toEqual([expect.objectContaining({ code: 'RATE_LIMITED' }), undefined]);
    expect(await setup.run()).toMatchObject({ code: 'RATE_LIMITED' }); // What was sent before says nothing about now.
    expect(setup.calls()).toBe(2);
  });
});

describe('a service that says how much remains', () => {
  it.each<[string, Headers]>([
    ['RateLimit-Remaining: 0', { 'ratelimit-limit': '100', 'ratelimit-remaining': '0', 'ratelimit-reset': '30' }],
    ['X-RateLimit-Remaining: 0', { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '30' }],
    [
      'a limit with its windows',
      { 'ratelimit-limit': '100, 100;w=60', 'ratelimit-remaining': '0', 'ratelimit-reset': '30' },
    ],
  ])('and answers with %s gets no call of this key until there is more', async (_, headers) => {
    await using setup = await setUp(well(headers));
    expect(await setup.run()).toBeUndefined(); // This one was still answered.
    setup.upstream.script = well();
    expect(await setup.run(CREATE)).toMatchObject({
      code: 'RATE_LIMITED',
      retryable: true,
      retryAfterSeconds: 30,
      outcome: 'NOT_APPLIED',
    });
    expect(await setup.run(READ, 'b')).toBeUndefined();
    expect(setup.calls()).toBe(2);
    setup.pass(30);
    expect(await setup.run(CREATE)).toBeUndefined();
    expect(setup.calls()).toBe(3);
  });

  it('and refuses without Retry-After is not called again', async () => {
    await using setup = await setUp(refuse({ 'ratelimit-remaining': '0', 'ratelimit-reset': '30' }));
    expect(await setup.run()).toMatchObject({ code: 'RATE_LIMITED', retryAfterSeconds: 30 });
    expect(setup.calls()).toBe(1);
  });

  it.each<[string, Headers]>([
    ['5 calls', { 'ratelimit-remaining': '5', 'ratelimit-reset': '30' }],
    ['0 calls, for three seconds', { 'ratelimit-remaining': '0', 'ratelimit-reset': '3' }],
    ['0 calls, and not for how long', { 'ratelimit-remaining': '0' }],
    ['a time alone', { 'ratelimit-reset': '30' }],
    ['0 of 0 calls', { 'ratelimit-limit': '0', 'ratelimit-remaining': '0', 'ratelimit-reset': '30' }],
    ['-1 calls', { 'ratelimit-remaining': '-1', 'ratelimit-reset': '30' }],
    ['0.5 calls', { 'ratelimit-remaining': '0.5', 'ratelimit-reset': '30' }],
    ['none in words', { 'ratelimit-remaining': 'none', 'ratelimit-reset': '30' }],
    ['nothing', { 'ratelimit-remaining': '', 'ratelimit-reset': '30' }],
    ['a reset in words', { 'ratelimit-remaining': '0', 'ratelimit-reset': 'soon' }],
    ['a reset before now', { 'ratelimit-remaining': '0', 'ratelimit-reset': '-30' }],
    ['a reset in a year', { 'ratelimit-remaining': '0', 'ratelimit-reset': '31536000' }],
    ['a reset at the end of time', { 'ratelimit-remaining': '0', 'ratelimit-reset': '9'.repeat(40) }],
    ['a reset in 1973', { 'ratelimit-remaining': '0', 'ratelimit-reset': '100000001' }],
  ])('%s, is called as before', async (_, headers) => {
    await using setup = await setUp(well(headers));
    for (let i = 0; i < 3; i += 1) {
      expect(await setup.run()).toBeUndefined();
    }
    expect(setup.calls()).toBe(3);
  });
});

describe('a limit that lasts longer than a minute', () => {
  const TOO_LONG = { 'retry-after': '86400' };

  it('is tried with one call after 60 seconds, and the others follow when that was answered', async () => {
    await using setup = await setUp(refuse(TOO_LONG));
    expect(await setup.run()).toMatchObject({ retryAfterSeconds: 86_400 });
    expect(await setup.run()).toMatchObject({ code: 'RATE_LIMITED', retryAfterSeconds: 60 });
    setup.pass(59.9);
    expect(await setup.run()).toMatchObject({ code: 'RATE_LIMITED' });
    setup.pass(0.1);
    const { held, script } = hold();
    setup.upstream.script = script;
    const tried = setup.run();
    await expect.poll(() => held.length).toBe(1);
    expect(await setup.run(CREATE)).toMatchObject({ code: 'RATE_LIMITED', retryAfterSeconds: 1 });
    expect(setup.calls()).toBe(2);
    setup.upstream.script = well();
    held[0]?.answer({ body: { data: workflow() } });
    expect(await tried).toBeUndefined();
    expect(await Promise.all([setup.run(), setup.run(CREATE)])).toEqual([undefined, undefined]);
    expect(setup.calls()).toBe(4);
  });

  it('begins again when the one call is refused', async () => {
    await using setup = await setUp(refuse(TOO_LONG));
    await setup.run();
    setup.pass(60);
    expect(await setup.run()).toMatchObject({ code: 'RATE_LIMITED', upstream: { status: 429 } });
    setup.pass(59);
    expect(await setup.run()).toMatchObject({ retryAfterSeconds: 1 });
    expect(setup.calls()).toBe(2);
  });

  it('ends when the one call is answered with another refusal', async () => {
    await using setup = await setUp(refuse(TOO_LONG));
    await setup.run();
    setup.pass(60);
    setup.upstream.script = (_, { answer }) => answer({ status: 401, body: {} });
    expect(await setup.run()).toMatchObject({ code: 'UNAUTHENTICATED' });
    setup.upstream.script = well();
    expect(await Promise.all([setup.run(), setup.run(CREATE)])).toEqual([undefined, undefined]);
  });

  it.each<[string, RawScript]>([
    ['gets no answer', (_, { reset }) => reset()],
    ['is refused, without a time', refuse({})],
  ])('is tried again, by one call, when the one call %s', async (_, script) => {
    await using setup = await setUp(refuse(TOO_LONG), { maxRetries: 0 });
    await setup.run();
    setup.pass(60);
    setup.upstream.script = script;
    expect(await setup.run()).toHaveProperty('code');
    const { held, script: keep } = hold();
    setup.upstream.script = keep;
    const tried = setup.run();
    await expect.poll(() => held.length).toBe(1);
    expect(await setup.run(CREATE)).toMatchObject({ code: 'RATE_LIMITED' });
    held[0]?.answer({ body: { data: workflow() } });
    expect(await tried).toBeUndefined();
    expect(setup.calls()).toBe(3);
  });
});

describe('an operation', () => {
  /** The upstream client in front of a script: what an operation has cost is the test's to read. */
  async function startClient(script: RawScript) {
    const upstream = await startRawUpstream(script);
    const dispatcher = createDispatcher(upstream.url, DEFAULTS);
    const bindCaller = createUpstreamClient(settingsOf(upstream.url), { dispatcher });
    return {
      upstream,
      caller() {
        const usage: Usage = { calls: 0, bulkItems: 0, requests: 0 };
        const { signal } = new AbortController();
        const deadlineAt = performance.now() + 5_000;
        const client = bindCaller({ authorization: 'ApiKey a', signal, deadlineAt, requestId: 'r', usage });
        return { usage, ...bindUpstream(client) };
      },
      async [Symbol.asyncDispose]() {
        await Promise.all([dispatcher.close(), upstream[Symbol.asyncDispose]()]);
      },
    };
  }

  it('learns what the service has left it, at the least', async () => {
    const remaining: Record<string, string> = { w1: '9', w2: '4', w3: '7' };
    await using setup = await startClient(({ path }, { answer }) => {
      const left = remaining[path.split('/').at(-1) ?? ''] ?? '';
      answer({
        headers: { 'ratelimit-limit': '10', 'ratelimit-remaining': left, 'ratelimit-reset': '20' },
        body: { data: workflow() },
      });
    });
    const caller = setup.caller();
    for (const [id, expected] of [
      ['w1', 9],
      ['w2', 4],
      ['w3', 4],
    ] as const) {
      await caller.getWorkflow(id);
      expect(caller.usage.rateLimit).toEqual({ limit: 10, remaining: expected, resetSeconds: 20 });
    }
  });

  it('learns it from an answer that it shares with another one', async () => {
    const { held, script } = hold();
    await using setup = await startClient(script);
    const callers = [setup.caller(), setup.caller()];
    const reads = callers.map((caller) => caller.getWorkflow('w1'));
    await setup.upstream.arrived(1);
    held[0]?.answer({ headers: { 'x-ratelimit-remaining': '3' }, body: { data: workflow() } });
    await Promise.all(reads);
    expect(setup.upstream.requests).toHaveLength(1);
    expect(callers.map(({ usage }) => usage.rateLimit)).toEqual([
      { remaining: 3, limit: undefined, resetSeconds: undefined },
      { remaining: 3, limit: undefined, resetSeconds: undefined },
    ]);
  });

  it.each([
    ['has no such record', 404],
    ['refuses', 403],
    ['fails', 500],
  ])('learns it from a service that %s', async (_, status) => {
    await using setup = await startClient((_request, { answer }) =>
      answer({ status, headers: { 'ratelimit-remaining': '3', 'ratelimit-reset': '9' }, body: {} }),
    );
    const caller = setup.caller();
    await caller.getWorkflow('w1').catch(() => {});
    expect(caller.usage.rateLimit).toMatchObject({ remaining: 3, resetSeconds: 9 });
  });

  it('learns that nothing is left when it is refused, and when it is not even sent', async () => {
    await using setup = await startClient(refuse({ 'retry-after': '30' }));
    const [refused, held] = [setup.caller(), setup.caller()];
    await expect(refused.createFeed('News')).rejects.toMatchObject({ code: 'RATE_LIMITED', sent: true });
    await expect(held.createFeed('News')).rejects.toMatchObject({ code: 'RATE_LIMITED', sent: false });
    expect(refused.usage).toMatchObject({ requests: 1, rateLimit: { remaining: 0, resetSeconds: 30 } });
    expect(held.usage).toMatchObject({ requests: 0, rateLimit: { remaining: 0, resetSeconds: 30 } });
  });

  it('learns nothing where the service says nothing', async () => {
    await using setup = await startClient(well());
    const caller = setup.caller();
    await caller.getWorkflow('w1');
    expect(caller.usage).not.toHaveProperty('rateLimit');
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
  ])('of %j is understood as seconds from now, or as a time', (reset, expected) => {
    const headers = { 'ratelimit-remaining': '1', 'ratelimit-reset': reset };
    expect(readRateLimit(200, headers, NOW)).toEqual({ limit: undefined, remaining: 1, resetSeconds: expected });
  });
});
