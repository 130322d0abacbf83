import { Agent, request as sendRequest } from 'node:http';
import { describe, expect, it } from 'vitest';
import topics from '../../src/modules/shipped/topics.ts';
import {
  CREATE,
  CREATE_KEYED,
  firstOnly,
  LIST,
  READ,
  respondHealthy,
  respondWithStatus,
  SET_STATUS,
  SHORT_RETRY_DELAYS,
  setUp,
  WRITES,
  watchTimers,
} from '../support/failing-service.ts';
import { startGateway } from '../support/gateway.ts';
import { guards } from '../support/guards.ts';
import { healthyResponse } from '../support/healthy-service.ts';
import { settledBytes } from '../support/heap.ts';
import { MISBEHAVIORS, type Misbehavior } from '../support/misbehaviors.ts';
import { workflow } from '../support/records.ts';
import { formatResponse, type Script, type ScriptedService, startService } from '../support/service.ts';

guards('src/upstream/transport/body.ts', 'readText');
guards('src/upstream/failures.ts', 'FAILURES.brokenConnection.outcome');
guards('src/upstream/policies/retry.ts', 'Retry.delayOf');
guards('src/upstream/transport/attempt.ts', 'Attempt.onResponseStart');
guards('src/upstream/transport/to-error.ts', 'isProtocolError');

watchTimers();

describe('a connection that is refused', () => {
  it('is retried twice, and writes fail with outcome NOT_APPLIED', async () => {
    await using setup = await setUp(respondHealthy, { ...SHORT_RETRY_DELAYS });
    await setup.upstream.refuse();
    expect(await setup.run(READ)).toMatchObject({
      result: null,
      error: { code: 'UPSTREAM_UNAVAILABLE', retryable: true },
    });
    for (const write of [CREATE, WRITES.deleteFeed, WRITES.updateNotificationGroup]) {
      expect((await setup.run(write)).error).toMatchObject({
        code: 'UPSTREAM_UNAVAILABLE',
        outcome: 'NOT_APPLIED',
        retryable: true,
      });
    }
    expect(setup.gateway.log.flatMap(({ upstreamCalls }) => upstreamCalls ?? [])).toEqual([3, 3, 3, 3]);
    expect(setup.calls()).toEqual([]);
  });

  it('and then accepted lets a write succeed', async () => {
    const random = () => {
      void setup.upstream.listen();
      return 1;
    };
    await using setup = await setUp(respondHealthy, { random });
    await setup.upstream.refuse();
    expect(await setup.run(CREATE)).toMatchObject({ result: { __typename: 'CreateFeedSuccess' }, error: undefined });
    expect(setup.calls()).toEqual(['POST']);
  });
});

describe('a TLS connection', () => {
  it('that fails with a protocol error is not retried, and a write has outcome NOT_APPLIED', async () => {
    await using upstream = await startService(() => {}, {
      onConnect: ({ send }) => send('HTTP/1.1 400 No\r\n\r\n'),
    });
    await using gateway = await startGateway({ upstream: upstream.url.replace('http:', 'https:') });
    for (const [document, outcome] of [
      [READ, undefined],
      [CREATE, 'NOT_APPLIED'],
    ] as const) {
      const connections = upstream.connections();
      const { body } = await gateway.send(document);
      const { extensions } = body.errors?.[0] ?? {};
      expect([extensions?.code, extensions?.outcome]).toEqual(['UPSTREAM_UNAVAILABLE', outcome]);
      expect(upstream.connections() - connections).toBe(1);
    }
  });

  it('that closes during its handshake is retried even for a write, which has outcome NOT_APPLIED', async () => {
    await using upstream = await startService(() => {}, { onConnect: ({ end }) => end() });
    await using gateway = await startGateway({ upstream: upstream.url.replace('http:', 'https:') }, SHORT_RETRY_DELAYS);
    const { body } = await gateway.send(CREATE);
    expect(body.errors?.[0]?.extensions).toMatchObject({ code: 'UPSTREAM_UNAVAILABLE', outcome: 'NOT_APPLIED' });
    expect(upstream.connections()).toBe(3);
  });
});

