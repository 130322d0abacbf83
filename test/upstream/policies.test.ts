import { describe, expect, it } from 'vitest';
import { type Endpoint, errorOf } from '../../src/upstream/errors.ts';
import { Retry, type RetrySettings } from '../../src/upstream/policies/retry.ts';
import { errorFromFailure } from '../../src/upstream/transport/to-error.ts';
import { startGateway } from '../support/gateway.ts';
import { guards } from '../support/guards.ts';
import { bytesInUse } from '../support/heap.ts';
import { feed, subscriber, workflow } from '../support/records.ts';
import type { Script } from '../support/service.ts';
import { DEFAULTS } from '../support/settings.ts';
import { codeOf, deferResponses, respondWithName, startClient } from '../support/upstream-client.ts';

guards('src/upstream/calls/call.ts', 'Call.#endRunning');
guards('src/upstream/calls/call.ts', 'Call.#attemptEnded');
guards('src/upstream/calls/lane.ts', 'Lane.take');
guards('src/upstream/policies/retry.ts', 'Retry.delayOf');
guards('src/upstream/policies/retry.ts', 'Retry.#allowWaiting');
guards('src/upstream/calls/call.ts', 'Call.#answer');
guards('src/upstream/calls/bounded-client.ts', 'CallBudget.createRequest');

const GET: Endpoint = { method: 'GET', route: '/v1/workflows/{workflowIdOrIdentifier}' };

describe('retries', () => {
  it('that end at once, because the circuit is open, let any number of others follow', () => {
    const retry = new Retry(DEFAULTS);
    let ended = 0;
    const resend = () => {
      ended += 1;
      retry.endRetry();
    };
    for (let i = 0; i < 3; i += 1) {
      retry.request({ resend: () => {} });
    }
    for (let i = 0; i < 20_000; i += 1) {
      retry.request({ resend });
    }
    retry.endRetry();
    expect(ended).toBe(20_000);
  });

  it.each([
    [16, 4], // A fifth of twenty calls in flight is four retries.
    [15, 3],
  ])(
    'of four calls next to %i others in flight send %i of them again, regardless of calls that have ended',
    async (others, expected) => {
      const { pending, script } = deferResponses();
      await using client = await startClient(
        (request, connection) => {
          if (request.path.includes('/failing') && client.upstream.requests.length <= 5 + others + 4) {
            connection.answer({ status: 503, body: {} });
          } else if (request.path.includes('/ended')) {
            connection.answer({ body: { data: workflow() } });
          } else {
            script(request, connection);
          }
        },
        { maxRetries: 1 },
        { random: () => 0 },
      );
      // With a new key, one call is sent and the others wait.
      await Promise.all(Array.from({ length: 5 }, (_, i) => client.caller('a').getWorkflow(`ended${i}`)));
      const reads = Array.from({ length: others }, (_, i) => client.caller(`k${i}`).getWorkflow('w'));
      await client.upstream.arrived(5 + others);
      const failing = Array.from({ length: 4 }, (_, i) => client.caller('a').getWorkflow(`failing${i}`).catch(codeOf));
      await client.upstream.arrived(5 + others + 4 + expected);
      if (expected < 4) {
        expect(await Promise.race(failing)).toBe('UPSTREAM_UNAVAILABLE'); // There was no budget in time.
      }
      expect(client.upstream.requests).toHaveLength(5 + others + 4 + expected);
      for (const { connection } of pending) {
        connection.answer({ body: { data: workflow() } });
      }
      await Promise.all([...reads, ...failing]);
    },
  );

  it('release the budget when they end', async () => {
    let requests = 0;
    await using client = await startClient(
      (_, { answer }) => {
        requests += 1;
        answer({ status: requests % 2 === 1 ? 503 : 500, body: {} });
      },
      {},
      { random: () => 0 },
    );
    for (let i = 0; i < 5; i += 1) {
      expect(await client.caller('a').getWorkflow('w1').catch(codeOf)).toBe('UPSTREAM_ERROR');
    }
    expect(requests).toBe(10);
  });

  /** Returns the delays before the retries of a call, in milliseconds. */
  function retryDelays(
    { random, ...options }: Partial<RetrySettings> & { random?: () => number },
    error = errorOf('unavailable', GET, { status: 503 }),
  ): number[] {
    const retry = new Retry({ ...DEFAULTS, ...options }, random);
    const delays: number[] = [];
    for (let retries = 0; ; retries += 1) {
      const deadlineAt = performance.now() + 600_000;
      const delay = retry.delayOf(error, true, retries, deadlineAt);
      if (delay === undefined) {
        return delays;
      }
      delays.push(delay);
    }
  }

  it('wait for a random part of a delay that doubles from 100 ms to 1 s, by default twice', () => {
    expect(retryDelays({ random: () => 1, maxRetries: 6 })).toEqual([100, 200, 400, 800, 1_000, 1_000]);
    expect(retryDelays({ random: () => 0.5, maxRetries: 6 })).toEqual([50, 100, 200, 400, 500, 500]);
    const firsts = new Set<number>();
    for (let i = 0; i < 50; i += 1) {
      const delays = retryDelays({});
      expect(delays).toHaveLength(2);
      firsts.add(delays[0] ?? 0);
    }
    expect(firsts.size).toBeGreaterThan(10);
    expect(Math.max(...firsts)).toBeLessThan(101);
  });

  const unavailableFor = (retryAfterSeconds: number) => errorOf('unavailable', GET, { status: 503, retryAfterSeconds });

  it('wait for Retry-After plus a random part of the delay, so that clients do not retry at once', () => {
    expect(retryDelays({ random: () => 0.5 }, unavailableFor(2))).toEqual([2_050, 2_100]);
    expect(retryDelays({ random: () => 0.5 }, unavailableFor(0))).toEqual([50, 100]);
    expect(retryDelays({ random: () => 0.5 }, unavailableFor(3))).toEqual([]);
  });
});

