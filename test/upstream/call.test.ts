import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { getEventListeners } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { endpoint } from '../../src/upstream/endpoint.ts';
import { errorOf, isUpstreamError, type UpstreamError } from '../../src/upstream/errors.ts';
import { firstOnly } from '../support/failing-service.ts';
import { guards } from '../support/guards.ts';
import { workflow } from '../support/records.ts';
import type { Script } from '../support/service.ts';
import { codeOf, deferResponses, RecordedEvents, respondWithName, startClient } from '../support/upstream-client.ts';

guards('src/upstream/calls/call.ts', 'Call.#attemptEnded');
guards('src/upstream/calls/call.ts', 'Call.#endRunning');
guards('src/upstream/calls/call.ts', 'Call.leave');
guards('src/upstream/calls/call.ts', 'Call.proceed');
guards('src/upstream/errors.ts', 'endedEarly');

// The transitions of a call: see the diagram in ARCHITECTURE.md. Each test asserts the result, the requests and the events in their order.

const succeed: Script = (_, { answer }) => answer({ body: { data: workflow() } });
const fail: Script = (_, { answer }) => answer({ status: 503, body: {} });

/** Events of a call whose first response is that of `fail`, until it ends or is retried. */
const FAILED_ATTEMPT = ['started', 'sent 0', 'attempt ended UPSTREAM_UNAVAILABLE'];

/** Creates an operation that can be cancelled. */
function createOperation(withinMs = 20_000) {
  const client = new AbortController();
  return {
    events: new RecordedEvents(),
    signal: client.signal,
    withinMs,
    disconnect: (reason?: unknown) => client.abort(reason),
  };
}

/** Returns the error of a call that must fail. */
const failureOf = (call: Promise<unknown>): Promise<UpstreamError> =>
  call.then(
    () => Promise.reject(new Error('The call succeeded.')),
    (failure: unknown) => (isUpstreamError(failure) ? failure : Promise.reject(failure)),
  );

/** Jitter with which retries follow at once, or after a minute. */
const AT_ONCE = () => 0;
const LATE = () => 600;
const ONE_SLOT = { maxConcurrentCallsPerKey: 1 };

type Client = Awaited<ReturnType<typeof startClient>>;

/** Expects that the calls of key `a`, which has one slot, left nothing behind: another call is sent at once. */
async function expectFreeSlot({ caller, service, upstream }: Client): Promise<void> {
  upstream.script = succeed;
  expect(service.state().waiting).toBe(0);
  const { events, ...operation } = createOperation();
  expect(await caller('a', { events, ...operation }).getWorkflow('next')).toMatchObject({ name: expect.any(String) });
  expect(events.all).toEqual(['started', 'sent 0', 'attempt ended 200', 'ended 200']);
}

/** Starts calls of three other keys whose retries get no response, and so are all that may be in flight. They end when the operation disconnects. */
async function takeRetryBudget({ caller, upstream }: Client) {
  const operation = createOperation(120_000);
  const failed = new Set<string | undefined>();
  upstream.script = (request, connection) => {
    const { authorization } = request.headers;
    if (!failed.has(authorization)) {
      failed.add(authorization);
      fail(request, connection);
    }
  };
  const ends = ['x', 'y', 'z'].map((key) => caller(key, operation).getWorkflow('w').catch(codeOf));
  await upstream.arrived(6);
  return {
    async disconnect() {
      operation.disconnect();
      await Promise.all(ends);
    },
  };
}

