import { expect, it } from 'vitest';
import { type Attack, inWorkflow, JSON_TYPE, post, postWithKey, repeat, startTarget } from '../support/attack.ts';
import { ofFile } from '../support/lifetime.ts';
import { connectRaw } from '../support/raw-client.ts';

const CONNECTIONS = 100;

/** Maximum memory of the unread responses to rejected requests, in MB. */
const MAX_GROWTH_MB = 64;

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
    '200 ids of an invalid type, with a key',
    () =>
      postWithKey('query ($ids: [ID!]!) { workflows(idsOrIdentifiers: $ids) { id } }', {
        variables: { ids: Array.from({ length: 200 }, () => ({ a: 'x'.repeat(1_000) })) },
      }),
  ],
  [
    'an unknown parameter of 200 KB',
    (i) => ({ headers: JSON_TYPE, body: JSON.stringify({ [`${i}${'é'.repeat(100_000)}`]: 1 }) }),
  ],
];

const gateway = ofFile(await startTarget('http://127.0.0.1:9'));

it.each(REJECTED)('100 connections that do not read their response use little memory: %s', async (_, attackOf) => {
  const logged = () => gateway.logLines.get('info') ?? 0;
  const loggedBefore = logged();
  const before = await gateway.vitals('collect garbage');
  const clients = await Promise.all(
    Array.from({ length: CONNECTIONS }, () => connectRaw(gateway.url, { reads: false })),
  );
  for (const [i, client] of clients.entries()) {
    const { headers, body = '' } = attackOf(i);
    const lines = Object.entries({ ...headers, 'content-length': Buffer.byteLength(body) });
    await client.send(
      `POST /graphql HTTP/1.1\r\nhost: x\r\n${lines.map((line) => `${line.join(': ')}\r\n`).join('')}\r\n${body}`,
    );
  }
  await expect.poll(logged).toBeGreaterThanOrEqual(loggedBefore + CONNECTIONS);
  const after = await gateway.vitals('collect garbage');
  for (const { socket } of clients) {
    socket.destroy();
  }
  expect(after.heapMb + after.externalMb - before.heapMb - before.externalMb).toBeLessThan(MAX_GROWTH_MB);
});