describe('calls of one credential', () => {
  it('are limited to ten at a time and a hundred queued, without delaying other credentials', async () => {
    const { pending, script: defer } = deferResponses();
    const script: Script = (request, connection) =>
      request.headers.authorization === 'ApiKey quiet' ? { body: { data: workflow() } } : defer(request, connection);
    const patient = { operationTimeoutMs: 120_000, attemptTimeoutMs: 120_000 }; // No call may time out on a busy machine.
    await using gateway = await startGateway({ service: script, ...patient });
    const ask = (document: string, key = 'busy') => gateway.send(document, {}, { authorization: `ApiKey ${key}` });
    const read = (id: number) => ask(`{ workflow(idOrIdentifier: "w${id}") { name } }`);
    await gateway.accept('busy');

    const reads = Array.from({ length: 111 }, (_, i) => read(i));
    const { codes } = await Promise.race(reads); // The only call that can have ended.
    expect(codes).toEqual(['OVERLOADED']);
    expect(gateway.service.requests).toHaveLength(10);

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
      await gateway.service.arrived(answered + 2); // Includes the call of the other credential.
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
    await client.accept('k');
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
    for (let i = 0; i < 20; i += 1) {
      await client
        .caller('a')
        .getWorkflow('w1')
        .catch(() => {}); // The circuit opens, so that calls end without sockets.
    }
    let made = 0;
    const makeCalls = async (count: number) => {
      for (const end = made + count; made < end; made += 1) {
        const key = Buffer.alloc(2_000, `${made}k`).toString('latin1'); // A flat string of 2 kB that is not shared.
        await client
          .caller(key)
          .getWorkflow('w1')
          .catch(() => {});
      }
    };
    await makeCalls(2_000); // Compiles the code.
    const before = bytesInUse();
    await makeCalls(10_000);
    const bytesPerThousand = (bytesInUse() - before) / 10;
    expect(bytesPerThousand).toBeLessThan(300_000); // Their keys have 2 MB. Up to a thousand are kept until all are swept.
  });
});

it('identical in-flight reads fail together, and the failure is not cached', async () => {
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

describe('one operation', () => {
  const ids = (count: number) => Array.from({ length: count }, (_, i) => `w${i}`);
  const answerAll: Script = ({ path }) => ({ body: { data: path === '/v1/notification-groups' ? [] : workflow() } });

  it('can make fifty upstream calls; the next one fails with BUDGET_EXCEEDED without being sent', async () => {
    await using gateway = await startGateway({ service: answerAll });
    const document = `query ($ids: [ID!]!, $one: Boolean!) {
      workflows(idsOrIdentifiers: $ids) { id } notificationGroups @include(if: $one) { id } }`;
    expect((await gateway.send(document, { ids: ids(50), one: false })).codes).toEqual([]);
    expect((await gateway.send(document, { ids: ids(49), one: true })).codes).toEqual([]);
    expect(gateway.service.requests).toHaveLength(100);
    const { body, status } = await gateway.send(document, { ids: ids(50), one: true });
    expect(status).toBe(200);
    expect(body.errors?.map(({ extensions }) => extensions)).toEqual([
      { code: 'BUDGET_EXCEEDED', retryable: false, requestId: expect.any(String) },
    ]);
    expect(gateway.service.requests).toHaveLength(150);
  });

  it('can write a hundred bulk items, which do not count as calls; only the next one fails, with NOT_APPLIED', async () => {
    const warnings: Error[] = [];
    const onWarning = (warning: Error) => void warnings.push(warning);
    process.on('warning', onWarning);
    await using gateway = await startGateway({
      service: ({ path }, { answer }) =>
        answer({ status: 201, body: { data: path === '/v1/feeds' ? feed() : subscriber() } }),
    });
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
    expect(gateway.service.requests).toHaveLength(101);
    process.off('warning', onWarning);
    expect(warnings).toEqual([]); // For example about too many listeners on the operation's signal.
  });
});

it('a connection failure before the request was sent is retried for every method, unless TLS failed', () => {
  const post: Endpoint = { method: 'POST', route: '/v1/feeds' };
  const retryAfter = (code: string, syscall = '') =>
    errorFromFailure(post, Object.assign(new Error(code), { code, syscall }), { sent: false, status: undefined }).retry;
  expect(retryAfter('ECONNREFUSED', 'connect')).toBe('always');
  for (const code of ['DEPTH_ZERO_SELF_SIGNED_CERT', 'CERT_HAS_EXPIRED', 'ERR_TLS_CERT_ALTNAME_INVALID', 'EPROTO']) {
    expect(retryAfter(code)).toBe('never');
  }
});
