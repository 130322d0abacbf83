import { afterEach, describe, expect, it, vi } from 'vitest';
import { digestOf } from '../support/concurrent-load.ts';
import { startGateway } from '../support/gateway.ts';
import { guards } from '../support/guards.ts';
import { workflow } from '../support/records.ts';
import { type Connection, formatResponse, type ServiceRequest } from '../support/service.ts';
import { deferResponses, startClient } from '../support/upstream-client.ts';

guards('src/upstream/transport/socket-pool.ts', 'SocketPool.#createSlot.connect');
guards('src/upstream/transport/socket-pool.ts', 'SocketPool.#send');
guards('src/upstream/transport/socket-pool.ts', 'SocketPool.#take');

const MODES = ['none', 'credential'] as const;

const DOCUMENT = 'query Read($id: ID!) { workflow(idOrIdentifier: $id) { id name } }';

/** Formats a response with a digest of the credential. */
const echoKeyDigest = ({ path, headers }: ServiceRequest): string =>
  formatResponse({
    body: { data: workflow({ _id: path.split('/').at(-1) ?? '', name: digestOf(headers.authorization ?? '') }) },
  });

const echoOnce = (request: ServiceRequest, connection: Connection): void => connection.send(echoKeyDigest(request));

/** Returns the requested ids, in the order of arrival. */
const requestedIds = ({ upstream }: Awaited<ReturnType<typeof startClient>>) =>
  upstream.requests.map(({ path }) => path.split('/').at(-1));

const respond = (pending: ReturnType<typeof deferResponses>['pending'][number] | undefined) =>
  pending && echoOnce(pending.request, pending.connection);

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

afterEach(() => {
  vi.useRealTimers();
});

describe('a socket', () => {
  it('is reused by the same credential, and by another one after 20 ms without use', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    await using gateway = await startGateway({ service: echoOnce });
    const used = async (key: string) => {
      await gateway.data(DOCUMENT, { id: `of-${key}` }, { authorization: `ApiKey ${key}` });
      return gateway.service.requests.at(-1)?.connection;
    };
    expect([await used('a'), await used('b'), await used('a'), await used('b'), await used('a')]).toEqual([
      1, 2, 1, 2, 1,
    ]);
    vi.advanceTimersByTime(19);
    expect(await used('c')).toBe(3);
    vi.advanceTimersByTime(1);
    expect([await used('d'), await used('e'), await used('f'), await used('c')]).toEqual([1, 2, 4, 3]);
  });

  it('is reused by any credential if all sockets are taken', async () => {
    await using gateway = await startGateway({ service: echoOnce, sockets: 2 });
    for (const key of ['a', 'b', 'c', 'd', 'e']) {
      await gateway.data(DOCUMENT, { id: 'x' }, { authorization: `ApiKey ${key}` });
    }
    expect(gateway.service.connections()).toBe(2);
  });

  it('with isolation serves only one credential, and is closed if another one needs its place', async () => {
    await using gateway = await startGateway({ service: echoOnce, sockets: 2, isolateConnections: 'credential' });
    for (const key of ['a', 'b', 'a', 'b', 'a', 'c', 'a', 'c', 'b', 'b']) {
      await gateway.data(DOCUMENT, { id: 'x' }, { authorization: `ApiKey ${key}` });
    }
    // The socket that was idle longest is closed: first that of b, then that of a.
    expect(gateway.service.requests.map(({ connection }) => connection)).toEqual([1, 2, 1, 2, 1, 3, 1, 3, 4, 4]);
  });

  it.each([
    ['a response', formatResponse({ body: {} })],
    ['a line break', '\r\n'],
    ['garbage', '\0garbage'],
  ])('is closed if it receives %s while it is idle', async (_, bytes) => {
    const sends: Connection['send'][] = [];
    const options = { socketIdleMs: 60_000 }; // Longer than the test waits.
    await using gateway = await startGateway({
      service: (request, connection) => {
        sends.push(connection.send);
        echoOnce(request, connection);
      },
      ...options,
    });
    const read = () => gateway.data(DOCUMENT, { id: 'x' });
    await read();
    await read();
    expect(gateway.service.connections()).toBe(1);
    sends[0]?.(bytes);
    await gateway.service.allClosed();
    await read();
    expect(gateway.service.connections()).toBe(2);
  });
});

it('idle sockets are closed after a while', async () => {
  await using client = await startClient(echoOnce, { socketIdleMs: 300 });
  await client.caller('a').getWorkflow('w1');
  expect(client.upstream.open()).toBe(1);
  await client.upstream.allClosed();
});

