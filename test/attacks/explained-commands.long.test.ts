import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { sendExplain } from '../support/explain.ts';
import { startGateway } from '../support/gateway.ts';
import { guards } from '../support/guards.ts';
import { findPrograms } from '../support/programs.ts';
import { createTemporaryFolder } from '../support/sandbox-files.ts';
import { startService } from '../support/service.ts';

guards('src/upstream/calls/recorder.ts', 'createRecorder.curlOf');

const KEY = 'the-key';

const CURL = findPrograms('curl');

it.runIf(CURL.areThere)(
  `explained commands send exactly the request of the operation, and run nothing that an id contains${CURL.note}`,
  async () => {
    await using folder = await createTemporaryFolder();
    await using upstream = await startService(() => ({ status: 400, body: { message: 'rejected' } }));
    await using gateway = await startGateway({ upstream: `${upstream.url}/a%20b/[c]{1,2}` });
    const hostile = [
      "'; touch created; '",
      '$(touch created)',
      '`id`',
      '"\\%2e%',
      '{a,b}[1-3]?#&',
      '@/etc/passwd',
      'é\u{1F600}',
    ];
    const query = `mutation M(${hostile.map((_, i) => `$id${i}: ID!, $name${i}: String!`)}) {
    ${hostile.map((_, i) => `d${i}: deleteFeed(input: { id: $id${i} }) { __typename } c${i}: createFeed(input: { name: $name${i}, idempotencyKey: $name${i} }) { __typename }`).join('\n')}
    m: deleteMessagesByTransaction(input: { transactionId: "t", channel: IN_APP }) { __typename }
  }`;
    const variables = Object.fromEntries(
      hostile.flatMap((text, i) => [
        [`id${i}`, text.replace(/[/\\]/g, '')], // Ids can't have slashes.
        [`name${i}`, text],
      ]),
    );
    const authorization = `ApiKey ${KEY}`;
    const { body } = await sendExplain(gateway, { query, variables }, { authorization });
    expect(body.errors).toBeUndefined();
    const commands = body.extensions?.explain?.calls.map(({ curl }) => curl) ?? [];
    expect(commands).toHaveLength(2 * hostile.length + 1);
    expect(upstream.requests).toEqual([]);
    for (const command of commands) {
      await promisify(execFile)('sh', ['-c', `${command?.replace('***', KEY)} --silent`], { cwd: folder.path() });
    }
    await gateway.send(query, variables, { authorization });
    const [pasted, sent] = [upstream.requests.slice(0, commands.length), upstream.requests.slice(commands.length)].map(
      (requests) =>
        requests.map(({ method, path, headers, body: text }) => [
          method,
          path,
          text,
          headers.authorization,
          headers['content-type'],
          headers['idempotency-key'],
        ]),
    );
    expect(sent).toHaveLength(commands.length);
    expect(pasted).toEqual(sent);
    expect(existsSync(folder.path('created'))).toBe(false);
  },
);