describe('an upstream that breaks HTTP', () => {
  /** Misbehaviors that last until a time limit, and those that break the connection. All others make the response invalid. */
  const LATE: readonly Misbehavior[] = [
    'never responds',
    'drips its head',
    'drips its body',
    'sends only a 103',
    'sends less than Content-Length and waits',
  ];
  const CUT: readonly Misbehavior[] = [
    'closes at once',
    'resets at once',
    'resets after its head',
    'sends less than Content-Length and closes',
    'leaves its chunks unfinished',
    'leaves its last chunks unfinished',
  ];

  /** Returns the code of the error, and the number of requests for one read that may be retried once, or not at all if each takes its time. */
  function expectedOf(name: Misbehavior): [code: string, reads: number] {
    return LATE.includes(name)
      ? ['UPSTREAM_TIMEOUT', 1]
      : CUT.includes(name)
        ? ['UPSTREAM_UNAVAILABLE', 2]
        : ['UPSTREAM_BAD_RESPONSE', 1];
  }

  it.each(Object.entries(MISBEHAVIORS))('and %s never causes a success', async (name, misbehave) => {
    const [code, reads] = expectedOf(name as Misbehavior);
    const waits = code === 'UPSTREAM_TIMEOUT' || name === 'drips an HTML page';
    const echo = 'canary-key-5c1e';
    await using setup = await setUp((_, connection) => misbehave(connection, echo), {
      ...SHORT_RETRY_DELAYS,
      maxRetries: waits ? 0 : 1,
      ...(waits && { attemptTimeoutMs: 400 }), // Enough to send a request on a busy machine.
    });
    const [read, write] = await Promise.all([setup.run(READ), setup.run(CREATE)]);
    expect(read).toMatchObject({ result: null, error: { code } });
    expect(write).toMatchObject({ result: null, error: { code, outcome: 'UNKNOWN' } });
    expect(setup.calls().toSorted()).toEqual([...Array(reads).fill('GET'), 'POST']);
    expect(JSON.stringify([read, write, setup.gateway.log])).not.toContain(echo);
  });

  it('by closing the connection after every response fails no write', async () => {
    await using setup = await setUp((request, connection) => {
      connection.answer(healthyResponse(request));
      connection.end();
    });
    for (let i = 0; i < 20; i += 1) {
      expect((await setup.run(CREATE)).error).toBeUndefined();
    }
    expect(setup.calls()).toHaveLength(20);
  });

  it.each([
    ['at once', 0],
    ['a little later', 5],
  ])('by responding twice, %s, never delivers the second response', async (_, pauseMs) => {
    await using setup = await setUp((_request, { send }) => {
      const second = formatResponse({ body: { data: workflow({ name: 'of another' }) } });
      const first = formatResponse({ body: { data: workflow({ name: 'asked for' }) } });
      if (pauseMs === 0) {
        send(first + second);
      } else {
        send(first);
        setTimeout(send, pauseMs, second);
      }
    });
    for (let i = 0; i < 5; i += 1) {
      expect(await setup.run(READ)).toMatchObject({ result: { name: 'asked for' } });
      await setup.upstream.allClosed(); // The connection is closed, not reused.
    }
  });

  it.each([200, 5])('by sending interim responses first, in pieces of %i bytes, is tolerated', async (size) => {
    const interim = ['103 Early Hints\r\nlink: </a>\r\n', '102 Processing\r\n'];
    await using setup = await setUp(async (request, { send }) => {
      const bytes = interim.map((head) => `HTTP/1.1 ${head}\r\n`).join('') + formatResponse(healthyResponse(request));
      for (let at = 0; at < bytes.length; at += size) {
        send(bytes.slice(at, at + size));
        await new Promise((resolve) => setImmediate(resolve)); // The gateway reads this piece before the next one is sent.
      }
    });
    for (let i = 0; i < 3; i += 1) {
      expect(await setup.run(READ)).toMatchObject({ result: { id: 'w1' }, error: undefined });
    }
    expect(setup.upstream.requests.map(({ connection }) => connection)).toEqual([1, 1, 1]);
  });

  it('by closing the connection to end the body is tolerated', async () => {
    await using setup = await setUp((request, { send, end }) => {
      send(formatResponse(healthyResponse(request)).replace(/content-length: \d+\r\n/, ''));
      end();
    });
    expect(await setup.run(READ)).toMatchObject({ result: { id: 'w1' }, error: undefined });
  });
});

/** A read, a write that can be repeated, and one that can't. Each field is one of them: see `field-contract.ts`. */
const ALL = [READ, SET_STATUS, CREATE];

