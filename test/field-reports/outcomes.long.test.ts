import { connect } from 'node:net';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createClient } from '../../packages/client/src/client.ts';
import { SANDBOX_KEYS, startSandbox } from '../../packages/sandbox/src/sandbox.ts';
import type { GatewayDeps } from '../../src/gateway.ts';
import events from '../../src/modules/shipped/events.ts';
import { readRateLimit } from '../../src/upstream/transport/exchange.ts';
import { probeUpstream } from '../../src/upstream/transport/probe.ts';
import { connectAgent, MCP } from '../support/agent.ts';
import { measureCpu } from '../support/cpu-time.ts';
import { type GatewayWithService, startGateway } from '../support/gateway.ts';
import { guards } from '../support/guards.ts';
import { type Sent, setUpImport } from '../support/import.ts';
import { feed, group, workflow } from '../support/records.ts';
import { createTemporaryFolder } from '../support/sandbox-files.ts';
import {
  type Script,
  type ScriptedService,
  type ServiceRequest,
  type ServiceResponse,
  startService,
} from '../support/service.ts';
import { startClient } from '../support/upstream-client.ts';

guards('src/upstream/calls/call.ts', 'Call.#attemptEnded');
guards('src/http/pipeline/client-errors.ts', 'createClientErrors.toUpstreamClientError');
guards('src/upstream/transport/socket-pool.ts', 'SocketPool.#send');
guards('src/upstream/transport/socket-pool.ts', 'SocketPool.#take');
guards('src/upstream/policies/throttle.ts', 'createThrottle.note');
guards('packages/cli/src/import/send.ts', 'assertUsable');
guards('packages/cli/src/import/send.ts', 'sendRow');

const READ = '{ workflow(idOrIdentifier: "w1") { name } }';
const CREATE = 'mutation { createFeed(input: { name: "News" }) { __typename } }';
const NAME = { workflow: { name: 'Workflow' } };

const MODES = ['none', 'credential'] as const;

const succeed = ({ method }: Pick<ServiceRequest, 'method'>): ServiceResponse => ({
  body: { data: method === 'POST' ? feed() : workflow() },
});

const fail = (status: number) => ({ status, body: { statusCode: status, message: 'Failed' } });

const connectionsOf = ({ requests }: ScriptedService) => requests.map(({ connection }) => connection);

/** A balancer assigns connections to pods in turn. The first of each pair is sick, and keeps its connections open. */
const everySecondSick: Script = (request) => (request.connection % 2 === 1 ? fail(503) : succeed(request));

it.each(MODES)(
  'R7: every read succeeds with its first retry if one of two pods is sick (isolation %s)',
  async (isolateConnections) => {
    await using gateway = await startGateway({ service: everySecondSick, isolateConnections });
    for (let read = 0; read < 12; read += 1) {
      expect(await gateway.run(READ)).toEqual(NAME);
      gateway.advance(2.5);
    }
    expect(connectionsOf(gateway.service)).toEqual([1, ...Array.from({ length: 12 }, () => 2)]);
    expect(gateway.service.open()).toBe(1);
  },
);

it('R7: queued reads are sent on the connections that replace those of a sick pod, and never on more than permitted', async () => {
  await using gateway = await startGateway({ service: everySecondSick, sockets: 2 });
  const ids = Array.from({ length: 12 }, (_, i) => `w${i}`);
  const results = await Promise.all(
    ids.map((id) => gateway.run(`{ workflow(idOrIdentifier: "${id}") { name } }`, `key-${id}`)),
  );
  expect(results).toEqual(ids.map(() => NAME));
  expect(gateway.service.requests).toHaveLength(14); // The first and the third connection have failed once.
  expect(gateway.service.connections()).toBe(4);
  await expect.poll(() => gateway.service.open()).toBe(2);
});

it('R7: retries use new connections, because idle ones can lead to the same sick pod', async () => {
  let isSick = false;
  const script: Script = (request) => (isSick && request.connection <= 6 ? fail(503) : succeed(request));
  await using gateway = await startGateway({ service: script, maxRetries: 1 });
  await gateway.accept('a');
  const ids = Array.from({ length: 6 }, (_, i) => `w${i}`);
  const held = gateway.service.hold(undefined, 6);
  const first = Promise.all(ids.map((id) => gateway.run(`{ workflow(idOrIdentifier: "${id}") { name } }`)));
  await gateway.service.arrived(6);
  held.release();
  await first;
  expect(gateway.service.connections()).toBe(6);
  isSick = true;
  for (let read = 0; read < 4; read += 1) {
    expect(await gateway.run(READ)).toEqual(NAME);
  }
});

