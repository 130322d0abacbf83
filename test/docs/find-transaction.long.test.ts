import { execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import events from '../../src/modules/shipped/events.ts';
import { blocks, read } from '../support/docs.ts';
import { startGateway } from '../support/gateway.ts';
import { createTestFolder } from '../support/sandbox-files.ts';

it('the commands of docs/logs.md find the operation that triggered a transaction', async () => {
  const folder = await createTestFolder();
  const event = (transactionId: string, status = 'processed') => ({ acknowledged: true, status, transactionId });
  await using gateway = await startGateway({
    service: ({ path }) => ({
      status: 201,
      body: { data: path.endsWith('/bulk') ? [event('t-1'), event('t-2', 'invalid_recipients')] : event('t-3') },
    }),
    audit: { to: { file: folder.path('audit.jsonl') } },
    modules: [events],
  });
  const input = '{ workflow: "w", subscriberIds: ["a"] }';
  const headers = { 'x-request-id': 'invoice-1042' };
  await gateway.data(`mutation { triggerEvent(input: { event: ${input} }) { __typename } }`, {}, { headers });
  await gateway.data(`mutation { triggerEvents(input: { events: [${input}, ${input}] }) { __typename } }`);
  await writeFile(folder.path('notigraph.log'), gateway.log.map((line) => `${JSON.stringify(line)}\n`).join(''));

  const [byRequest = '', byTransaction = ''] = blocks(read('docs/logs.md'), 'sh');
  const find = (command: string, id: string) =>
    JSON.parse(
      execFileSync('sh', ['-c', command.replace('invoice-1042', id)], { cwd: folder.path(''), encoding: 'utf8' }),
    );
  const triggered = find(byRequest, 'invoice-1042');
  expect(triggered).toMatchObject({ msg: 'operation', requestId: 'invoice-1042', httpStatus: 200 });
  expect(triggered.results).toBeUndefined();
  const { requestId } = find(byTransaction, 't-2');
  expect(find(byRequest, requestId)).toMatchObject({ results: ['triggerEvents: INVALID_RECIPIENTS'] });
});
