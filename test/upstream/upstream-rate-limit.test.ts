import { describe, expect, it } from 'vitest';
import type { GatewayOptions } from '../../src/gateway.ts';
import { Usage } from '../../src/telemetry/usage.ts';
import { OperationClient } from '../../src/upstream/client.ts';
import { Endpoints } from '../../src/upstream/endpoints/index.gen.ts';
import { Service } from '../../src/upstream/service.ts';
import { readRateLimit } from '../../src/upstream/transport/rate-limit-headers.ts';
import { SocketPool } from '../../src/upstream/transport/socket-pool.ts';
import { startScriptedGateway } from '../support/gateway.ts';
import { feed, workflow } from '../support/records.ts';
import { type Connection, type Script, startService } from '../support/service.ts';
import { DEFAULTS, settingsOf } from '../support/settings.ts';

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
  const gateway = await startScriptedGateway(script, options);
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

/** Creates a script that keeps requests pending until the test responds to them. */
function deferResponses() {
  const pending: Connection[] = [];
  return { pending, script: (_: unknown, connection: Connection) => void pending.push(connection) };
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
    setup.advance(0.1);
    expect(await setup.run()).toBeUndefined();
    expect(await setup.run(CREATE)).toBeUndefined();
    expect(setup.calls()).toBe(3);
  });

  it('calls of other keys are still sent', async () => {
    await using setup = await setUp(respond429({ 'retry-after': '30' }));
    await setup.run();
    setup.service.script = succeed();
    expect(await setup.run(READ, 'b')).toBeUndefined();
    expect(await setup.run(CREATE, 'b')).toBeUndefined();
    expect(await setup.run(READ, 'a')).toMatchObject({ code: 'RATE_LIMITED' });
    expect(setup.calls()).toBe(3);
  });

  it('queued calls are not sent either', async () => {
    await using setup = await setUp(respond429({ 'retry-after': '30' }), { maxConcurrentCallsPerKey: 2 });
    const ids = Array.from({ length: 8 }, (_, i) => `w${i}`);
    const { body, codes } = await setup.send(
      `{ ${ids.map((id) => `${id}: workflow(idOrIdentifier: "${id}") { name }`)} }`,
    );
    expect(body.data).toEqual(Object.fromEntries(ids.map((id) => [id, null])));
    expect(codes).toEqual(ids.map(() => 'RATE_LIMITED'));
    expect(setup.calls()).toBe(2);
  });

  it('a call that was sent before can still succeed, but does not end the throttling', async () => {
    const { pending, script } = deferResponses();
    await using setup = await setUp(script, { maxConcurrentCallsPerKey: 2 });
    const slow = Promise.all([setup.run(), setup.run('{ workflow(idOrIdentifier: "w2") { name } }')]);
    await expect.poll(() => pending.length).toBe(2);
    pending[0]?.answer({ status: 429, headers: { 'retry-after': '30' }, body: {} });
    await expect
      .poll(() => setup.run('{ workflow(idOrIdentifier: "w3") { name } }'))
      .toMatchObject({ code: 'RATE_LIMITED' });
    expect(setup.calls()).toBe(2);
    pending[1]?.answer({ headers: { 'ratelimit-remaining': '7' }, body: { data: workflow() } });
    expect(await slow).toEqual([expect.objectContaining({ code: 'RATE_LIMITED' }), undefined]);
    expect(await setup.run()).toMatchObject({ code: 'RATE_LIMITED' }); // The response to an earlier call is outdated.
    expect(setup.calls()).toBe(2);
  });
});