it.each([502, 503, 504])(
  'a connection that answered %i to a write or a read is closed after the response',
  async (status) => {
    let held: (() => void) | undefined;
    await using gateway = await startGateway({
      service: (request, connection) => {
        if (request.connection > 1) {
          return succeed(request);
        }
        connection.send(`HTTP/1.1 ${status} Failed\r\ncontent-type: application/json\r\ncontent-length: 4\r\n\r\n{ `);
        held = () => connection.send(' }');
        return undefined;
      },
    });
    const write = gateway.run(CREATE);
    await expect.poll(() => held !== undefined).toBe(true);
    expect(gateway.service.open()).toBe(1); // Not before the response is complete.
    held?.();
    expect(await write).toEqual([status === 504 ? 'UPSTREAM_TIMEOUT' : 'UPSTREAM_UNAVAILABLE']);
    await gateway.service.allClosed(1_000);
    expect(await gateway.run(READ)).toEqual(NAME);
    expect(connectionsOf(gateway.service)).toEqual([1, 2]);
  },
);

it('a connection that answered 500, 429 or 404 stays open', async () => {
  const statuses = [500, 404, 429];
  await using gateway = await startGateway({
    service: (request) => {
      const status = statuses.shift();
      return status === undefined ? succeed(request) : fail(status);
    },
  });
  for (let read = 0; read < 3; read += 1) {
    await gateway.run(READ);
  }
  expect(new Set(connectionsOf(gateway.service))).toEqual(new Set([1]));
});

it('the probe of the circuit breaker uses another connection than the failures before it', async () => {
  const script: Script = (request) => (request.connection <= 20 ? fail(503) : succeed(request));
  await using gateway = await startGateway({ service: script, maxRetries: 0 });
  const codes: unknown[] = [];
  for (let read = 0; read < 25; read += 1) {
    codes.push(await gateway.run(READ));
  }
  expect(codes).toEqual(Array.from({ length: 25 }, () => ['UPSTREAM_UNAVAILABLE']));
  expect(gateway.service.connections()).toBe(20); // A flood of failures opens as many connections as the breaker lets requests pass.
  gateway.advance(2);
  expect(await gateway.run(READ)).toEqual(NAME);
});

it('the check of the service at start closes a connection that answered 503', async () => {
  await using client = await startClient(() => fail(503));
  expect(await probeUpstream(new URL(client.upstream.url), client.pool)).toContain('status 503');
  await client.upstream.allClosed(1_000);
});

/** Sockets that are closed neither because they are idle on a busy machine, nor because another key needs one. */
const ONE_SOCKET_PER_KEY = { isolateConnections: 'credential', socketIdleMs: 60_000 } as const;

/** Starts two services, and a gateway that connects to the first until the name of the service is resolved to the other one. */
async function startMovingService(script: Script) {
  const after = await startService(script);
  let port: string | undefined;
  const open: NonNullable<GatewayDeps['connect']> = (options, callback) => {
    const socket = connect(Number(port ?? options.port), '127.0.0.1');
    socket.once('connect', () => callback(null, socket)).once('error', (error) => callback(error, null));
  };
  const gateway = await startGateway({ service: script, ...ONE_SOCKET_PER_KEY }, { connect: open });
  return {
    ...gateway,
    after,
    move() {
      ({ port } = new URL(after.url));
    },
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]();
      await after[Symbol.asyncDispose]();
    },
  };
}

