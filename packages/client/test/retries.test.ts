import { describe, expect, it, vi } from 'vitest';
import type { GatewayDeps, GatewayOptions } from '../../../src/gateway.ts';
import { startGateway } from '../../../test/support/gateway.ts';
import { guards } from '../../../test/support/guards.ts';
import { feed, group } from '../../../test/support/records.ts';
import { type Script, startService } from '../../../test/support/service.ts';
import { clientsOf, createSigner } from '../../../test/support/tokens.ts';
import { SANDBOX_KEYS } from '../../sandbox/src/sandbox.ts';
import {
  type ClientOptions,
  CreateFeedDocument,
  CreateNotificationGroupDocument,
  createClient,
  NotificationGroupsDocument,
  type RetryEvent,
  UnexpectedResponseError,
} from '../src/index.ts';

guards('packages/client/src/retry.ts', 'canRepeat');
guards('packages/client/src/retry.ts', 'finish');
guards('packages/client/src/retry.ts', 'isUnapplied');
guards('packages/client/src/retry.ts', 'isExpired');
guards('packages/client/src/retry.ts', 'renew');
guards('packages/client/src/retry.ts', 'sendWithRetries');

const authorization = `ApiKey ${SANDBOX_KEYS.development}`;
const GROUPS = { body: { data: [group()] } };
const LIMITED = { status: 429, headers: { 'retry-after': '1' } };

interface TestOptions extends Partial<ClientOptions> {
  gateway?: Partial<GatewayOptions>;
  deps?: GatewayDeps;
}

/** Starts a gateway that sends every call once, its upstream, and a client that records its retries. */
async function startClient(script: Script, { gateway: options = {}, deps = {}, onRetry, ...client }: TestOptions = {}) {
  const upstream = await startService(script);
  const gateway = await startGateway({ upstream: upstream.url, maxRetries: 0, ...options }, deps);
  const retries: RetryEvent[] = [];
  const notigraph = createClient({
    url: gateway.url,
    authorization,
    onRetry: (event) => {
      retries.push(event);
      onRetry?.(event);
    },
    ...client,
  });
  return {
    notigraph,
    retries,
    url: gateway.url,
    keys: () => upstream.requests.map(({ headers }) => headers['idempotency-key']),
    upstream,
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]();
      await upstream[Symbol.asyncDispose]();
    },
  };
}

const NAMED = { input: { name: 'News' } };

describe.concurrent('the client', () => {
  it('repeats a write that was not applied, with the same key, after the time that the service asks for', async () => {
    const responses = [LIMITED];
    await using test = await startClient(() => responses.shift() ?? { status: 201, body: { data: feed() } });
    const start = performance.now();

    const { data, errors, attempts } = await test.notigraph.request(CreateFeedDocument, NAMED);

    expect({ errors, attempts }).toEqual({ errors: undefined, attempts: 2 });
    expect(data?.createFeed).toMatchObject({ __typename: 'CreateFeedSuccess' });
    expect(performance.now() - start).toBeGreaterThanOrEqual(1_000);
    expect(test.retries).toMatchObject([{ attempt: 1, errors: [{ extensions: { code: 'RATE_LIMITED' } }] }]);
    expect(test.retries[0]?.waitMs).toBeGreaterThanOrEqual(1_000);
    expect(test.retries[0]?.waitMs).toBeLessThan(1_251);
    const [first, second] = test.keys();
    expect(first).toMatch(/^[0-9a-f]{64}$/);
    expect(test.keys()).toEqual([first, second]);
    expect(second).toBe(first);
    await test.notigraph.request(CreateFeedDocument, NAMED);
    expect(test.keys()[2]).not.toBe(first); // Each request has a key of its own.
  });

  it('repeats what the gateway’s own rate limit rejected', async () => {
    let seconds = 0;
    const rateLimit = { calls: 1, perSeconds: 1 };
    await using test = await startClient(() => GROUPS, {
      gateway: { clients: { server: { rateLimit } } },
      deps: { monotonicNow: () => seconds * 1_000 },
      onRetry: () => {
        seconds += 1;
      },
    });

    const answers = [
      await test.notigraph.request(NotificationGroupsDocument),
      await test.notigraph.request(NotificationGroupsDocument),
    ];

    expect(answers).toMatchObject([
      { status: 200, attempts: 1 },
      { status: 200, attempts: 2 },
    ]);
    expect(test.retries[0]?.errors).toMatchObject([{ extensions: { code: 'RATE_LIMITED', retryAfterSeconds: 1 } }]);
    expect(test.upstream.requests).toHaveLength(2);
  });

  it('returns a failure at once if the service asks for a longer wait than permitted', async () => {
    await using test = await startClient(() => ({ status: 429, headers: { 'retry-after': '60' } }));

    const { errors, attempts } = await test.notigraph.request(CreateFeedDocument, NAMED);

    expect(errors).toMatchObject([{ extensions: { retryable: true, retryAfterSeconds: 60 } }]);
    expect(attempts).toBe(1);
  });

  it('stops waiting when the signal is aborted', async () => {
    const leaving = new AbortController();
    await using test = await startClient(() => ({ status: 429, headers: { 'retry-after': '60' } }), {
      retries: { maxSeconds: 600 },
      onRetry: () => setImmediate(() => leaving.abort(new Error('The page is gone.'))),
    });

    const request = test.notigraph.request(NotificationGroupsDocument, {}, { signal: leaving.signal });

    await expect(request).rejects.toThrow('The page is gone.');
    expect(test.upstream.requests).toHaveLength(1);
  });

  it('sends a request once if retries are off', async () => {
    await using test = await startClient(() => LIMITED);
    const off = await test.notigraph.request(NotificationGroupsDocument, {}, { retries: false });
    expect(off.attempts).toBe(1);
    const client = createClient({ url: test.url, authorization, retries: false });
    expect((await client.request(NotificationGroupsDocument)).attempts).toBe(1);
  });
});

