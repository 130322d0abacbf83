import { beforeAll, describe, expect, it } from 'vitest';
import { createClient, NotificationGroupsDocument } from '../../packages/client/src/index.ts';
import { SANDBOX_KEYS } from '../../packages/sandbox/src/sandbox.ts';
import { startGateway } from '../support/gateway.ts';
import { guards } from '../support/guards.ts';
import { ofFile } from '../support/lifetime.ts';
import { metricValues } from '../support/metrics-text.ts';

guards('src/http/pipeline/respond.ts', 'createRespond');

const GROUPS = '{ notificationGroups { id } }';

const gateway = ofFile(await startGateway({ service: () => ({ body: { data: [] } }) }));

describe('the names of clients', () => {
  beforeAll(async () => {
    const send = (headers: Record<string, string>, operation = GROUPS) => gateway.send(operation, {}, { headers });
    const web = { 'x-graphql-client-name': '@acme/web', 'x-graphql-client-version': '1.4.0-beta+5' };
    await send(web);
    await send(web);
    await send({ 'x-graphql-client-name': '@acme/web' });
    await send(web, '{ nope }'); // Not an operation.
    await send(web, '{ workflow(idOrIdentifier: "..") { id } }'); // Fails, but the client is known.
    await send({ 'apollographql-client-name': 'ios', 'apollographql-client-version': '7' });
    await send({ 'x-graphql-client-name': 'Canary "4711"', 'x-graphql-client-version': '1' });
    await send({ 'x-graphql-client-name': 'c'.repeat(65) });
    await send({});
    await send({ 'x-graphql-client-name': 'unproven' }, '{ __typename }');
    const notigraph = createClient({
      url: gateway.url,
      authorization: `ApiKey ${SANDBOX_KEYS.development}`,
      clientName: 'script',
      clientVersion: '2',
    });
    await notigraph.request(NotificationGroupsDocument);
  });

  it('count operations, if the form of the name is acceptable', async () => {
    const label = (client: string, version: string) =>
      `notigraph_client_operations_total{client="${client}",version="${version}"}`;
    expect(metricValues(await gateway.metrics(), /^notigraph_client_operations_total/)).toEqual({
      [label('@acme/web', '1.4.0-beta+5')]: 3,
      [label('@acme/web', '(none)')]: 1,
      [label('ios', '7')]: 1,
      [label('script', '2')]: 1,
      [label('(none)', '(none)')]: 3,
      [label('(other)', '(other)')]: 1,
    });
  });

  it('are logged with every request', () => {
    const lines = gateway.log.filter(({ msg }) => msg === 'operation');
    expect(lines.map(({ client, clientVersion }) => [client, clientVersion])).toEqual([
      ['@acme/web', '1.4.0-beta+5'],
      ['@acme/web', '1.4.0-beta+5'],
      ['@acme/web', undefined],
      ['@acme/web', '1.4.0-beta+5'],
      ['@acme/web', '1.4.0-beta+5'],
      ['ios', '7'],
      [undefined, '1'],
      [undefined, undefined],
      [undefined, undefined],
      ['unproven', undefined],
      ['script', '2'],
    ]);
  });
});

/** Made-up names per kind of caller: more than have their own count. */
const NAMES = 110;

const CONCURRENCY = 10;

it('made-up names of clients get at most 100 counts, and none if the caller is not authenticated', async () => {
  await using gateway = await startGateway({
    service: ({ headers }) =>
      headers.authorization === 'ApiKey accepted' ? { body: { data: [] } } : { status: 401, body: {} },
  });
  async function sendNames(prefix: string, authorization: string | null): Promise<void> {
    for (let i = 0; i < NAMES; i += CONCURRENCY) {
      const names = Array.from({ length: CONCURRENCY }, (_, n) => `${prefix}-${i + n}`);
      await Promise.all(
        names.map((name) => gateway.send(GROUPS, {}, { authorization, headers: { 'x-graphql-client-name': name } })),
      );
    }
  }
  const counts = async () => metricValues(await gateway.metrics(), /^notigraph_client_operations_total/);
  const other = 'notigraph_client_operations_total{client="(other)",version="(other)"}';

  await sendNames('nobody', null);
  await sendNames('wrong-key', 'ApiKey made-up');
  expect(Object.keys(await counts()).filter((line) => !/\((none|other)\)/.test(line))).toEqual([]);
  expect((await counts())[other]).toBe(2 * NAMES);

  await sendNames('server', 'ApiKey accepted');
  expect(Object.keys(await counts()).filter((line) => line.includes('"server-'))).toHaveLength(100);
  expect((await counts())[other]).toBe(3 * NAMES - 100);
});