it('R8: another address of the service is used within 70 s under constant load, and connections are kept for 50 s', async () => {
  await using gateway = await startMovingService(succeed);
  const keys = ['a', 'b', 'c'];
  for (const key of keys) {
    await gateway.run(READ, key);
  }
  gateway.move();
  const opened = gateway.service.connections();
  for (let passed = 1; passed < 70; passed += 1) {
    if (passed === 50) {
      expect([gateway.service.connections(), gateway.after.connections()]).toEqual([opened, 0]);
    }
    gateway.advance(1);
    for (const key of keys) {
      expect(await gateway.run(READ, key)).toEqual(NAME);
    }
  }
  gateway.advance(1);
  gateway.after.forget();
  for (const key of keys) {
    expect(await gateway.run(READ, key)).toEqual(NAME);
  }
  expect(gateway.after.requests).toHaveLength(3);
  await gateway.service.allClosed();
});

it('R8: a request in flight is not interrupted when its connection is old', async () => {
  await using gateway = await startMovingService(succeed);
  await gateway.run(READ);
  gateway.move();
  const held = gateway.service.hold();
  const slow = gateway.run(READ);
  await held.arrived;
  gateway.advance(100);
  held.release();
  expect(await slow).toEqual(NAME);
  await gateway.service.allClosed(1_000); // As soon as it has ended, not when the connection is needed again.
  expect(await gateway.run(READ)).toEqual(NAME);
  expect([gateway.service.requests.length, gateway.after.requests.length]).toEqual([2, 1]);
});

it('R8: an idle connection that is old is not used again', async () => {
  await using gateway = await startMovingService(succeed);
  await gateway.run(READ);
  gateway.move();
  gateway.advance(70);
  expect(await gateway.run(READ)).toEqual(NAME);
  expect([gateway.service.requests.length, gateway.after.requests.length]).toEqual([1, 1]);
});

/** Creates the script of a service that stores the response to each idempotency key, and replays it. The first response is given; others succeed. */
function storing(first: ServiceResponse): Script {
  const stored = new Map<string, ServiceResponse>();
  return (request) => {
    const { 'idempotency-key': key } = request.headers;
    const earlier = key === undefined ? undefined : stored.get(key);
    if (earlier !== undefined) {
      return { ...earlier, headers: { ...earlier.headers, 'Idempotency-Replay': 'true' } };
    }
    const response = stored.size === 0 && key !== undefined ? first : succeed(request);
    if (key !== undefined && response) {
      stored.set(key, response);
    }
    return response;
  };
}

const createWith = (key: string) =>
  `mutation { createFeed(input: { name: "News", idempotencyKey: "${key}" }) {
    __typename ... on CreateFeedSuccess { replayed } ... on MutationError { message replayed } } }`;

const CREATED = { createFeed: { __typename: 'CreateFeedSuccess', replayed: false } };