describe('an expired token', () => {
  const signer = createSigner();
  const gateway = { clients: clientsOf(signer) };
  const old = () => signer.bearer({ exp: 1 });

  /** Starts a client that has these tokens, one after the other, and keeps the last one. Notes which values it was told to renew. */
  async function startWithTokens(tokens: string[], options: TestOptions = {}) {
    const asked: (string | undefined)[] = [];
    const sent: unknown[] = [];
    const client = await startClient(() => ({ status: 201, body: { data: feed() } }), {
      gateway,
      async authorization(expired) {
        asked.push(expired);
        return (tokens.length > 1 ? tokens.shift() : tokens[0]) ?? '';
      },
      fetch(url, init) {
        sent.push(new Headers(init.headers).get('authorization'));
        return fetch(url, init);
      },
      ...options,
    });
    return { ...client, asked, sent };
  }

  it('is renewed once, and the request sent again, also a mutation', async () => {
    const [expired, renewed] = [await old(), await signer.bearer()];
    await using test = await startWithTokens([expired, renewed]);

    const { data, attempts } = await test.notigraph.request(CreateFeedDocument, NAMED);

    expect(data?.createFeed).toMatchObject({ __typename: 'CreateFeedSuccess' });
    expect({ attempts, asked: test.asked, sent: test.sent }).toEqual({
      attempts: 2,
      asked: [undefined, expired],
      sent: [expired, renewed],
    });
    expect(test.retries).toMatchObject([
      { attempt: 1, waitMs: 0, errors: [{ extensions: { reason: 'TOKEN_EXPIRED' } }] },
    ]);
    expect(test.keys()).toHaveLength(1);
  });

  it.each([
    ['there is no other token', async () => [await old()], {}, 1],
    ['the next one has expired too', async () => [await old(), await signer.bearer({ exp: 2 }), await old()], {}, 2],
    ['retries are off', async () => [await old(), await signer.bearer()], { retries: false }, 1],
    ['it is a constant', old, {}, 1],
  ] satisfies [string, () => Promise<string | string[]>, TestOptions, number][])(
    'is the result if %s',
    async (_, tokens, options, attempts) => {
      const value = await tokens();
      await using test = await startWithTokens(
        [value].flat(),
        typeof value === 'string' ? { ...options, authorization: value } : options,
      );

      const result = await test.notigraph.request(NotificationGroupsDocument);

      expect(result).toMatchObject({ attempts, status: 401, errors: [{ extensions: { reason: 'TOKEN_EXPIRED' } }] });
      expect(test.sent).toHaveLength(attempts);
      expect(test.upstream.requests).toEqual([]);
    },
  );

  it('is renewed after an attempt that failed for another reason', async () => {
    const [expired, renewed] = [await old(), await signer.bearer()];
    const addresses = [CLOSED];
    await using test = await startWithTokens([expired, expired, renewed], {
      fetch: (url, init) => fetch(addresses.shift() ?? url, init),
    });
    const headers = { 'idempotency-key': 'order-17' };
    const { attempts, errors } = await test.notigraph.request(CreateNotificationGroupDocument, NAMED, { headers });
    expect({ attempts, errors }).toEqual({ attempts: 3, errors: undefined });
    expect(test.asked).toEqual([undefined, undefined, expired]);
  });

  it('is not renewed for another reason', async () => {
    await using test = await startWithTokens(['Bearer none', await signer.bearer()]);
    const { errors } = await test.notigraph.request(NotificationGroupsDocument);
    expect(errors).toMatchObject([{ extensions: { reason: 'TOKEN_INVALID' } }]);
    expect(test.asked).toEqual([undefined]);
  });

  it('that can’t be renewed ends the request with the error of the function', async () => {
    const failure = new Error('The session server is down.');
    const expired = await old();
    await using test = await startWithTokens([], {
      authorization: async (value) => (value === undefined ? expired : Promise.reject(failure)),
    });
    await expect(test.notigraph.request(NotificationGroupsDocument)).rejects.toBe(failure);
    expect(test.sent).toEqual([expired]);
    const without = createClient({ url: test.url, authorization: () => Promise.reject(failure) });
    await expect(without.request(NotificationGroupsDocument)).rejects.toBe(failure);
  });
});

