import { Client, cacheExchange, fetchExchange } from '@urql/core';
import { expect, it } from 'vitest';
import { startGateway } from '../../../test/support/gateway.ts';
import { SANDBOX_KEYS } from '../../sandbox/src/sandbox.ts';
import {
  DeleteNotificationGroupDocument,
  NotificationGroupsDocument,
  UpdateNotificationGroupDocument,
} from '../src/index.ts';

it('urql’s cache reloads lists after a mutation that returns such a record, or names its type', async () => {
  await using gateway = await startGateway({ service: 'sandbox' });
  const headers = { authorization: `ApiKey ${SANDBOX_KEYS.development}` };
  const urql = new Client({
    url: gateway.url,
    exchanges: [cacheExchange, fetchExchange],
    preferGetMethod: false,
    fetchOptions: { headers },
  });
  /** @returns the groups, and how often they were loaded for this */
  async function read() {
    gateway.forget();
    const { data } = await urql.query(NotificationGroupsDocument, {});
    return { groups: data?.notificationGroups ?? [], calls: gateway.upstream().length };
  }
  const { groups } = await read();
  const [first, second] = groups.map((group) => String(group?.id));
  expect(await read()).toEqual({ groups, calls: 0 });

  await urql.mutation(UpdateNotificationGroupDocument, { input: { id: String(first), name: 'Renamed' } });
  const renamed = await read();
  expect(renamed).toEqual({ groups: [{ ...groups[0], name: 'Renamed' }, ...groups.slice(1)], calls: 1 });

  const input = { id: String(second) };
  await urql.mutation(DeleteNotificationGroupDocument, { input }, { additionalTypenames: ['NotificationGroup'] });
  expect(await read()).toEqual({ groups: renamed.groups.filter((group) => group?.id !== second), calls: 1 });
});
