import { describe, expect, it } from 'vitest';
import inbox from '../../src/modules/shipped/inbox.ts';
import { startGateway } from '../support/gateway.ts';
import { guards } from '../support/guards.ts';
import { metricValues } from '../support/metrics-text.ts';
import { feed, workflow } from '../support/records.ts';
import type { Script } from '../support/service.ts';
import { clientsOf, createSigner } from '../support/tokens.ts';
import { codeOf, deferResponses, RecordedEvents, respondWithName, startClient } from '../support/upstream-client.ts';

guards('src/upstream/calls/bounded-client.ts', 'CallBudget.createRequest');
guards('src/upstream/errors.ts', 'endedEarly');
guards('src/upstream/calls/call.ts', 'Call.proceed');
guards('src/upstream/calls/call.ts', 'Call.#attemptEnded');
guards('src/upstream/calls/lane.ts', 'Lane.#mayRun');
guards('src/upstream/calls/lane.ts', 'Lane.take');
guards('src/upstream/calls/lane.ts', 'Lane.hasten');
guards('src/upstream/calls/lane.ts', 'Lane.learn');
guards('src/upstream/calls/lane.ts', 'Lane.refusal');
guards('src/upstream/calls/lane.ts', 'Lane.#serve');
guards('src/upstream/transport/socket-pool.ts', 'SocketPool.#hasRoom');
guards('src/upstream/policies/fair-queue.ts', 'FairQueue.next');

const answer: Script = ({ method }, connection) =>
  connection.answer({ body: { data: method === 'GET' ? workflow({ name: 'done' }) : feed() } });

const refuse: Script = (_, connection) => connection.answer({ status: 401, body: { message: 'API Key not found' } });

/** Starts a client with ten calls per key, whose service responds when the test says so. */
async function setUp(changes: Parameters<typeof startClient>[1] = {}) {
  const { pending, script } = deferResponses();
  let time = 1_000;
  const client = await startClient(script, { attemptTimeoutMs: 120_000, ...changes }, { monotonicNow: () => time });
  const { upstream } = client;
  return {
    ...client,
    /** Starts reads of a person, or of a server. Returns what each one gets: a name or a code. */
    read: (ids: readonly string[], person?: string, key = 'k') =>
      ids.map((id) =>
        client
          .caller(key, { withinMs: 120_000, ...(person !== undefined && { person }) })
          .getWorkflow(id)
          .then((found) => found?.name, codeOf),
      ),
    wait(milliseconds: number) {
      time += milliseconds;
    },
    /** Waits until this number of requests have arrived. Returns the sorted ids of all requests. */
    async arrived(count: number) {
      await upstream.arrived(count);
      return upstream.requests.map(({ path }) => path.split('/').at(-1) ?? '').toSorted();
    },
    /** Responds to the request that has waited longest. */
    respond: () => respondWithName(pending.shift(), 'done'),
    /** Responds to the request for one id. */
    respondTo(id: string) {
      const index = pending.findIndex(({ request }) => request.path.endsWith(`/${id}`));
      respondWithName(pending.splice(index, 1)[0], 'done');
    },
    /** Responds to all requests, also to those that follow. */
    finish(follow = answer) {
      upstream.script = follow;
      for (const { request, connection } of pending.splice(0)) {
        follow(request, connection);
      }
    },
  };
}

const numbered = (name: string, count: number) => Array.from({ length: count }, (_, i) => `${name}${i}`);

/** Counts equal values. */
const countBy = (values: readonly unknown[]) =>
  Object.fromEntries([...new Set(values)].map((value) => [value, values.filter((each) => each === value).length]));