/** Address at which nothing listens. */
const CLOSED = 'http://127.0.0.1:1';

describe.concurrent('without a response of the gateway', () => {
  /** Starts a client of which the first connections are refused, and records the idempotency keys that it sends. */
  async function startUnreachable(script: Script, refusals = 1) {
    const sent: (string | null)[] = [];
    const test = await startClient(script, {
      fetch: (url, init) => {
        sent.push(new Headers(init.headers).get('idempotency-key'));
        return fetch(sent.length <= refusals ? CLOSED : url, init);
      },
    });
    return { ...test, sent };
  }

  it('a query is repeated, after longer and longer waits', async () => {
    await using test = await startUnreachable(() => GROUPS, 2);
    const { attempts, errors } = await test.notigraph.request(NotificationGroupsDocument);
    expect({ attempts, errors, sent: test.sent }).toEqual({ attempts: 3, errors: undefined, sent: [null, null, null] });
    const [first, second] = test.retries;
    expect(first?.cause).toBeInstanceOf(TypeError);
    expect(first?.waitMs).toBeGreaterThanOrEqual(500);
    expect(second?.waitMs).toBeGreaterThanOrEqual(1_000);
  });

  it('the error is thrown after the last attempt', async () => {
    await using test = await startUnreachable(() => GROUPS, 9);
    const request = test.notigraph.request(NotificationGroupsDocument, {}, { retries: { maxAttempts: 2 } });
    await expect(request).rejects.toThrow(TypeError);
    expect(test.sent).toHaveLength(2);
  });

  it('a mutation is not repeated, because the service may ignore the client’s own key', async () => {
    await using test = await startUnreachable(() => GROUPS);
    await expect(test.notigraph.request(CreateFeedDocument, NAMED)).rejects.toThrow(TypeError);
    expect(test.sent).toEqual([expect.stringMatching(/^[0-9a-f]{32}$/)]);
    expect(test.upstream.requests).toEqual([]);
  });

  it('a mutation with a key of the caller is repeated with it', async () => {
    await using test = await startUnreachable(() => ({ status: 201, body: { data: group() } }));
    const headers = { 'Idempotency-Key': 'order-17' };
    const { attempts, errors } = await test.notigraph.request(CreateNotificationGroupDocument, NAMED, { headers });
    expect({ attempts, errors, sent: test.sent }).toEqual({
      attempts: 2,
      errors: undefined,
      sent: ['order-17', 'order-17'],
    });
  });

  it('a later failure does not hide that an earlier attempt may have been applied', async () => {
    await using test = await startUnreachable(() => ({ status: 429, headers: { 'retry-after': '60' } }));
    const headers = { 'idempotency-key': 'order-17' };
    const { attempts, errors } = await test.notigraph.request(CreateNotificationGroupDocument, NAMED, { headers });
    expect(attempts).toBe(2);
    expect(errors).toMatchObject([{ extensions: { code: 'RATE_LIMITED', retryable: false, outcome: 'UNKNOWN' } }]);
  });

  it('a later failure of a query has no outcome', async () => {
    await using test = await startUnreachable(() => ({ status: 429, headers: { 'retry-after': '60' } }));
    const { attempts, errors } = await test.notigraph.request(NotificationGroupsDocument);
    expect(attempts).toBe(2);
    expect(errors).toMatchObject([{ extensions: { code: 'RATE_LIMITED', retryable: true } }]);
    expect(errors?.[0]?.extensions).not.toHaveProperty('outcome');
  });
});

