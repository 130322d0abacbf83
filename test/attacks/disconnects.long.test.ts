import { once } from 'node:events';
import { expect, it } from 'vitest';
import { startNotigraph } from '../support/process.ts';
import { connectRaw, postHead, type RawClient } from '../support/raw-client.ts';
import { group } from '../support/records.ts';
import { createTemporaryFolder } from '../support/sandbox-files.ts';
import { startService } from '../support/service.ts';

const BODY = JSON.stringify({ query: '{ notificationGroups { name } }' });
const KEY = 'Authorization: ApiKey one';

/** Ways to disconnect: with an orderly close, and with a reset. */
const DISCONNECTS = [
  ({ socket }: RawClient) => void socket.destroy(),
  ({ socket }: RawClient) => void socket.resetAndDestroy(),
];

it('clients that close or reset the connection early cause no warning or error', async () => {
  await using folder = await createTemporaryFolder();
  const name = 'x'.repeat(4 * 1024 * 1024);
  await using upstream = await startService(() => ({ body: { data: [group({ name })] } }));
  await using notigraph = await startNotigraph({ cwd: folder.path(), args: ['--upstream', upstream.url] });

  const heads = [
    'POST /graphql HTTP/1.1\r\nHost: loc',
    `${postHead('/graphql', KEY, 'Content-Length: 200000')}${'x'.repeat(1_000)}`,
    `${postHead('/graphql', KEY, 'Transfer-Encoding: chunked')}400\r\nabc`,
    postHead('/graphql', KEY, 'Expect: 100-continue', 'Content-Length: 100'),
    `${postHead('/elsewhere', KEY, 'Content-Length: 200000')}${'x'.repeat(100_000)}`,
  ];
  const whole = `${postHead('/graphql', KEY, `Content-Length: ${BODY.length}`)}${BODY}`;
  for (const disconnect of DISCONNECTS) {
    for (const head of heads) {
      const client = await connectRaw(notigraph.url);
      await client.send(head);
      await fetch(new URL('/livez', notigraph.url)); // The server has read the head by now.
      disconnect(client);
      await fetch(new URL('/livez', notigraph.url)); // The server has noticed the disconnect by now.
    }

    const reader = await connectRaw(notigraph.url, { reads: false });
    await reader.send(whole.repeat(4)); // The responses do not fit into the socket buffers.
    reader.socket.once('data', () => {});
    reader.socket.resume();
    await once(reader.socket, 'data');
    reader.socket.pause();
    disconnect(reader);

    const held = upstream.hold();
    const waiting = await connectRaw(notigraph.url);
    await waiting.send(whole);
    await held.arrived;
    disconnect(waiting);
  }

  const { code, stdout, stderr } = await notigraph.stop('SIGTERM');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout.split('\n').filter((line) => /^\{"level":"(?!info)/.test(line))).toEqual([]);
});