describe('a call', () => {
  it('is sent while a slot is free, and ends with its response', async () => {
    await using client = await startClient(succeed, ONE_SLOT);
    const { events, signal, withinMs } = createOperation();
    expect(await client.caller('a', { events, signal, withinMs }).getWorkflow('w1')).toMatchObject({ active: true });
    expect(events.all).toEqual(['started', 'sent 0', 'attempt ended 200', 'ended 200']);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
    await expectFreeSlot(client);
  });

  it('waits while all slots are taken, and is sent when a call leaves', async () => {
    const { pending, script } = deferResponses();
    await using client = await startClient(script, ONE_SLOT);
    const operation = createOperation();
    const first = client.caller('a').getWorkflow('w1');
    const second = client.caller('a', operation).getWorkflow('w2');
    await client.upstream.arrived(1);
    expect(operation.events.all).toEqual(['started', 'queued']);
    expect(client.service.state().waiting).toBe(1);
    respondWithName(pending[0], 'first');
    await first;
    await client.upstream.arrived(2);
    respondWithName(pending[1], 'second');
    expect((await second)?.name).toBe('second');
    expect(operation.events.all).toEqual(['started', 'queued', 'dequeued', 'sent 0', 'attempt ended 200', 'ended 200']);
    await expectFreeSlot(client);
  });

  it('ends at once if too many wait', async () => {
    const { pending, script } = deferResponses();
    await using client = await startClient(script, ONE_SLOT);
    const first = client.caller('a').getWorkflow('w1');
    const others = createOperation();
    const waiting = Array.from({ length: 50 }, () => [client.caller('a', others), client.caller('a', others)])
      .flat()
      .map((caller, i) => caller.getWorkflow(`queued-${i}`).catch(codeOf));
    const operation = createOperation();
    const failure = await failureOf(client.caller('a', operation).createFeed('n'));
    expect(failure).toMatchObject({ code: 'OVERLOADED', outcome: 'NOT_APPLIED', sent: false });
    expect(operation.events.all).toEqual(['started', 'ended OVERLOADED']);
    await client.upstream.arrived(1);
    others.disconnect();
    expect(new Set(await Promise.all(waiting))).toEqual(new Set(['CLIENT_CLOSED']));
    respondWithName(pending[0], 'first');
    await first;
    await expectFreeSlot(client);
    expect(client.upstream.requests).toHaveLength(2);
  });

  it.each([
    ['read', 'its client disconnects', 'CLIENT_CLOSED', 20_000],
    ['write', 'its client disconnects', 'CLIENT_CLOSED', 20_000],
    ['read', 'its deadline passes', 'UPSTREAM_TIMEOUT', 100],
    ['write', 'its deadline passes', 'UPSTREAM_TIMEOUT', 100],
  ])('that waits for a slot (%s) ends without being sent if %s', async (kind, _end, code, withinMs) => {
    const { pending, script } = deferResponses();
    await using client = await startClient(script, ONE_SLOT);
    const first = client.caller('a', { withinMs: 20_000 }).getWorkflow('w1');
    await client.upstream.arrived(1);
    const operation = createOperation(withinMs);
    const caller = client.caller('a', operation);
    const failure = failureOf(kind === 'read' ? caller.getWorkflow('w2') : caller.createFeed('n'));
    expect(client.service.state().waiting).toBe(1);
    if (code === 'CLIENT_CLOSED') {
      operation.disconnect();
    }
    expect(await failure).toMatchObject({ code, sent: false, outcome: kind === 'read' ? undefined : 'NOT_APPLIED' });
    expect(operation.events.all).toEqual(['started', 'queued', 'dequeued', `ended ${code}`]);
    expect(client.service.state().waiting).toBe(0);
    respondWithName(pending[0], 'first');
    await first;
    await expectFreeSlot(client);
    expect(client.upstream.requests.map(({ path }) => path.split('/').at(-1))).toEqual(['w1', 'next']);
  });

  it.each([
    ['client disconnects', 20_000],
    ['deadline passes', 200],
  ])('that waits does not get the slot of another call of its operation when the %s', async (end, withinMs) => {
    await using client = await startClient(succeed, ONE_SLOT);
    await Promise.all(['w1', 'w2'].map((id) => client.caller('b').getWorkflow(id))); // Leaves an idle socket.
    const { pending, script } = deferResponses();
    client.upstream.script = script;
    const before = client.upstream.requests.length;
    const operation = createOperation(withinMs);
    const caller = client.caller('a', operation);
    const writes = [failureOf(caller.createFeed('1')), failureOf(caller.createFeed('2'))];
    await client.upstream.arrived(before + 1);
    if (end === 'client disconnects') {
      operation.disconnect();
    }
    expect((await Promise.all(writes)).map(({ outcome }) => outcome)).toEqual(['UNKNOWN', 'NOT_APPLIED']);
    expect(operation.events.all.filter((event) => event === 'sent 0')).toHaveLength(1);
    await expectFreeSlot(client);
    expect(client.upstream.requests).toHaveLength(before + 2);
    expect(pending).toHaveLength(1);
  });

  it('ends with the error of a response that may not be repeated', async () => {
    await using client = await startClient(fail, ONE_SLOT);
    const operation = createOperation();
    const failure = await failureOf(client.caller('a', operation).createFeed('n'));
    expect(failure).toMatchObject({ code: 'UPSTREAM_UNAVAILABLE', outcome: 'UNKNOWN', status: 503 });
    expect(operation.events.all).toEqual([...FAILED_ATTEMPT, 'ended UPSTREAM_UNAVAILABLE']);
    await expectFreeSlot(client);
    expect(client.upstream.requests).toHaveLength(2);
  });

  it('pauses after a failure that may be repeated, and is sent again', async () => {
    await using client = await startClient(firstOnly(fail, succeed), ONE_SLOT, { random: AT_ONCE });
    const operation = createOperation();
    expect(await client.caller('a', operation).getWorkflow('w1')).toMatchObject({ active: true });
    expect(operation.events.all).toEqual([
      ...FAILED_ATTEMPT,
      'retry delayed',
      'sent 1',
      'attempt ended 200',
      'ended 200',
    ]);
    await expectFreeSlot(client);
  });

  it.each(['read', 'write'])('that pauses ends when its client disconnects (%s)', async (kind) => {
    await using client = await startClient(fail, ONE_SLOT, { random: LATE });
    const operation = createOperation(120_000);
    const caller = client.caller('a', operation);
    const failure = failureOf(kind === 'read' ? caller.getWorkflow('w1') : caller.updateWorkflowStatus('w1', true));
    await operation.events.until('retry delayed');
    operation.disconnect();
    const ofWrite = kind === 'write' && { outcome: 'UNKNOWN', status: 503 };
    expect(await failure).toMatchObject({ code: 'CLIENT_CLOSED', ...ofWrite });
    const end = kind === 'read' ? 'ended CLIENT_CLOSED' : 'ended UPSTREAM_UNAVAILABLE';
    expect(operation.events.all).toEqual([...FAILED_ATTEMPT, 'retry delayed', end]);
    expect(getEventListeners(operation.signal, 'abort')).toEqual([]);
    await expectFreeSlot(client);
    expect(client.upstream.requests).toHaveLength(2);
  });

  it('that waits for the retry budget ends when its client disconnects, and takes none of it', async () => {
    await using client = await startClient(fail, ONE_SLOT, { random: AT_ONCE });
    const blocking = await takeRetryBudget(client);
    client.upstream.script = fail;
    const operation = createOperation();
    const failure = failureOf(client.caller('a', operation).updateWorkflowStatus('w1', true));
    await operation.events.until('retry delayed');
    await setTimeout(0); // After the call's own timer of 0 ms, which began first.
    operation.disconnect();
    expect(await failure).toMatchObject({ code: 'CLIENT_CLOSED', outcome: 'UNKNOWN' });
    expect(getEventListeners(operation.signal, 'abort')).toEqual([]);
    blocking.disconnect();
    await expectFreeSlot(client);
    expect(client.upstream.requests).toHaveLength(8);
  });

  it('that pauses ends with its failure if there is no budget in time', async () => {
    await using client = await startClient(fail, ONE_SLOT, { random: AT_ONCE });
    const blocking = await takeRetryBudget(client);
    client.upstream.script = fail;
    const operation = createOperation();
    const failure = await failureOf(client.caller('a', operation).getWorkflow('w1'));
    expect(failure).toMatchObject({ code: 'UPSTREAM_UNAVAILABLE', status: 503 });
    expect(operation.events.all).toEqual([...FAILED_ATTEMPT, 'retry delayed', 'ended UPSTREAM_UNAVAILABLE']);
    blocking.disconnect();
    await expectFreeSlot(client);
    expect(client.upstream.requests).toHaveLength(8);
  });

  it.each([
    ['its deadline passes', 'UPSTREAM_TIMEOUT', 200],
    ['its client disconnects', 'CLIENT_CLOSED', 20_000],
    ['its client disconnects after a time limit', 'CLIENT_CLOSED', 20_000, new DOMException('', 'TimeoutError')],
  ])('that is being sent is aborted if %s', async (_, code, withinMs, reason?: DOMException) => {
    for (const kind of ['read', 'write']) {
      await using client = await startClient(() => {}, ONE_SLOT);
      const operation = createOperation(withinMs);
      const caller = client.caller('a', operation);
      const failure = failureOf(kind === 'read' ? caller.getWorkflow('w1') : caller.createFeed('n'));
      await client.upstream.arrived(1);
      if (code === 'CLIENT_CLOSED') {
        operation.disconnect(reason);
      }
      expect(await failure).toMatchObject({
        code,
        sent: true,
        isOutage: false,
        retry: code === 'CLIENT_CLOSED' ? 'never' : expect.any(String),
        outcome: kind === 'read' ? undefined : 'UNKNOWN',
      });
      await client.upstream.allClosed();
      expect(operation.events.all).toEqual(['started', 'sent 0', `attempt ended ${code}`, `ended ${code}`]);
      expect(getEventListeners(operation.signal, 'abort')).toEqual([]);
      await expectFreeSlot(client);
    }
  });

  it('is not sent again after its client disconnected, even if its response could be retried so far', async () => {
    const { pending, script } = deferResponses();
    await using client = await startClient(script, ONE_SLOT, { random: AT_ONCE });
    const operation = createOperation();
    const failure = failureOf(client.caller('a', operation).updateWorkflowStatus('w1', true));
    await client.upstream.arrived(1);
    const head = Promise.withResolvers<unknown>();
    subscribe('undici:request:headers', head.resolve);
    onTestFinished(() => void unsubscribe('undici:request:headers', head.resolve));
    pending[0]?.connection.send(
      'HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{',
    );
    await head.promise;
    operation.disconnect();
    expect(await failure).toMatchObject({ outcome: 'UNKNOWN' });
    await client.upstream.allClosed();
    const ended = 'ended UPSTREAM_UNAVAILABLE';
    expect(operation.events.all).toEqual(['started', 'sent 0', `attempt ${ended}`, ended]);
    await expectFreeSlot(client);
    expect(client.upstream.requests).toHaveLength(2);
  });

  it.each([
    ['its client has disconnected', 'CLIENT_CLOSED', 20_000],
    ['its deadline has passed', 'UPSTREAM_TIMEOUT', 0],
  ])('is not made if %s', async (_, code, withinMs) => {
    await using client = await startClient(succeed, ONE_SLOT);
    const operation = createOperation(withinMs);
    if (code === 'CLIENT_CLOSED') {
      operation.disconnect();
    }
    const caller = client.caller('a', operation);
    const failures = [failureOf(caller.getWorkflow('w1')), failureOf(caller.createFeed('n'))];
    expect(await Promise.all(failures)).toMatchObject([
      { code, sent: false },
      { code, sent: false, outcome: 'NOT_APPLIED' },
    ]);
    expect(operation.events.all).toEqual([]);
    await expectFreeSlot(client);
    expect(client.upstream.requests).toHaveLength(1);
  });

  it('that cannot be written as JSON fails without being sent, and leaves its slot', async () => {
    await using client = await startClient(succeed, ONE_SLOT, { random: AT_ONCE });
    const operation = createOperation();
    const write = client
      .operation('a', operation)
      .write(endpoint('POST /v1/feeds').takes<{ body: object }>(), { body: { number: 1n } });
    await expect(write).rejects.toThrow('POST /v1/feeds was not sent: its body has a value that JSON does not have');
    await expectFreeSlot(client);
    expect(client.upstream.requests).toHaveLength(1);
  });
});