describe('of the people who share a key', () => {
  it('one has half of the calls in flight, and there is always a slot for the next one', async () => {
    await using client = await setUp();
    const reads = client.read(numbered('a', 20), 'ada');
    expect(await client.arrived(5)).toEqual(numbered('a', 5));
    reads.push(...client.read(numbered('b', 20), 'bob'));
    expect(await client.arrived(8)).toEqual([...numbered('a', 5), ...numbered('b', 3)]);
    reads.push(...client.read(numbered('c', 20), 'eve'));
    expect(await client.arrived(9)).toEqual([...numbered('a', 5), ...numbered('b', 3), 'c0']);
    reads.push(...client.read(['d'], 'dan'));
    expect(await client.arrived(10)).toContain('d');
    client.finish();
    expect(countBy(await Promise.all(reads))).toEqual({ done: 61 });
  });

  it('those who wait are served in turn, also after servers that use all slots', async () => {
    await using client = await setUp({ maxConcurrentCallsPerKey: 1 });
    await client.accept('k');
    const reads = client.read(numbered('s', 3));
    await client.arrived(1);
    reads.push(...client.read(numbered('a', 3), 'ada'), ...client.read(numbered('b', 2), 'bob'));
    for (let count = 2; count <= 8; count += 1) {
      client.respond();
      await client.arrived(count);
      expect(client.pool.stats()).toMatchObject({ free: 63 }); // Of 64 sockets.
    }
    const order = client.upstream.requests.map(({ path }) => path.split('/').at(-1));
    expect(order).toEqual(['s0', 's1', 'a0', 'b0', 's2', 'a1', 'b1', 'a2']);
    client.finish();
    expect(countBy(await Promise.all(reads))).toEqual({ done: 8 });
  });

  it('one has half of the waiting calls, and leaves room for others and for servers', async () => {
    await using client = await setUp();
    await client.accept('k');
    const first = client.read(numbered('a', 112), 'ada');
    const others = [
      ...client.read(numbered('b', 20), 'bob'),
      ...client.read(['c'], 'eve'),
      ...client.read(numbered('s', 100)),
    ];
    await client.arrived(10);
    client.finish();
    expect(countBy(await Promise.all(first))).toEqual({ done: 105, OVERLOADED: 7 });
    expect(countBy(await Promise.all(others))).toEqual({ done: 121 });
  });

  it('one who joins the waiting call of another one waits only for the own turn', async () => {
    await using client = await setUp({ maxConcurrentCallsPerKey: 2 });
    const reads = client.read([...numbered('a', 5), 'shared'], 'ada');
    await client.arrived(1);
    reads.push(...client.read(['shared'], 'bob'));
    expect(await client.arrived(2)).toEqual(['a0', 'shared']);
    client.finish();
    expect(countBy(await Promise.all(reads))).toEqual({ done: 7 });
    expect(await client.arrived(6)).toEqual([...numbered('a', 5), 'shared']);
  });

  it('one who joins a call behind others of another one gets the next slot', async () => {
    await using client = await setUp({ maxConcurrentCallsPerKey: 4 });
    await client.accept('k');
    const reads = [...client.read(numbered('s', 2)), ...client.read(['a0', 'a1', 'shared'], 'ada')];
    reads.push(...client.read(['e'], 'eve'));
    expect(await client.arrived(4)).toEqual(['a0', 'e', 's0', 's1']);
    reads.push(...client.read(['shared'], 'bob'));
    client.respondTo('s0');
    expect(await client.arrived(5)).toContain('shared');
    client.finish();
    expect(countBy(await Promise.all(reads))).toEqual({ done: 7 });
  });

  it('one who joins the next call of another one who has no slot takes a free one', async () => {
    await using client = await setUp({ maxConcurrentCallsPerKey: 4 });
    const reads = client.read([...numbered('a', 2), 'shared'], 'ada');
    await client.arrived(2);
    reads.push(...client.read(['shared'], 'bob'));
    expect(await client.arrived(3)).toEqual(['a0', 'a1', 'shared']);
    client.finish();
    expect(countBy(await Promise.all(reads))).toEqual({ done: 4 });
  });

  it('one who joins the waiting call of another one whose time is up still gets its result', async () => {
    await using client = await setUp({ maxConcurrentCallsPerKey: 4 });
    const reads = client.read(numbered('a', 2), 'ada');
    await client.arrived(2);
    const late = client.caller('k', { person: 'ada', withinMs: 20 }).getWorkflow('shared').catch(codeOf);
    const until = performance.now() + 30;
    while (performance.now() < until) {} // No timer runs.
    reads.push(...client.read(['shared'], 'bob'));
    expect(await late).toBe('UPSTREAM_TIMEOUT');
    await client.arrived(3);
    client.finish();
    expect(countBy(await Promise.all(reads))).toEqual({ done: 3 });
  });

  it('nobody slows their servers down with writes that the key must not send', async () => {
    await using client = await setUp();
    await client.accept('k');
    client.upstream.script = refuse;
    const write = client.caller('k', { person: 'ada' }).updateWorkflowStatus('w', true);
    await expect(write).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
    client.upstream.forget();
    client.upstream.script = () => {};
    const reads = client.read(numbered('s', 10));
    expect(await client.arrived(10)).toEqual(numbered('s', 10));
    await client.upstream.refuse();
    await Promise.all(reads);
  });

  it('nobody keeps their servers from working before the key is known', async () => {
    await using client = await setUp();
    const reads = client.read(numbered('a', 2), 'ada');
    await client.arrived(2);
    reads.push(...client.read(numbered('s', 2)));
    expect(await client.arrived(3)).toEqual(['a0', 'a1', 's0']);
    client.finish();
    expect(countBy(await Promise.all(reads))).toEqual({ done: 4 });
  });
});