describe('R13: a failure that the service stores under the idempotency key', () => {
  it('is not retried if it is a 503, and the error asks for a new key', async () => {
    await using gateway = await startGateway({ service: storing(fail(503)), upstreamIdempotency: true });
    const { body } = await gateway.send(createWith('k1'));
    expect(gateway.service.requests).toHaveLength(2); // The retry is the first to see the header.
    expect(body.errors).toEqual([
      expect.objectContaining({
        message:
          'The notification service is unavailable. The change may have been applied. Check before sending it again. The service stored this failure under the idempotency key, so use a new key.',
        extensions: {
          code: 'UPSTREAM_UNAVAILABLE',
          retryable: false,
          requestId: expect.any(String),
          outcome: 'UNKNOWN',
          replayed: true,
          upstream: { status: 503, method: 'POST', route: '/v1/feeds' },
        },
      }),
    ]);
    expect((await gateway.send(createWith('k1'))).body.errors).toMatchObject([{ extensions: { replayed: true } }]);
    expect(gateway.service.requests).toHaveLength(3);
    expect(await gateway.data(createWith('k2'))).toEqual(CREATED);
  });

  it('is no outage: it opens no circuit breaker, and its connection stays open', async () => {
    await using gateway = await startGateway({ service: storing(fail(503)), maxRetries: 0 });
    for (let write = 0; write < 30; write += 1) {
      await gateway.send(createWith('k1'));
    }
    expect(gateway.service.requests).toHaveLength(30);
    expect(gateway.service.connections()).toBe(2); // The first response was an outage.
  });

  it('is a failure with `replayed` if it is a 400', async () => {
    await using gateway = await startGateway({
      service: storing({ status: 400, body: { message: ['name is not available'] } }),
    });
    const message = 'name is not available';
    const failure = { __typename: 'InvalidInputError', message, replayed: false };
    expect(await gateway.data(createWith('k1'))).toEqual({ createFeed: failure });
    const advice = 'The service stored this failure under the idempotency key, so use a new key.';
    expect(await gateway.data(createWith('k1'))).toEqual({
      createFeed: { ...failure, message: `${message}. ${advice}`, replayed: true },
    });
    expect(await gateway.data(createWith('k2'))).toEqual(CREATED);
  });

  it('is a failure with `replayed` of an item of a bulk mutation', async () => {
    await using gateway = await startGateway({ service: storing(fail(503)), maxRetries: 0 });
    const document = `mutation { createSubscribers(input: { subscribers: [{ subscriberId: "u", idempotencyKey: "k1" }] }) {
      results { __typename ... on MutationError { replayed } ... on UpstreamFailure { retryable outcome status } } } }`;
    const item = { __typename: 'UpstreamFailure', retryable: false, outcome: 'UNKNOWN', status: 503 };
    expect(await gateway.data(document)).toEqual({ createSubscribers: { results: [{ ...item, replayed: false }] } });
    expect(await gateway.data(document)).toEqual({ createSubscribers: { results: [{ ...item, replayed: true }] } });
  });

  it.each([
    ['a 429', { status: 429, headers: { 'retry-after': '1' }, body: {} }, 'RATE_LIMITED'],
    ['a success that cannot be read', { status: 201, body: '{' }, 'UPSTREAM_BAD_RESPONSE'],
  ])('is not repeated if it is %s', async (_, first, code) => {
    await using gateway = await startGateway({ service: storing(first), maxRetries: 0 });
    await gateway.send(createWith('k1'));
    const { body, headers } = await gateway.send(createWith('k1'));
    expect(body.errors).toMatchObject([{ extensions: { code, retryable: false, replayed: true } }]);
    expect(body.errors?.[0]?.extensions).not.toHaveProperty('retryAfterSeconds');
    expect(headers.get('retry-after')).toBeNull();
  });

  it('that is a 429 pauses no call: the rate limit has passed since', async () => {
    const replay = {
      ...fail(429),
      headers: { 'Idempotency-Replay': 'true', 'Retry-After': '30', 'RateLimit-Remaining': '0' },
    };
    await using gateway = await startGateway({
      service: (request) => (request.method === 'POST' ? replay : succeed(request)),
    });
    expect(await gateway.run(createWith('k1'))).toEqual(['RATE_LIMITED']);
    expect(await gateway.run(READ)).toEqual(NAME);
  });

  it('is recognized only if a key was sent', async () => {
    await using gateway: GatewayWithService = await startGateway({
      service: (request) =>
        gateway.service.requests.length > 1
          ? succeed(request)
          : { ...fail(503), headers: { 'Idempotency-Replay': 'true' } },
    });
    expect(await gateway.run(READ)).toEqual(NAME);
  });

  it('is explained to AI agents, which are told to read the record and to use a new key', async () => {
    await using gateway = await startGateway({ service: storing(fail(503)), maxRetries: 0, mcp: MCP });
    await using agent = await connectAgent(gateway, 'ApiKey a');
    const input = { name: 'News', idempotencyKey: 'k1' };
    await agent.call('AddFeed', { input });
    const { text, isError } = await agent.call('AddFeed', { input });
    expect(isError).toBe(true);
    expect(text).toContain('so use a new key. Read the record before you call the tool again.');
    expect((await agent.call('AddFeed', { input: { ...input, idempotencyKey: 'k2' } })).isError).toBe(false);
  });

  it('is returned by notigraph/client, which does not repeat it with the same key', async () => {
    await using gateway = await startGateway({ service: storing(fail(503)), maxRetries: 0 });
    await gateway.send(createWith('mine'), {}, { authorization: 'ApiKey a' });
    const client = createClient({ url: gateway.url, authorization: 'ApiKey a' });
    const result = await client.request(createWith('mine'), {}, { headers: { 'idempotency-key': 'other' } });
    expect(result).toMatchObject({ attempts: 1, errors: [{ extensions: { replayed: true, retryable: false } }] });
    expect(gateway.service.requests).toHaveLength(2);
  });
});

