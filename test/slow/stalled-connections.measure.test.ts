import { expect, it } from 'vitest';
import { startProbedGateway } from '../support/probed-gateway.ts';
import { connectRaw, postHead, type RawClient } from '../support/raw-client.ts';
import { startService } from '../support/service.ts';
import { scrape } from '../support/worker-load.ts';

const STALLED = 6_000;

/** Connection limit of the second case: a third of the stalled connections. */
const LIMIT = STALLED / 3;

/** Connections that are opened concurrently, fewer than the system's backlog. */
const AT_A_TIME = 100;

const STALLS = {
  'in their headers': 'POST /graphql HTTP/1.1\r\nHost: localhost\r\nX-Stall',
  'in their bodies': `${postHead('/graphql', 'Content-Length: 200000')}{"query":"`,
  'after half of their bodies': postHead('/graphql', 'Content-Length: 200000') + ' '.repeat(100_000),
};

/** Sends an operation and a readiness check on new connections, and returns both statuses. */
async function ask(url: string) {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'ApiKey one', connection: 'close' },
    body: '{"query":"{ notificationGroups { name } }"}',
  });
  const ready = await fetch(new URL('/readyz', url), { headers: { connection: 'close' } });
  const body = await answer.text();
  return { statuses: [answer.status, ready.status], body };
}

it.each([
  ['below the limit', ['in their headers', 'in their bodies'], {}],
  [
    'of which a third fits the limit',
    ['in their headers', 'in their bodies'],
    { NOTIGRAPH_MAX_CONNECTIONS: `${LIMIT}` },
  ],
  ['sending more data than the memory limit permits', ['after half of their bodies'], {}],
] as const)(`${STALLED} stalled connections, %s, keep no other client from a response`, async (_, stalls, env) => {
  await using upstream = await startService(() => ({ body: { data: [] } }));
  await using gateway = await startProbedGateway(upstream.url, {
    ...env,
    NOTIGRAPH_MAX_EVENT_LOOP_DELAY_MS: '10000', // The machine may be busy.
  });
  await ask(gateway.url);
  const clients: RawClient[] = [];
  const open = async (_: unknown, i: number) => {
    const client = await connectRaw(gateway.url);
    clients.push(client);
    void client.send(STALLS[stalls[i % stalls.length] ?? stalls[0]]);
  };
  const answers = [];
  while (clients.length < STALLED) {
    await Promise.all(Array.from({ length: AT_A_TIME }, open));
    if (clients.length % (STALLED / 6) === 0) {
      answers.push(await ask(gateway.url));
    }
  }
  answers.push(await ask(gateway.url));
  for (const answer of answers) {
    expect(answer).toEqual({ statuses: [200, 200], body: '{"data":{"notificationGroups":[]}}' });
  }
  const { notigraph_connections: connections, notigraph_buffered_bytes: bytes } = await scrape(
    gateway.url,
    /^notigraph_(?:connections|buffered_bytes) /,
  );
  expect(connections).toBeGreaterThanOrEqual('NOTIGRAPH_MAX_CONNECTIONS' in env ? LIMIT - 10 : 500);
  expect(connections).toBeLessThanOrEqual('NOTIGRAPH_MAX_CONNECTIONS' in env ? LIMIT : STALLED + 10);
  expect(bytes).toBeLessThanOrEqual(64 * 1024 * 1024);
  for (const { socket } of clients) {
    socket.destroy();
  }
});