describe.each<[string, Script, string]>([
  ['a reset', (_, { reset }) => reset(), 'UPSTREAM_UNAVAILABLE'],
  ['no response in time', () => {}, 'UPSTREAM_TIMEOUT'],
  ...[408, 502, 503, 520, 522, 524, 530].map((status): [string, Script, string] => [
    `R5: a ${status}`,
    respondWithStatus(status),
    'UPSTREAM_UNAVAILABLE',
  ]),
  ['a 504', respondWithStatus(504), 'UPSTREAM_TIMEOUT'],
  ['a 429', respondWithStatus(429), 'RATE_LIMITED'],
])('%s', (failure, fail, code) => {
  const isRejected = code === 'RATE_LIMITED';
  const waits = failure === 'no response in time';
  const repeated = isRejected ? ALL : [READ, SET_STATUS];
  const options = { ...SHORT_RETRY_DELAYS, ...(waits && { attemptTimeoutMs: 300 }) };

  it('causes three requests of operations that may be repeated, and one of others', async () => {
    await using setup = await setUp(fail, options);
    for (const document of ALL) {
      setup.upstream.forget();
      const { result, error } = await setup.run(document);
      expect(result).toBeNull();
      expect(error).toMatchObject({ code, retryable: isRejected || document === READ });
      expect(error?.outcome).toBe(document === READ ? undefined : isRejected ? 'NOT_APPLIED' : 'UNKNOWN');
      expect(setup.calls()).toHaveLength(repeated.includes(document) ? 3 : 1);
    }
  });

  it('is hidden by a retry', async () => {
    await using setup = await setUp(respondHealthy, options);
    for (const document of repeated) {
      setup.upstream.script = firstOnly(fail);
      setup.upstream.forget();
      expect((await setup.run(document)).error).toBeUndefined();
      expect(setup.calls()).toHaveLength(2);
    }
  });
});

it.each([
  [500, 'UPSTREAM_ERROR', 'UNKNOWN'],
  [307, 'UPSTREAM_BAD_RESPONSE', 'NOT_APPLIED'],
])('a %i is not retried', async (status, code, outcome) => {
  await using elsewhere = await startService(respondHealthy);
  const headers = { location: `${elsewhere.url}/v1/workflows/w1` };
  await using setup = await setUp(respondWithStatus(status, { headers }), SHORT_RETRY_DELAYS);
  for (const document of ALL) {
    const { error } = await setup.run(document);
    expect(error).toMatchObject({ code, retryable: false });
    expect(error?.outcome).toBe(document === READ ? undefined : outcome);
  }
  expect(setup.calls()).toHaveLength(ALL.length);
  expect(elsewhere.connections()).toBe(0); // Redirects are not followed.
});

// The service rounds a time until its next call to 0.
it.each(['1', '0', 'Thu, 01 Jan 1970 00:00:00 GMT'])(
  'a 429 with Retry-After %s delays a write, which then succeeds',
  async (after) => {
    await using setup = await setUp(
      firstOnly(respondWithStatus(429, { headers: { 'retry-after': after } })),
      SHORT_RETRY_DELAYS,
    );
    const { result, ms } = await setup.run(CREATE);
    expect(result).toEqual({ __typename: 'CreateFeedSuccess' });
    expect(ms).toBeGreaterThan(999);
    expect(ms).toBeLessThan(10_000);
    expect(setup.calls()).toEqual(['POST', 'POST']);
  },
);

it.each([
  [429, READ, 3, 20_000, 'RATE_LIMITED', undefined],
  [429, CREATE, 3, 20_000, 'RATE_LIMITED', 'NOT_APPLIED'],
  [429, CREATE, 2, 1_900, 'RATE_LIMITED', 'NOT_APPLIED'],
  [503, READ, 2, 1_900, 'UPSTREAM_UNAVAILABLE', undefined],
])('a %i to %s with Retry-After %i is returned to the client immediately, within %i ms', async (...row) => {
  const [status, document, seconds, operationTimeoutMs, code, outcome] = row;
  const response = respondWithStatus(status, { headers: { 'retry-after': String(seconds) } });
  await using setup = await setUp(response, { operationTimeoutMs });
  const { error, ms } = await setup.run(document);
  expect(error).toMatchObject({ code, retryable: true, retryAfterSeconds: seconds });
  expect(error?.outcome).toBe(outcome);
  expect(ms).toBeLessThan(1_000 * seconds - 100);
  expect(setup.calls()).toHaveLength(1);
});