describe('R13: an import', () => {
  const ALL_APPLIED = { code: 0, stdout: expect.stringContaining('All 3 rows of the file are applied.') };

  /** Starts an import of three rows into a service that stores failures. @param failures responses to the first requests of a subscriber */
  const setUp = (failures: Record<string, ServiceResponse[]>) => {
    const stored = new Map<string, ServiceResponse>();
    const respond = ({ subscriberId }: Sent, _path: string, key: string) => {
      const earlier = stored.get(key);
      if (earlier !== undefined) {
        return { ...earlier, headers: { 'Idempotency-Replay': 'true' } };
      }
      const response = failures[subscriberId]?.shift();
      if (response !== undefined) {
        stored.set(key, response);
      }
      return response;
    };
    return setUpImport('subscriberId,email\na,a@example.com\nb,b@example.com\nc,c@example.com\n', respond);
  };

  it('sends a row with a new key if its 503 is stored', async () => {
    const { run, sent } = await setUp({ a: [fail(503)] });
    expect(await run()).toMatchObject(ALL_APPLIED);
    const keys = sent().flatMap(({ subscriberId, key }) => (subscriberId === 'a' ? [key] : []));
    expect(keys).toEqual([keys[0], keys[0], expect.not.stringMatching(String(keys[0]))]);
  });

  it('sends a row with a new key if an earlier import has stored its failure', async () => {
    const { run, sent, results } = await setUp({
      a: [fail(503)],
      b: [{ status: 400, body: { message: ['email is not available'] } }],
      c: [{ status: 201, body: '{' }],
    });
    expect(await run()).toMatchObject({ code: 1, stdout: expect.stringContaining('1 of 3 rows is applied.') });
    expect(results().map(({ outcome }) => outcome)).toEqual(['created', 'failed', 'unknown']);
    const before = sent().length;
    expect(await run()).toMatchObject(ALL_APPLIED);
    expect(
      sent()
        .slice(before)
        .map(({ subscriberId }) => subscriberId),
    ).toEqual(['c', 'c', 'b', 'b']); // What the service has rejected comes last.
    expect(results().map(({ message }) => message)).toEqual([undefined, undefined, undefined]);
  });

  it('sends a row with a new key if the earlier import ended with a stored 402', async () => {
    const { run, sent } = await setUp({ b: [fail(402)] });
    expect(await run()).toMatchObject({ code: 1, stderr: expect.stringContaining('Correct the API key') });
    expect(await run()).toMatchObject(ALL_APPLIED);
    expect(sent().filter(({ subscriberId }) => subscriberId === 'b')).toHaveLength(3);
  });

  it.each([
    [429, 'failed', 'RATE_LIMITED'],
    [503, 'unknown', 'UPSTREAM_UNAVAILABLE'],
  ])(
    'gives up on a row whose %i is replayed for every key, and records the reason without the advice',
    async (status, outcome, code) => {
      const { run, sent, results } = await setUpImport('subscriberId,email\na,a@example.com\n', () => ({
        ...fail(status),
        headers: { 'Idempotency-Replay': 'true', 'Retry-After': '90' },
      }));
      expect(await run('--max-wait', '30')).toMatchObject({ code: 1 });
      expect(new Set(sent().map(({ key }) => key)).size).toBe(5);
      expect(sent()).toHaveLength(5);
      expect(results()).toMatchObject([{ outcome, code, message: expect.not.stringContaining('new key') }]);
    },
  );
});

const TRIGGER = `mutation { triggerEvent(input: { event: { workflow: "w", subscriberIds: ["u"] } }) {
  ... on TriggerEventSuccess { event { isProcessed } } } }`;
const GROUPS = '{ notificationGroups { name } }';
const TRIGGERED = { triggerEvent: { event: { isProcessed: true } } };