describe('a refusal ends an attempt that is not sent:', () => {
  it('by the rate limit of the service', async () => {
    await using client = await startClient((_, { answer }) =>
      answer({ status: 429, headers: { 'retry-after': '30' }, body: {} }),
    );
    const [first, second] = [createOperation(), createOperation()];
    expect(await failureOf(client.caller('a', first).createFeed('n'))).toMatchObject({ code: 'RATE_LIMITED' });
    const failure = await failureOf(client.caller('a', second).createFeed('n'));
    expect(failure).toMatchObject({ code: 'RATE_LIMITED', sent: false, outcome: 'NOT_APPLIED' });
    expect(first.events.all).toEqual(['started', 'sent 0', 'attempt ended RATE_LIMITED', 'ended RATE_LIMITED']);
    expect(second.events.all).toEqual(['started', 'ended RATE_LIMITED']);
    expect(client.upstream.requests).toHaveLength(1);
  });

  it('by the circuit breaker', async () => {
    await using client = await startClient(fail, { maxRetries: 0 }, { breakerMinimumCalls: 1 });
    await failureOf(client.caller('a').getWorkflow('w1'));
    const operation = createOperation();
    const failure = await failureOf(client.caller('a', operation).createFeed('n'));
    expect(failure).toMatchObject({ code: 'UPSTREAM_UNAVAILABLE', sent: false, outcome: 'NOT_APPLIED' });
    expect(operation.events.all).toEqual(['started', 'ended UPSTREAM_UNAVAILABLE']);
    expect(client.upstream.requests).toHaveLength(1);
  });

  it('by the audit log', async () => {
    await using client = await startClient(succeed, ONE_SLOT);
    const operation = createOperation();
    operation.events.refused = errorOf('auditUnavailable', { method: 'POST', route: '/v1/feeds' });
    expect(await failureOf(client.caller('a', operation).createFeed('n'))).toMatchObject({ code: 'AUDIT_UNAVAILABLE' });
    expect(operation.events.all).toEqual(['started', 'ended AUDIT_UNAVAILABLE']);
    await expectFreeSlot(client);
    expect(client.upstream.requests).toHaveLength(1);
  });

  it('of a retry too, after which the outcome of a write remains unknown', async () => {
    await using client = await startClient(fail, {}, { breakerMinimumCalls: 1, random: AT_ONCE });
    const operation = createOperation();
    const failure = await failureOf(client.caller('a', operation).updateWorkflowStatus('w1', true));
    expect(failure).toMatchObject({ sent: false, outcome: 'UNKNOWN', retryable: false });
    expect(operation.events.all).toEqual([...FAILED_ATTEMPT, 'retry delayed', 'ended UPSTREAM_UNAVAILABLE']);
    expect(client.upstream.requests).toHaveLength(1);
  });

  it('of all queued calls', async () => {
    const { pending, script } = deferResponses();
    const queued = 100;
    const settings = { ...ONE_SLOT, maxUpstreamCalls: queued, maxRetries: 0 };
    await using client = await startClient(script, settings, { breakerMinimumCalls: 1 });
    const first = failureOf(client.caller('a').getWorkflow('w'));
    const caller = client.caller('a', { withinMs: 60_000 });
    const codes = Array.from({ length: queued }, (_, i) => caller.getWorkflow(`w${i}`).catch(codeOf));
    await client.upstream.arrived(1);
    pending[0]?.connection.answer({ status: 503, body: {} });
    await first;
    expect(new Set(await Promise.all(codes))).toEqual(new Set(['UPSTREAM_UNAVAILABLE']));
    expect(client.service.state().waiting).toBe(0);
    expect(client.upstream.requests).toHaveLength(1);
  });
});