describe('a locked idempotency key', () => {
  const LOCKED = respondWithStatus(409, { headers: { 'retry-after': '1' } });
  const keysOf = ({ upstream }: { upstream: ScriptedService }) =>
    upstream.requests.map(({ headers }) => headers['idempotency-key']);

  it('is sent again after Retry-After if the service honors keys', async () => {
    await using setup = await setUp(firstOnly(LOCKED), { ...SHORT_RETRY_DELAYS, upstreamIdempotency: true });
    const { result, ms } = await setup.run(CREATE_KEYED);
    expect(result).toEqual({ __typename: 'CreateFeedSuccess' });
    expect(ms).toBeGreaterThan(999);
    const keys = keysOf(setup);
    expect([keys.length, new Set(keys).size]).toEqual([2, 1]);
  });

  it('that stays locked may have been applied, also if the connection broke before', async () => {
    const script = firstOnly((_, { reset }) => reset(), LOCKED);
    await using setup = await setUp(script, { ...SHORT_RETRY_DELAYS, upstreamIdempotency: true });
    expect((await setup.run(CREATE_KEYED)).error).toMatchObject({
      code: 'UPSTREAM_UNAVAILABLE',
      message: expect.stringMatching(/may have been applied\. Repeat the request with the same key\.$/),
      retryable: true,
      retryAfterSeconds: 1,
      outcome: 'UNKNOWN',
    });
    const keys = keysOf(setup);
    expect([keys.length, new Set(keys).size]).toEqual([3, 1]);
  });
});

describe('a retry', () => {
  it.each([401, 404, 429])(
    'of a write that ends with %i keeps the outcome UNKNOWN of the first attempt',
    async (second) => {
      const script = firstOnly(respondWithStatus(503), respondWithStatus(second));
      await using setup = await setUp(script, { ...SHORT_RETRY_DELAYS, upstreamIdempotency: true });
      const { error } = await setup.run(CREATE_KEYED);
      expect(error).toMatchObject({ outcome: 'UNKNOWN', retryable: false });
      expect(error?.message).toMatch(/may have been applied/);
    },
  );

  it('of a write whose connection is refused keeps the outcome UNKNOWN of the first attempt', async () => {
    await using setup = await setUp(() => void setup.upstream.refuse(), { ...SHORT_RETRY_DELAYS });
    expect((await setup.run(SET_STATUS)).error).toMatchObject({ code: 'UPSTREAM_UNAVAILABLE', outcome: 'UNKNOWN' });
    expect(setup.calls()).toEqual(['PUT']);
  });
});

describe('a response body', () => {
  it('with free-form data of 5,000 levels fails only operations that select it', async () => {
    const deep = JSON.stringify(workflow()).replace(/}$/, `,"data":{"x":${'['.repeat(5_000)}${']'.repeat(5_000)}}}`);
    await using setup = await setUp(respondWithStatus(200, { body: deep }));
    expect((await setup.run('{ workflow(idOrIdentifier: "w1") { data } }')).error?.code).toBe('UPSTREAM_BAD_RESPONSE');
    expect(await setup.run(READ)).toMatchObject({ result: { id: 'w1' }, error: undefined });
  });

  it('that is larger than allowed says so, with its size or the limit, and a write may have been applied', async () => {
    const respond =
      (length: string): Script =>
      (_, connection) => {
        connection.send(`HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n${length}\r\n`);
        connection.send(Buffer.alloc(65_537, ' '));
        connection.end();
      };
    await using setup = await setUp(() => {}, { maxUpstreamResponseBytes: 65_536, modules: [topics] });
    const RENAME = 'mutation { renameTopic(input: { key: "t", name: "T" }) { __typename } }';
    for (const [length, size] of [
      ['content-length: 65537\r\n', '65537'],
      ['', 'more than 65536'],
    ] as const) {
      setup.upstream.script = respond(length);
      const message = `The notification service sent a response that can't be used: the body is larger than allowed (${size} bytes; maxUpstreamResponseBytes is 65536).`;
      for (const document of ['{ topic(key: "t") { key } }', '{ topics { page } }', READ]) {
        const { error } = await setup.run(document);
        expect(error).toMatchObject({ code: 'UPSTREAM_BAD_RESPONSE', retryable: false, message });
      }
      expect((await setup.run(RENAME)).error).toMatchObject({
        outcome: 'UNKNOWN',
        message: `${message} The change may have been applied. Check before sending it again.`,
      });
    }
    setup.upstream.script = () => ({ body: `{"data":${JSON.stringify(workflow())}}`.padEnd(65_536) });
    expect((await setup.run(READ)).error).toBeUndefined();
  });

  it('of 6 MiB or of endless size is aborted, and its memory is released', async () => {
    const chunk = Buffer.alloc(64 * 1024, ' ');
    const written: (() => number)[] = [];
    await using setup = await setUp(({ path }, connection) => {
      written.push(connection.written);
      const isEndless = path.endsWith('/endless');
      const length = isEndless ? '' : `content-length: ${6 * 1024 * 1024}\r\n`;
      connection.send(`HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n${length}\r\n`);
      connection.flood(chunk);
    });
    const before = await settledBytes();
    for (let i = 0; i < 20; i += 1) {
      const { error } = await setup.run(`{ workflow(idOrIdentifier: "${i % 2 === 0 ? 'endless' : 'large'}") { id } }`);
      expect(error).toMatchObject({ code: 'UPSTREAM_BAD_RESPONSE' });
    }
    await setup.upstream.allClosed();
    expect(setup.calls()).toHaveLength(20);
    expect(Math.max(...written.map((count) => count()))).toBeLessThan(20 * 1024 * 1024);
    expect((await settledBytes()) - before).toBeLessThan(8 * 1024 * 1024);
  });
});