/** Response of a gateway, or of a proxy if it is a text. */
type Answer = { status?: number; headers?: Record<string, string>; body: object | string };

/** Sends a document to a list of responses; the last one is repeated. */
async function send(document: string, answers: readonly Answer[], client: Partial<ClientOptions> = {}) {
  let attempts = 0;
  const notigraph = createClient({
    url: 'https://example.com/graphql',
    fetch: async () => {
      const { status = 200, headers = {}, body } = answers[Math.min(attempts++, answers.length - 1)] ?? { body: '' };
      return new Response(typeof body === 'string' ? body : JSON.stringify(body), { status, headers });
    },
    ...client,
  });
  const result = await notigraph.request(document).catch((error: unknown) => ({ error }));
  return { ...result, attempts };
}

const failed = (path: (string | number)[] | undefined, extensions: object) => ({
  message: 'It failed.',
  ...(path !== undefined && { path }),
  extensions: { code: 'UPSTREAM_UNAVAILABLE', retryable: true, retryAfterSeconds: 0.001, ...extensions },
});

const QUERY = '{ notificationGroups { id } workflow(idOrIdentifier: "a") { id } }';
const WRITE =
  'mutation { a: deleteFeed(input: { id: "a" }) { __typename } b: deleteFeed(input: { id: "b" }) { __typename } }';
const complete = { body: { data: { notificationGroups: null, workflow: null } } };
const unapplied = { outcome: 'NOT_APPLIED' };

describe('a response with errors', () => {
  it.each<[title: string, attempts: number, document: string, body: object]>([
    ['all of which are retryable', 3, QUERY, { data: { workflow: null }, errors: [failed(['workflow'], {})] }],
    ['one of which is not', 1, QUERY, { data: null, errors: [failed(['a'], {}), failed(['b'], { retryable: false })] }],
    ['of a write that was not executed', 3, WRITE, { errors: [failed(undefined, {})] }],
    ['of a write that may have been executed', 1, WRITE, { errors: [failed(undefined, { outcome: 'UNKNOWN' })] }],
    [
      'of writes none of which was applied',
      3,
      WRITE,
      { data: { a: null, b: null }, errors: [failed(['a'], unapplied), failed(['b'], unapplied)] },
    ],
    ['of only one of two writes', 1, WRITE, { data: { a: null, b: null }, errors: [failed(['a'], unapplied)] }],
    ['of a write that can’t be null', 1, WRITE, { data: null, errors: [failed(['a'], unapplied)] }],
    ['of a write without an outcome', 1, WRITE, { data: { a: null }, errors: [failed(['a'], {})] }],
    ['of a read after a write', 1, WRITE, { data: { a: null }, errors: [failed(['a', 'workflow'], unapplied)] }],
  ])('%s is attempts: %i', async (_title, attempts, document, body) => {
    expect(await send(document, [{ body }])).toMatchObject({ attempts, ...body });
  });

  const partial = (errors: number) => ({
    body: {
      data: { notificationGroups: [{ id: String(errors) }], workflow: null },
      errors: Array.from({ length: errors }, () => failed(['workflow'], {})),
    },
  });
  const overloaded = { status: 503, body: { errors: [failed(undefined, { code: 'OVERLOADED' })] } };
  it.each<[title: string, answers: Answer[], best: number]>([
    ['the last one', [partial(1), partial(1), partial(1)], 2],
    ['the one with the fewest errors', [partial(2), partial(1), partial(2)], 1],
    ['one with data', [partial(1), overloaded, { status: 502, body: 'Bad gateway' }], 0],
    ['a complete one', [partial(1), overloaded, complete], 2],
    ['the last one if none has data', [overloaded, { body: { errors: [failed(undefined, {})] } }, overloaded], 2],
  ])('of several results of a query, %s is returned', async (_title, answers, best) => {
    const numbered = answers.map((answer, index) => ({ ...answer, headers: { index: String(index) } }));
    const result = await send(QUERY, numbered);
    expect(result).toMatchObject({ attempts: 3, headers: expect.anything() });
    expect('headers' in result && result.headers.get('index')).toBe(String(best));
  });
});