describe('the readers of a call', () => {
  it('can leave while others stay', async () => {
    const { pending, script } = deferResponses();
    await using client = await startClient(script);
    const [first, second] = [createOperation(), createOperation()];
    const left = failureOf(client.caller('a', first).getWorkflow('w1'));
    const stayed = client.caller('a', second).getWorkflow('w1');
    await client.upstream.arrived(1);
    first.disconnect();
    expect(await left).toMatchObject({ code: 'CLIENT_CLOSED' });
    expect(client.upstream.open()).toBe(1);
    respondWithName(pending[0], 'shared');
    expect((await stayed)?.name).toBe('shared');
    // The operation that made the call pays for it.
    expect(first.events.all).toEqual(['started', 'sent 0', 'ended CLIENT_CLOSED', 'attempt ended 200']);
    expect(second.events.all).toEqual(['started shared', 'ended shared 200']);
    expect(client.upstream.requests).toHaveLength(1);
  });

  it('abort it when the last one leaves, and later ones make their own', async () => {
    const { pending, script } = deferResponses();
    await using client = await startClient(script, ONE_SLOT);
    const operations = [createOperation(), createOperation(), createOperation()];
    const failures = operations.map((operation) => failureOf(client.caller('a', operation).getWorkflow('w1')));
    await client.upstream.arrived(1);
    for (const { disconnect } of operations) {
      expect(client.upstream.open()).toBe(1);
      disconnect();
    }
    expect((await Promise.all(failures)).map(({ code }) => code)).toEqual(Array(3).fill('CLIENT_CLOSED'));
    await client.upstream.allClosed();
    expect(operations.map(({ events }) => events.all)).toEqual([
      ['started', 'sent 0', 'ended CLIENT_CLOSED', 'attempt ended CLIENT_CLOSED'],
      ['started shared', 'ended shared CLIENT_CLOSED'],
      ['started shared', 'ended shared CLIENT_CLOSED'],
    ]);
    const next = client.caller('a').getWorkflow('w1');
    await client.upstream.arrived(2);
    respondWithName(pending[1], 'anew');
    expect((await next)?.name).toBe('anew');
    await expectFreeSlot(client);
  });

  it.each([
    ['waits', () => {}],
    ['pauses', fail],
  ])('abort it while it %s', async (state, script) => {
    await using client = await startClient(() => {}, ONE_SLOT, { random: LATE });
    const blocking = createOperation();
    const blocked = state === 'waits' ? failureOf(client.caller('a', blocking).createFeed('n')) : undefined;
    client.upstream.script = state === 'waits' ? () => {} : script;
    const operations = [createOperation(120_000), createOperation(120_000)];
    const failures = operations.map((operation) => failureOf(client.caller('a', operation).getWorkflow('w1')));
    await operations[0]?.events.until(state === 'waits' ? 'queued' : 'retry delayed');
    for (const { disconnect } of operations) {
      disconnect();
    }
    expect((await Promise.all(failures)).map(({ code }) => code)).toEqual(['CLIENT_CLOSED', 'CLIENT_CLOSED']);
    blocking.disconnect();
    await blocked;
    await expectFreeSlot(client);
  });
});