/** Sends an operation over its own connection. Returns a function that disconnects. */
async function sendUntilDisconnect(url: string, key: string, query: string) {
  const agent = new Agent();
  const headers = { 'content-type': 'application/json', authorization: `ApiKey ${key}` };
  const request = sendRequest(url, { method: 'POST', agent, headers });
  request.on('error', () => {}); // Disconnecting causes an error.
  const { promise: flushed, resolve } = Promise.withResolvers<void>();
  request.end(JSON.stringify({ query }), resolve);
  await flushed;
  return () => {
    request.destroy();
    agent.destroy();
  };
}

it('a client that disconnects together with a thousand others leaves no sockets and timers behind', async () => {
  let started = 0;
  let onBatch = () => {};
  const onExecute = () => {
    started += 1;
    if (started % 200 === 0) {
      onBatch();
    }
  };
  const patient = { operationTimeoutMs: 60_000, attemptTimeoutMs: 60_000 };
  await using setup = await setUp(
    respondHealthy,
    { ...patient, plugins: [{ onExecute }] },
    { maxInFlightRequests: 1_000 },
  );
  for (let i = 0; i < 100; i += 1) {
    await setup.gateway.data(LIST, {}, { authorization: `ApiKey key-${i}` }); // The service accepts the keys.
  }
  setup.upstream.script = () => {};
  setup.upstream.forget();
  started = 0;
  const query = (i: number) => `{ workflow(idOrIdentifier: "w${i}") { id } }`;
  const disconnects: (() => void)[] = [];
  while (disconnects.length < 1_000) {
    const executing = new Promise<void>((resolve) => {
      onBatch = resolve;
    });
    const ids = Array.from({ length: 200 }, (_, i) => disconnects.length + i);
    disconnects.push(
      ...(await Promise.all(ids.map((i) => sendUntilDisconnect(setup.gateway.url, `key-${i % 100}`, query(i))))),
    );
    // Waits until the requests are executing: one that is not accepted yet could be sent after the others have disconnected.
    await executing;
  }
  await setup.upstream.arrived(64);
  const sent = new Set(setup.upstream.requests.map(({ path }) => Number(/\d+$/.exec(path)?.[0])));
  for (const disconnect of disconnects.filter((_, i) => !sent.has(i))) {
    disconnect();
  }
  await expect.poll(setup.gateway.running, { timeout: 20_000 }).toBe(64); // Only requests with a connection are left.
  for (const i of sent) {
    disconnects[i]?.();
  }
  await setup.upstream.allClosed();
  expect(await setup.gateway.data('{ __typename }')).toEqual({ __typename: 'Query' });
  expect(setup.upstream.mostOpen()).toBe(64);
  expect(setup.calls()).toHaveLength(64);
});
