import { describe, expect, it } from 'vitest';
import type { GatewayOptions } from '../../src/gateway.ts';
import { connectClients, digestOf, runConcurrently } from '../support/concurrent-load.ts';
import { startGateway } from '../support/gateway.ts';
import { workflow } from '../support/records.ts';
import { sampleSize } from '../support/samples.ts';
import { type Connection, formatResponse, type ServiceRequest, startService } from '../support/service.ts';

const DOCUMENT = 'query Read($id: ID!) { workflow(idOrIdentifier: $id) { id name } }';

/** Returns a response with a digest of the credential. */
const echo = ({ path, headers }: ServiceRequest): string =>
  formatResponse({
    body: { data: workflow({ _id: path.split('/').at(-1) ?? '', name: digestOf(headers.authorization ?? '') }) },
  });

/** Sends every response a second time, 0 to 10 ms after the first. */
function echoTwice() {
  let turn = 0;
  return (request: ServiceRequest, connection: Connection) => {
    const delay = turn % 11;
    turn += 1;
    const response = echo(request);
    connection.send(response);
    if (delay === 0) {
      connection.send(response);
    } else {
      const sentAt = performance.now();
      // On a busy machine a timer may be so late that the idle socket may be used for another credential.
      setTimeout(() => performance.now() - sentAt < 15 && connection.send(response), delay);
    }
  };
}

interface LoadOptions {
  calls: number;
  /** Maximum number of calls in flight. */
  atOnce: number;
  credentials: number;
  connections: Pick<GatewayOptions, 'sockets' | 'isolateConnections'>;
}

/** Sends reads with alternating credentials to an upstream that sends every response twice. */
async function sendLoad({ calls, atOnce, credentials, connections }: LoadOptions) {
  await using upstream = await startService(echoTwice());
  await using gateway = await startGateway({ upstream: upstream.url, ...connections });
  await using clients = connectClients(gateway.url, atOnce);
  let [answered, crossed] = [0, 0];
  async function send(call: number): Promise<void> {
    const authorization = `ApiKey key-${call % credentials}`;
    const { text } = await clients.send({ query: DOCUMENT, variables: { id: `id-${call}` }, authorization });
    const [, seen] = /"name":"(\w+)"/.exec(text) ?? [];
    answered += seen === undefined ? 0 : 1;
    crossed += seen === undefined || seen === digestOf(authorization) ? 0 : 1;
  }

  await runConcurrently(calls, atOnce, send);
  const shared = new Map<number, Set<string | undefined>>();
  for (const { connection, headers } of upstream.requests) {
    shared.set(connection, (shared.get(connection) ?? new Set()).add(headers.authorization));
  }
  return {
    answered,
    crossed,
    /** Number of connections used for more than one credential. */
    shared: [...shared.values()].filter(({ size }) => size > 1).length,
    reused: upstream.requests.length - upstream.connections(),
  };
}

describe('an upstream that sends every response twice', () => {
  it.each([2, 10, 100].flatMap((credentials) => [64, 8].map((sockets) => ({ credentials, sockets }))))(
    'mixes up no credentials with isolation: $credentials credentials, $sockets sockets',
    async ({ credentials, sockets }) => {
      const calls = sampleSize(200, 1_700);
      const connections = { sockets, isolateConnections: 'credential' as const };
      const { answered, crossed, shared } = await sendLoad({ calls, atOnce: 20, credentials, connections });
      expect({ crossed, shared, answered }).toEqual({ crossed: 0, shared: 0, answered: calls });
    },
  );

  it('mixes up less than 1 % of responses by default, as long as enough sockets are available', async () => {
    const calls = sampleSize(600, 2_000);
    const { crossed, answered, reused } = await sendLoad({ calls, atOnce: 10, credentials: 10, connections: {} });
    expect(answered).toBe(calls);
    expect(crossed).toBeLessThan(calls / 100); // 6 to 13 % with a pool that reuses the first free socket.
    expect(reused).toBeGreaterThan(0);
  });
});