it.each([
  ['succeeded', 200],
  ['failed', 500],
])('a write separates the reads of its key when it starts and when it has %s', async (_, status) => {
  const { pending, script } = deferResponses();
  await using client = await startClient(script);
  await client.accept('a', 'b');
  const caller = client.caller('a');
  const stats = [caller.getNotificationStats(1), client.caller('b').getNotificationStats(1)];
  const before = caller.getWorkflow('w1');
  await client.upstream.arrived(3);
  const write = caller.updateWorkflowStatus('w1', false).catch(codeOf);
  await client.upstream.arrived(4);
  const during = [caller.getWorkflow('w1'), client.caller('a').getWorkflow('w1')];
  const other = client.caller('b').getNotificationStats(1); // Another key's call is still shared.
  await client.upstream.arrived(5);
  pending[3]?.connection.answer({ status, body: { data: workflow() } });
  await write;
  const after = caller.getWorkflow('w1');
  await client.upstream.arrived(6);
  expect(client.upstream.requests.map(({ method }) => method)).toEqual(['GET', 'GET', 'GET', 'PUT', 'GET', 'GET']);
  for (const { connection } of pending.slice(0, 2)) {
    connection.answer({ body: [] });
  }
  respondWithName(pending[2], 'before');
  respondWithName(pending[4], 'during');
  respondWithName(pending[5], 'after');
  const names = (await Promise.all([before, ...during, after])).map((found) => found?.name);
  expect(names).toEqual(['before', 'during', 'during', 'after']);
  expect(await Promise.all([...stats, other])).toEqual([[], [], []]);
});
