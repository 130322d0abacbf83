import { expect, it } from 'vitest';
import { startGateway } from '../support/gateway.ts';
import { metricValues } from '../support/metrics-text.ts';
import { startService } from '../support/service.ts';

/** Made-up names per kind of caller: more than have their own count. */
const NAMES = 110;

const CONCURRENCY = 10;

it('made-up names of clients get at most 100 counts, and none if the caller is not authenticated', async () => {
  await using upstream = await startService(({ headers }) =>
    headers.authorization === 'ApiKey accepted' ? { body: { data: [] } } : { status: 401, body: {} },
  );
  await using gateway = await startGateway({ upstream: upstream.url });
  async function sendNames(prefix: string, authorization: string | null): Promise<void> {
    for (let i = 0; i < NAMES; i += CONCURRENCY) {
      const names = Array.from({ length: CONCURRENCY }, (_, n) => `${prefix}-${i + n}`);
      await Promise.all(
        names.map((name) =>
          gateway.send(
            '{ notificationGroups { id } }',
            {},
            { authorization, headers: { 'x-graphql-client-name': name } },
          ),
        ),
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