describe('a key that the service may not know', () => {
  it('has one call in flight, whose refusal ends the others and is remembered for a second', async () => {
    await using client = await setUp();
    const reads = client.read(numbered('a', 20));
    await client.arrived(1);
    client.finish(refuse);
    expect(countBy(await Promise.all(reads))).toEqual({ UNAUTHENTICATED: 20 });
    expect(await Promise.all(client.read(['b']))).toEqual(['UNAUTHENTICATED']);
    await expect(client.caller('k').createFeed('n')).rejects.toMatchObject({
      message: 'API Key not found',
      status: 401,
      outcome: 'NOT_APPLIED',
      sent: false,
    });
    expect(await client.arrived(1)).toEqual(['a0']);
    expect(await Promise.all(client.read(['c'], undefined, 'other'))).toEqual(['UNAUTHENTICATED']);
    client.wait(1_000);
    client.upstream.script = answer;
    expect(await Promise.all(client.read(['d']))).toEqual(['done']);
    expect(await client.arrived(3)).toEqual(['a0', 'c', 'd']);
  });

  it.each([
    ['has succeeded', { status: 200, body: { data: workflow() } }],
    ['has found no record', { status: 404, body: { statusCode: 404, message: 'Workflow not found' } }],
    ['has met a conflict', { status: 409, body: { statusCode: 409, message: 'Workflow is busy' } }],
  ])('is known once a call %s', async (_, response) => {
    await using client = await setUp();
    const reads = client.read(numbered('a', 12));
    await client.arrived(1);
    client.upstream.script = () => {};
    client.finish((request, connection) => (request.path.endsWith('a0') ? connection.answer(response) : undefined));
    expect(await client.arrived(11)).toHaveLength(11);
    await client.upstream.refuse();
    await Promise.all(reads);
  });

  it('that must not send a write in its environment can still read', async () => {
    await using client = await setUp();
    const write = client.caller('k').updateWorkflowStatus('w', true).catch(codeOf);
    await client.arrived(1);
    const [read] = client.read(['a']);
    const again = client.caller('k').updateWorkflowStatus('v', true).catch(codeOf);
    client.finish((request, connection) => (request.method === 'GET' ? answer : refuse)(request, connection));
    expect(await Promise.all([write, read, again])).toEqual(['UNAUTHENTICATED', 'done', 'UNAUTHENTICATED']);
  });

  it('is none that a single sick instance refuses', async () => {
    await using client = await setUp();
    await client.accept('k');
    client.upstream.script = (request, connection) =>
      (request.path.endsWith('sick') ? refuse : answer)(request, connection);
    expect(await Promise.all(client.read(['sick', 'a', 'b']))).toEqual(['UNAUTHENTICATED', 'done', 'done']);
    expect(await Promise.all(client.read(['sick']))).toEqual(['UNAUTHENTICATED']);
    expect(await Promise.all(client.read(['c']))).toEqual(['done']);
  });

  it.each<[string, person: string | undefined, isWrite: boolean]>([
    ['reads of a server', undefined, false],
    ['writes of a server', undefined, true],
    ['reads of a person', 'ada', false],
  ])('is one whose %s were refused twice', async (_, person, isWrite) => {
    await using client = await setUp();
    await client.accept('k');
    client.upstream.script = refuse;
    const caller = client.caller('k', person === undefined ? {} : { person });
    for (const id of ['a', 'b', 'c']) {
      const call = isWrite ? caller.updateWorkflowStatus(id, true) : caller.getWorkflow(id);
      await expect(call).rejects.toMatchObject({ code: 'UNAUTHENTICATED', status: 401, sent: id !== 'c' });
    }
    expect(client.upstream.requests).toHaveLength(2);
  });

  it('is one whose first write a person sends, and which is refused', async () => {
    await using client = await setUp();
    client.upstream.script = refuse;
    const caller = client.caller('k', { person: 'ada' });
    for (const id of ['a', 'b']) {
      await expect(caller.updateWorkflowStatus(id, true)).rejects.toMatchObject({ sent: id === 'a' });
    }
  });

  it('is not one that a proxy refuses with a page', async () => {
    await using client = await setUp();
    client.upstream.script = () => ({ status: 401, headers: { 'content-type': 'text/html' }, body: '<html>' });
    for (const id of ['a', 'b', 'c']) {
      expect(await Promise.all(client.read([id]))).toEqual(['UPSTREAM_BAD_RESPONSE']);
    }
    expect(await client.arrived(3)).toEqual(['a', 'b', 'c']);
  });

  it('has a quarter of the sockets, together with all others', async () => {
    await using client = await setUp({ sockets: 8 });
    await client.accept('known');
    const invented = numbered('k', 20).flatMap((key) => client.read(['i'], undefined, key));
    await client.arrived(2);
    const known = client.read(numbered('a', 6), undefined, 'known');
    expect(await client.arrived(8)).toEqual([...numbered('a', 6), 'i', 'i']);
    expect(client.pool.stats()).toEqual({ open: 8, free: 0, waiting: 18 });
    client.finish();
    expect(countBy(await Promise.all([...invented, ...known]))).toEqual({ done: 26 });
    await expect.poll(() => client.pool.stats()).toMatchObject({ free: 8, waiting: 0 });
  });

  it('waits for its share of the sockets, not the people who have the same key', async () => {
    await using client = await setUp({ sockets: 4 });
    await client.accept('known');
    const reads = [...client.read(['i']), ...client.read(numbered('a', 3), undefined, 'known')];
    await client.arrived(4);
    reads.push(...client.read(['waiting'], undefined, 'shared'), ...client.read(['b'], 'ada', 'shared'));
    expect(client.pool.stats()).toMatchObject({ free: 0, waiting: 2 });
    client.respondTo('a0');
    expect(await client.arrived(5)).toEqual(['a0', 'a1', 'a2', 'b', 'i']);
    client.finish();
    expect(countBy(await Promise.all(reads))).toEqual({ done: 6 });
  });

  it('does not let the keys that the service has accepted be forgotten', async () => {
    await using client = await setUp({ sockets: 4 });
    await client.accept('known');
    client.finish(refuse);
    await Promise.all(numbered('k', 1_001).flatMap((key) => client.read(['i'], undefined, key)));
    client.upstream.forget();
    client.upstream.script = () => {};
    const reads = [...client.read(['i'], undefined, 'j'), ...client.read(numbered('a', 3), undefined, 'known')];
    expect(await client.arrived(4)).toEqual([...numbered('a', 3), 'i']);
    await client.upstream.refuse();
    await Promise.all(reads);
  });
});