describe('a service that reports the remaining calls', () => {
  it.each<[string, Headers]>([
    ['RateLimit-Remaining: 0', { 'ratelimit-limit': '100', 'ratelimit-remaining': '0', 'ratelimit-reset': '30' }],
    ['X-RateLimit-Remaining: 0', { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '30' }],
    [
      'a limit with a window',
      { 'ratelimit-limit': '100, 100;w=60', 'ratelimit-remaining': '0', 'ratelimit-reset': '30' },
    ],
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
    ['-1 calls', { 'ratelimit-remaining': '-1', 'ratelimit-reset': '30' }],
    ['0.5 calls', { 'ratelimit-remaining': '0.5', 'ratelimit-reset': '30' }],
    ['a word instead of a number', { 'ratelimit-remaining': 'none', 'ratelimit-reset': '30' }],
    ['an empty value', { 'ratelimit-remaining': '', 'ratelimit-reset': '30' }],
    ['a word as reset', { 'ratelimit-remaining': '0', 'ratelimit-reset': 'soon' }],
    ['a reset before now', { 'ratelimit-remaining': '0', 'ratelimit-reset': '-30' }],
    ['a reset in a year', { 'ratelimit-remaining': '0', 'ratelimit-reset': '31536000' }],
    ['a reset with 40 digits', { 'ratelimit-remaining': '0', 'ratelimit-reset': '9'.repeat(40) }],
    ['a reset in 1973', { 'ratelimit-remaining': '0', 'ratelimit-reset': '100000001' }],
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
    pending[0]?.answer({ body: { data: workflow() } });
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
    setup.service.script = succeed();
    expect(await Promise.all([setup.run(), setup.run(CREATE)])).toEqual([undefined, undefined]);
  });

  it.each<[string, Script]>([
    ['gets no response', (_, { reset }) => reset()],
    ['is rate limited without Retry-After', respond429({})],
  ])('is probed again when the probe %s', async (_, script) => {
    await using setup = await setUp(respond429(TOO_LONG), { maxRetries: 0 });
    await setup.run();
    setup.advance(60);
    setup.service.script = script;
    expect(await setup.run()).toHaveProperty('code');
    const { pending, script: keep } = deferResponses();
    setup.service.script = keep;
    const tried = setup.run();
    await expect.poll(() => pending.length).toBe(1);
    expect(await setup.run(CREATE)).toMatchObject({ code: 'RATE_LIMITED' });
    pending[0]?.answer({ body: { data: workflow() } });
    expect(await tried).toBeUndefined();
    expect(setup.calls()).toBe(3);
  });
});

describe('the usage of an operation', () => {
  /** Starts an upstream client in front of a script, so that the test can read the usage of an operation. */
  async function startClient(script: Script) {
    const upstream = await startService(script);
    const pool = new SocketPool(upstream.url, DEFAULTS);
    const settings = settingsOf(upstream.url);
    const service = new Service(settings, { pool });
    return {
      upstream,
      caller() {
        const usage = new Usage();
        const { signal } = new AbortController();
        const deadlineAt = performance.now() + 5_000;
        const caller = { authorization: 'ApiKey a', signal, deadlineAt, requestId: 'r', events: usage };
        const client = new OperationClient(settings, service, caller);
        return Object.assign(new Endpoints(client), { usage });
      },
      async [Symbol.asyncDispose]() {
        await Promise.all([pool.close(), upstream[Symbol.asyncDispose]()]);
      },
    };
  }

  it('has the lowest reported number of remaining calls', async () => {
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

  it('includes the rate limit of a shared response', async () => {
    const { pending, script } = deferResponses();
    await using setup = await startClient(script);
    const callers = [setup.caller(), setup.caller()];
    const reads = callers.map((caller) => caller.getWorkflow('w1'));
    await setup.upstream.arrived(1);
    pending[0]?.answer({ headers: { 'x-ratelimit-remaining': '3' }, body: { data: workflow() } });
    await Promise.all(reads);
    expect(setup.upstream.requests).toHaveLength(1);
    expect(callers.map(({ usage }) => usage.rateLimit)).toEqual([
      { remaining: 3, limit: undefined, resetSeconds: undefined },
      { remaining: 3, limit: undefined, resetSeconds: undefined },
    ]);
  });

  it.each([
    ['404', 404],
    ['403', 403],
    ['500', 500],
  ])('includes the rate limit of a response with status %s', async (_, status) => {
    await using setup = await startClient((_request, { answer }) =>
      answer({ status, headers: { 'ratelimit-remaining': '3', 'ratelimit-reset': '9' }, body: {} }),
    );
    const caller = setup.caller();
    await caller.getWorkflow('w1').catch(() => {});
    expect(caller.usage.rateLimit).toMatchObject({ remaining: 3, resetSeconds: 9 });
  });

  it('has no remaining calls if a call was rate limited or not even sent', async () => {
    await using setup = await startClient(respond429({ 'retry-after': '30' }));
    const [refused, delayed] = [setup.caller(), setup.caller()];
    await expect(refused.createFeed('News')).rejects.toMatchObject({ code: 'RATE_LIMITED', sent: true });
    await expect(delayed.createFeed('News')).rejects.toMatchObject({ code: 'RATE_LIMITED', sent: false });
    expect(refused.usage).toMatchObject({ requests: 1, rateLimit: { remaining: 0, resetSeconds: 30 } });
    expect(delayed.usage).toMatchObject({ requests: 0, rateLimit: { remaining: 0, resetSeconds: 30 } });
  });

  it('has no rate limit if the service reports none', async () => {
    await using setup = await startClient(succeed());
    const caller = setup.caller();
    await caller.getWorkflow('w1');
    expect(caller.usage.rateLimit).toBeUndefined();
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