it('R13: the sandbox stores a 500 like the service, and replays it', async () => {
  await using folder = await createTemporaryFolder();
  const file = folder.path('sandbox.db');
  await using sandbox = await startSandbox({ file });
  const rewrite = (document: string) => {
    const database = new DatabaseSync(file);
    database.exec(`UPDATE workflows SET document = ${document}`);
    database.close();
  };
  rewrite("'[]' || document");
  const log = vi.spyOn(console, 'error').mockImplementation(() => {});
  onTestFinished(() => log.mockRestore());
  await using gateway = await startGateway({ upstream: sandbox.url, modules: [events] });
  const triggerWith = (key: string) =>
    gateway.send(TRIGGER.replace('"w"', '"weekly-digest"'), {}, { headers: { 'idempotency-key': key } });
  const first = await triggerWith('k1');
  expect(first.body.errors).toMatchObject([{ extensions: { code: 'UPSTREAM_ERROR', errorId: expect.any(String) } }]);
  rewrite('substr(document, 3)');
  const second = await triggerWith('k1');
  expect(second.body.errors).toMatchObject([
    { extensions: { replayed: true, outcome: 'UNKNOWN', errorId: first.body.errors?.[0]?.extensions?.errorId } },
  ]);
  expect((await triggerWith('k2')).body.data).toEqual(TRIGGERED);
  expect(log).toHaveBeenCalledTimes(1);
});

describe('R14: a rate limit of one category', () => {
  const respondTo = ({ method, path }: ServiceRequest): ServiceResponse => {
    if (path.startsWith('/v1/events')) {
      return { status: 201, body: { data: { acknowledged: true, status: 'processed', transactionId: 't' } } };
    }
    return path.startsWith('/v1/notification-groups') ? { body: { data: [group()] } } : succeed({ method });
  };

  const categoryOf = (path: string) =>
    path.startsWith('/v1/events') ? 'trigger' : path.startsWith('/v1/feeds') ? 'global' : 'configuration';

  /** Creates a service that counts categories apart. @param exhausted headers, or a whole response, by category */
  const limited =
    (
      exhausted: Record<string, ServiceResponse>,
      policyOf = (category: string) => `20;w=1;category="${category}"`,
    ): Script =>
    (request) => {
      const category = categoryOf(request.path);
      const headers = { 'ratelimit-remaining': '9', 'ratelimit-policy': policyOf(category) };
      const response = { ...respondTo(request), ...exhausted[category] };
      return { ...response, headers: { ...headers, ...response.headers } };
    };

  const REJECTED = { status: 429, headers: { 'retry-after': '30' }, body: {} };

  it('stops no calls of another one, and those of its own', async () => {
    await using gateway = await startGateway({ service: limited({ configuration: REJECTED }), modules: [events] });
    expect(await gateway.run(GROUPS)).toEqual(['RATE_LIMITED']);
    expect(await gateway.run(TRIGGER)).toEqual(TRIGGERED);
    expect(await gateway.run(CREATE)).toEqual({ createFeed: { __typename: 'CreateFeedSuccess' } });
    expect(await gateway.run(GROUPS)).toEqual(['RATE_LIMITED']);
    expect(gateway.service.calls()).toEqual([
      'GET /v1/notification-groups',
      'POST /v1/events/trigger',
      'POST /v1/feeds',
    ]);
    expect(await gateway.run(GROUPS, 'b')).toEqual(['RATE_LIMITED']);
    expect(gateway.service.requests).toHaveLength(4); // It applies to one key.
  });

  it('stops the endpoints whose last response named it, with RateLimit-Remaining: 0', async () => {
    const exhausted: Record<string, ServiceResponse> = {};
    await using gateway = await startGateway({ service: limited(exhausted), modules: [events] });
    expect([await gateway.run(READ), await gateway.run(TRIGGER)]).toEqual([NAME, TRIGGERED]);
    exhausted.configuration = { headers: { 'ratelimit-remaining': '0', 'ratelimit-reset': '30' } };
    expect(await gateway.run(GROUPS)).toEqual({ notificationGroups: [{ name: 'Group' }] });
    expect(await gateway.run(READ)).toEqual(['RATE_LIMITED']);
    expect(await gateway.run(TRIGGER)).toEqual(TRIGGERED);
    expect(gateway.service.requests).toHaveLength(4);
    gateway.advance(30);
    delete exhausted.configuration;
    expect(await gateway.run(READ)).toEqual(NAME);
  });

  it('is probed after a minute by calls of its own if it lasts longer', async () => {
    const exhausted: Record<string, ServiceResponse> = {
      configuration: { ...REJECTED, headers: { 'retry-after': '600' } },
    };
    await using gateway = await startGateway({ service: limited(exhausted), modules: [events] });
    await gateway.accept('a');
    expect([await gateway.run(GROUPS), await gateway.run(READ)]).toEqual([['RATE_LIMITED'], ['RATE_LIMITED']]);
    gateway.advance(60);
    delete exhausted.configuration;
    const held = gateway.service.hold();
    const probe = gateway.run(GROUPS);
    await held.arrived;
    expect([await gateway.run(READ), await gateway.run(TRIGGER)]).toEqual([['RATE_LIMITED'], TRIGGERED]);
    held.release();
    await probe;
    expect(await gateway.run(READ)).toEqual(NAME);
  });

  it('stops all calls of the key if a 429 names none, also while a category is probed', async () => {
    const exhausted: Record<string, ServiceResponse> = {
      configuration: { ...REJECTED, headers: { 'retry-after': '600' } },
    };
    await using gateway = await startGateway({ service: limited(exhausted), modules: [events] });
    expect(await gateway.run(CREATE)).toEqual({ createFeed: { __typename: 'CreateFeedSuccess' } });
    expect(await gateway.run(GROUPS)).toEqual(['RATE_LIMITED']);
    exhausted.trigger = { ...REJECTED, headers: { 'retry-after': '600', 'ratelimit-policy': '20;w=1' } };
    expect(await gateway.run(TRIGGER)).toEqual(['RATE_LIMITED']);
    expect(await gateway.run(CREATE)).toEqual(['RATE_LIMITED']);
    expect(gateway.service.requests).toHaveLength(3);
    gateway.advance(60);
    delete exhausted.configuration;
    delete exhausted.trigger;
    expect(await gateway.run(GROUPS)).toEqual({ notificationGroups: [{ name: 'Group' }] }); // Probes both limits.
    expect([await gateway.run(GROUPS), await gateway.run(CREATE), await gateway.run(TRIGGER)]).toEqual([
      { notificationGroups: [{ name: 'Group' }] },
      { createFeed: { __typename: 'CreateFeedSuccess' } },
      TRIGGERED,
    ]);
  });

  it('is counted by the sandbox as by the service', async () => {
    await using sandbox = await startSandbox({ rateLimit: 1, now: () => new Date('2027-01-15T12:00:00Z') });
    const send = async (path: string) => {
      const response = await fetch(sandbox.url + path, {
        headers: { authorization: `ApiKey ${SANDBOX_KEYS.development}` },
      });
      return [response.status, response.headers.get('ratelimit-policy')];
    };
    const global = '1;w=1;category="global"';
    expect(await send('/v1/notification-groups')).toEqual([200, global]);
    expect(await send('/v1/workflows/unknown')).toEqual([429, global]);
    expect(await send('/v1/subscribers')).toEqual([200, '1;w=1;category="configuration"']);
  });
});