describe('a request that waits for a socket', () => {
  it('is sent in the turn of its key', async () => {
    await using client = await setUp({ sockets: 1 });
    await client.accept('k', 'other');
    const reads = client.read(['first']);
    await client.arrived(1);
    reads.push(...client.read(numbered('a', 3)), ...client.read(numbered('b', 2), undefined, 'other'));
    for (let count = 2; count <= 6; count += 1) {
      client.respond();
      await client.arrived(count);
    }
    const order = client.upstream.requests.map(({ path }) => path.split('/').at(-1));
    expect(order).toEqual(['first', 'a0', 'b0', 'a1', 'b1', 'a2']);
    client.finish();
    await Promise.all(reads);
  });

  it('fails with a message that names the setting if none becomes free in time', async () => {
    await using client = await setUp({ sockets: 1 });
    const reads = client.read(['a']);
    await client.arrived(1);
    const events = new RecordedEvents();
    await expect(client.caller('other', { withinMs: 100, events }).getWorkflow('b')).rejects.toMatchObject({
      code: 'OVERLOADED',
      message:
        'All connections of the gateway to the notification service are busy (setting sockets). Send the request again in a moment.',
      retryable: true,
      retryAfterSeconds: 1,
      sent: false,
    });
    expect(events.all).toEqual(['started', 'attempt ended OVERLOADED', 'ended OVERLOADED']);
    client.finish();
    await Promise.all(reads);
  });

  it('is shown by the metrics, and no request before it is sent', async () => {
    await using gateway = await startGateway({ service: () => {}, sockets: 1, operationTimeoutMs: 120_000 });
    const leaver = new AbortController();
    const sent = ['a', 'b', 'c'].map((key) =>
      gateway
        .send('{ notificationGroups { id } }', {}, { authorization: `ApiKey ${key}`, signal: leaver.signal })
        .catch(() => {}),
    );
    await expect
      .poll(async () => metricValues(await gateway.metrics(), /^notigraph_upstream_(sockets|requests_waiting)/))
      .toEqual({
        notigraph_upstream_sockets_open: 1,
        notigraph_upstream_sockets_free: 0,
        notigraph_upstream_requests_waiting: 2,
      });
    await gateway.service.arrived(1);
    leaver.abort();
    await Promise.all(sent);
    await expect
      .poll(async () => Object.values(metricValues(await gateway.metrics(), /^notigraph_upstream_requests_total/)))
      .toEqual([1]);
    expect(gateway.service.requests).toHaveLength(1);
  });
});