describe.each(MODES)('with isolation %s', (isolateConnections) => {
  it('requests of three credentials are sent in order if there is only one socket', async () => {
    await using client = await startClient(echoOnce, { sockets: 1, isolateConnections });
    const ids = Array.from({ length: 30 }, (_, i) => `id-${i}`);
    const records = await Promise.all(ids.map((id, i) => client.caller(`key-${i % 3}`).getWorkflow(id)));
    expect(records.map((record) => record?.name)).toEqual(ids.map((_, i) => digestOf(`ApiKey key-${i % 3}`)));
    expect(requestedIds(client)).toEqual(ids);
    expect(client.upstream.connections()).toBe(isolateConnections === 'none' ? 1 : 30);
  });

  it.each([
    ['its operation times out', 'OVERLOADED', 100],
    ['its client disconnects', 'CLIENT_CLOSED', 120_000],
  ])('a request that waits for a socket is never sent, and opens none, if %s', async (_, code, withinMs) => {
    const { pending, script } = deferResponses();
    const patience = 120_000; // Longer than the test may take.
    await using client = await startClient(script, { sockets: 1, isolateConnections, attemptTimeoutMs: patience });
    const leaver = new AbortController();
    const first = client.caller('a', { withinMs: patience }).getWorkflow('first');
    const write = client.caller('b', { signal: leaver.signal, withinMs }).createFeed('n');
    const failed = expect(write).rejects.toMatchObject({ code, outcome: 'NOT_APPLIED', sent: false });
    const last = client.caller('a', { withinMs: patience }).getWorkflow('last');
    await client.upstream.arrived(1);
    if (code === 'CLIENT_CLOSED') {
      leaver.abort(new Error('read ECONNRESET'));
    }
    await failed;
    respond(pending[0]);
    await first;
    await client.upstream.arrived(2);
    respond(pending[1]);
    await last;
    expect(requestedIds(client)).toEqual(['first', 'last']);
    expect(client.upstream.connections()).toBe(1);
  });

  it('a request that is aborted while its socket connects is never sent', async () => {
    await using client = await startClient(echoOnce, { sockets: 1, isolateConnections });
    const aborter = new AbortController();
    await client.caller('a').getWorkflow('first');
    await turn();
    const aborted = client.caller('b', aborter).getWorkflow('aborted');
    await Promise.resolve(); // The request has a socket but is written in a later turn.
    aborter.abort();
    await expect(aborted).rejects.toThrow();
    await client.caller('c').getWorkflow('last');
    expect(requestedIds(client)).toEqual(['first', 'last']);
    expect(client.upstream.connections()).toBe(isolateConnections === 'none' ? 2 : 3);
  });

  it('a request that cannot be written does not block the next one', async () => {
    await using client = await startClient(echoOnce, { sockets: 1, isolateConnections });
    await expect(client.caller('a\n').getWorkflow('invalid')).rejects.toThrow();
    await client.caller('b').getWorkflow('valid');
    expect(requestedIds(client)).toEqual(['valid']);
  });

  it('a service that restarts is reconnected', async () => {
    await using gateway = await startGateway({ service: echoOnce, sockets: 2, isolateConnections, maxRetries: 0 });
    const read = (key: string) => gateway.send(DOCUMENT, { id: 'x' }, { authorization: `ApiKey ${key}` });
    for (let i = 0; i < 3; i += 1) {
      expect((await read('a')).codes).toEqual([]);
      await gateway.service.refuse();
      for (const key of ['a', 'b', 'c', 'a']) {
        expect((await read(key)).codes).toEqual(['UPSTREAM_UNAVAILABLE']);
      }
      await gateway.service.listen();
    }
  });

  it('closing waits for in-flight and queued requests, then closes every socket', async () => {
    const { pending, script } = deferResponses();
    await using client = await startClient(script, { sockets: 1, isolateConnections });
    const responses = [client.caller('a').getWorkflow('running'), client.caller('b').getWorkflow('waiting')];
    await client.upstream.arrived(1);
    const closed = client.pool.close();
    respond(pending[0]);
    await client.upstream.arrived(2);
    const late = client.caller('c').createFeed('late');
    await expect(late).rejects.toMatchObject({ code: 'UPSTREAM_UNAVAILABLE', outcome: 'NOT_APPLIED' });
    respond(pending[1]);
    await Promise.all([...responses, closed]);
    await client.upstream.allClosed();
    expect(requestedIds(client)).toEqual(['running', 'waiting']);
  });
});