describe('a request whose signal is aborted', () => {
  /** Sends a query, and aborts it while its first attempt is in flight. */
  async function abortDuring(attempt: () => Promise<Response>) {
    const leaving = new AbortController();
    const retries: RetryEvent[] = [];
    const notigraph = createClient({
      url: 'https://example.com/graphql',
      onRetry: (event) => retries.push(event),
      fetch: () => {
        leaving.abort(new Error('The page is gone.'));
        return attempt();
      },
    });
    const result = await notigraph.request(QUERY, {}, { signal: leaving.signal }).catch((error: unknown) => error);
    return { result, retries };
  }

  it('fails, and is not said to be repeated', async () => {
    const { result, retries } = await abortDuring(() => Promise.reject(new TypeError('fetch failed')));
    expect(result).toEqual(new TypeError('fetch failed'));
    expect(retries).toEqual([]);
  });

  it('has its result, if that has arrived', async () => {
    const { result } = await abortDuring(async () => Response.json(complete.body));
    expect(result).toMatchObject(complete.body);
  });
});

it('the random part of a wait doesn’t exceed the time that is left', async () => {
  const random = vi.spyOn(Math, 'random').mockReturnValue(0.99);
  const waits: number[] = [];
  try {
    const body = { errors: [failed(undefined, { retryAfterSeconds: 1 })] };
    const retries = { maxAttempts: 2, maxSeconds: 1.2 };
    await send(QUERY, [{ body }], { retries, onRetry: ({ waitMs }) => waits.push(waitMs) });
  } finally {
    random.mockRestore();
  }
  expect(waits).toHaveLength(1);
  expect(waits[0]).toBeLessThanOrEqual(1_200);
});

describe.concurrent('a response of a proxy', () => {
  it.each<[title: string, attempts: number, document: string, status: number]>([
    ['is repeated for a query', 2, QUERY, 503],
    ['is not repeated for a query', 1, QUERY, 404],
    ['is not repeated for a mutation', 1, WRITE, 503],
  ])('%s: %i attempts', async (_title, attempts, document, status) => {
    const waits: number[] = [];
    const answer = await send(document, [{ status, headers: { 'retry-after': '1' }, body: '<h1>Sorry</h1>' }], {
      retries: { maxAttempts: 2 },
      onRetry: ({ waitMs }) => waits.push(waitMs),
    });
    expect(answer).toMatchObject({ attempts, error: expect.any(UnexpectedResponseError) });
    expect(waits.map((ms) => ms >= 1_000)).toEqual(attempts === 2 ? [true] : []);
  });
});

it.each(['0', 'Thu, 01 Jan 1970 00:00:00 GMT'])('a proxy’s Retry-After %j is repeated after a pause', async (after) => {
  const waits: number[] = [];
  await send(QUERY, [{ status: 429, headers: { 'retry-after': after }, body: 'Slow down' }], {
    retries: { maxAttempts: 2 },
    onRetry: ({ waitMs }) => waits.push(waitMs),
  });
  expect(waits.map((ms) => ms >= 500)).toEqual([true]);
});

describe('the credential', () => {
  it('is renewed for every attempt', async () => {
    const sent: (string | null)[] = [];
    const body = { errors: [failed(undefined, {})] };
    let renewals = 0;
    const notigraph = createClient({
      url: 'https://example.com/graphql',
      authorization: async () => `Bearer ${++renewals}`,
      fetch: async (_url, { headers }) => {
        sent.push(new Headers(headers).get('authorization'));
        return Response.json(body);
      },
    });
    await notigraph.request(QUERY);
    expect(sent).toEqual(['Bearer 1', 'Bearer 2', 'Bearer 3']);
  });

  it('is not requested again after a failure', async () => {
    let calls = 0;
    const authorization = async () => {
      calls += 1;
      throw new Error('Sign in.');
    };
    expect(await send(QUERY, [complete], { authorization })).toMatchObject({ error: new Error('Sign in.') });
    expect(calls).toBe(1);
  });
});
