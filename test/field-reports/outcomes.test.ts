import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import type { GatewayDeps } from '../../src/gateway.ts';
import { probeUpstream } from '../../src/upstream/transport/probe.ts';
import { startScriptedGateway } from '../support/gateway.ts';
import { feed, workflow } from '../support/records.ts';
import { type Script, startService, type TestService } from '../support/service.ts';
import { startClient } from '../support/upstream-client.ts';

const READ = '{ workflow(idOrIdentifier: "w1") { name } }';
const CREATE = 'mutation { createFeed(input: { name: "News" }) { __typename } }';
const NAME = { workflow: { name: 'Workflow' } };

const MODES = ['none', 'credential'] as const;

const succeed: Script = ({ method }) => ({ body: { data: method === 'POST' ? feed() : workflow() } });

const fail = (status: number) => ({ status, body: { statusCode: status, message: 'Failed' } });

const connectionsOf = ({ requests }: TestService) => requests.map(({ connection }) => connection);

describe.each(MODES)('with isolation %s', (isolateConnections) => {
  it('R7: every read succeeds with its first retry if one of two pods is sick', async () => {
    // A balancer assigns connections to pods in turn. The first of each pair is sick, and keeps its connections open.
    const script: Script = (request, connection) =>
      request.connection % 2 === 1 ? fail(503) : succeed(request, connection);
    await using gateway = await startScriptedGateway(script, { isolateConnections });
    for (let read = 0; read < 12; read += 1) {
      expect(await gateway.run(READ)).toEqual(NAME);
      gateway.advance(2.5);
    }
    expect(connectionsOf(gateway.service)).toEqual([1, ...Array.from({ length: 12 }, () => 2)]);
    expect(gateway.service.open()).toBe(1);
  });

  it('R7: each of several reads succeeds with its first retry if both pods fail every other request', async () => {
    const seen = new Map<number, number>();
    const script: Script = (request, connection) => {
      const count = (seen.get(request.connection) ?? 0) + 1;
      seen.set(request.connection, count);
      return count % 2 === 0 ? fail(502) : succeed(request, connection);
    };
    await using gateway = await startScriptedGateway(script, { isolateConnections, sockets: 2 });
    for (let read = 0; read < 12; read += 1) {
      expect(await gateway.run(READ, `key-${read % 3}`)).toEqual(NAME);
    }
    await expect.poll(() => gateway.service.open()).toBeLessThanOrEqual(2);
  });
});

it.each([502, 503, 504])(
  'a connection that answered %i to a write or a read is closed after the response',
  async (status) => {
    let held: (() => void) | undefined;
    await using gateway = await startScriptedGateway((request, connection) => {
      if (request.connection > 1) {
        return succeed(request, connection);
      }
      connection.send(`HTTP/1.1 ${status} Failed\r\ncontent-type: application/json\r\ncontent-length: 4\r\n\r\n{ `);
      held = () => connection.send(' }');
      return undefined;
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
  await using gateway = await startScriptedGateway((request, connection) => {
    const status = statuses.shift();
    return status === undefined ? succeed(request, connection) : fail(status);
  });
  for (let read = 0; read < 3; read += 1) {
    await gateway.run(READ);
  }
  expect(new Set(connectionsOf(gateway.service))).toEqual(new Set([1]));
});

it('the probe of the circuit breaker uses another connection than the failures before it', async () => {
  const script: Script = (request, connection) => (request.connection <= 20 ? fail(503) : succeed(request, connection));
  await using gateway = await startScriptedGateway(script, { maxRetries: 0 });
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
  const gateway = await startScriptedGateway(script, ONE_SOCKET_PER_KEY, { connect: open });
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