it('an operation whose calls are all refused is charged for the first one', async () => {
  const signer = createSigner();
  const { script } = deferResponses();
  await using gateway = await startGateway({
    service: script,
    modules: [inbox],
    clients: clientsOf(signer, { scopes: ['inbox:read'], rateLimit: { calls: 100, perSeconds: 3_600 } }),
    maxConcurrentCallsPerKey: 1,
    operationTimeoutMs: 120_000,
  });
  const authorization = await signer.bearer({ scope: 'inbox:read' });
  const leaver = new AbortController();
  const pages = (from: number, count: number) =>
    `{ inbox { ${Array.from({ length: count }, (_, i) => `p${i}: messages(page: ${from + i}) { hasMore }`).join(' ')} } }`;
  const first = [0, 28, 56, 84].map((from) =>
    gateway.send(pages(from, 28), {}, { authorization, signal: leaver.signal }).catch(() => {}),
  );
  await expect
    .poll(async () => metricValues(await gateway.metrics(), /^notigraph_upstream_calls_waiting/))
    .toEqual({ notigraph_upstream_calls_waiting: 100 });
  const left = async () => {
    const { codes, headers } = await gateway.send(pages(200, 3), {}, { authorization });
    return [new Set(codes), Number(headers.get('ratelimit-remaining'))];
  };
  expect([await left(), await left()]).toEqual([
    [new Set(['OVERLOADED']), 95],
    [new Set(['OVERLOADED']), 94],
  ]);
  leaver.abort();
  await Promise.all(first);
});