describe('the category of a rate limit', () => {
  const read = (policy: string) =>
    readRateLimit(200, { 'ratelimit-remaining': '0', 'ratelimit-policy': policy })?.category;

  it.each([
    ['20;w=1;category="configuration"', 'configuration'],
    ['80;w=5;comment="token bucket";category="trigger"', 'trigger'],
    ['80 ; w=5 ; Category = global', 'global'],
    ['100;w=60, 20;w=1;category="trigger", 5;w=1;category="global"', 'trigger'],
    ['"default";q=100;w=10', 'default'],
    ['"burst";q=100;w=10;category="trigger", "daily";q=1000;w=86400', 'trigger'],
    ['80;comment="a;category=\\"no\\";category=no";w=5;category="yes"', 'yes'],
    ['80;comment="a;category=no"', undefined],
    ['100;w=60', undefined],
    ['80;category=""', undefined],
    ['80;category="unclosed', undefined],
    [`80;category="${'x'.repeat(65)}"`, undefined],
    [`80;${'x'.repeat(10_000)};category="late"`, undefined],
    ['', undefined],
  ])('of %s is %s', (policy, category) => {
    expect(read(policy)).toBe(category);
  });

  it('is read in little time', async () => {
    const hostile = [`"${'\\"'.repeat(8_000)}`, ';category="'.repeat(1_500), '"'.repeat(16_000)];
    expect((await measureCpu(() => void hostile.map(read))).cpuMs).toBeLessThan(20);
  });
});
