import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect, it } from 'vitest';
import { type Attack, JSON_TYPE, post, repeat, startTarget } from '../support/attack.ts';

const CONNECTIONS = 100;

/** Maximum memory of the unread responses to rejected requests, in MB. */
const MAX_GROWTH_MB = 64;

const inWorkflow = (selections: string): string => `{ workflow(idOrIdentifier: "a") { ${selections} } }`;

/** Requests with the largest possible rejections. */
const REJECTED: [string, (i: number) => Attack][] = [
  [
    'five long messages each',
    (i) => post(inWorkflow(repeat(5, (j) => `f${i}_${j}${'workflowIntegrationStatus'.repeat(250)}`))),
  ],
  [
    'five invalid values of 200 KB each',
    (i) =>
      post(`mutation ($v: CreateSubscriberInput!) { a${i}: createSubscriber(input: $v) { __typename } }`, {
        variables: { v: Object.fromEntries(Array.from({ length: 5 }, (_, j) => [`${'é'.repeat(20_000)}${j}`, 1])) },
      }),
  ],
  [
    'an unknown parameter of 200 KB',
    (i) => ({ headers: JSON_TYPE, body: JSON.stringify({ [`${i}${'é'.repeat(100_000)}`]: 1 }) }),
  ],
];

/** Sends a request and never reads the response. */
async function sendUnread(url: URL, { headers = {}, body = '' }: Attack): Promise<Socket> {
  const socket = connect(Number(url.port), url.hostname);
  await once(socket, 'connect');
  socket.pause();
  const lines = Object.entries({ host: url.host, ...headers, 'content-length': Buffer.byteLength(body) });
  socket.write(
    `POST ${url.pathname} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body}`,
  );
  return socket;
}

it.each(REJECTED)('100 connections that do not read their response use little memory: %s', async (_, attackOf) => {
  await using gateway = await startTarget('http://127.0.0.1:9');
  const url = new URL(gateway.url);
  const before = await gateway.vitals('collect garbage');
  const sockets = await Promise.all(Array.from({ length: CONNECTIONS }, (_, i) => sendUnread(url, attackOf(i))));
  let lines = 0;
  while (lines < CONNECTIONS) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    lines = gateway.logLines.get('info') ?? 0;
  }
  const after = await gateway.vitals('collect garbage');
  for (const socket of sockets) {
    socket.destroy();
  }
  expect(after.heapMb + after.externalMb - before.heapMb - before.externalMb).toBeLessThan(MAX_GROWTH_MB);
});
