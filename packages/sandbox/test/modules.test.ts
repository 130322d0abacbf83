import { expect, it } from 'vitest';
import { openSandbox } from '../../../test/support/sandbox-client.ts';

// Endpoints of the shipped modules, beyond the contract.

async function open() {
  const send = await openSandbox();
  return {
    send,
    trigger: (to: unknown, fields: object = {}) =>
      send('POST /v1/events/trigger', { body: { name: 'payment-failed', to, ...fields } }),
    async countToday(): Promise<unknown> {
      const { body } = await send('GET /v1/notifications/graph/stats?days=1');
      return Reflect.get(Object([body].flat()[0]), 'count');
    },
    [Symbol.asyncDispose]: send[Symbol.asyncDispose],
  };
}

it('a triggered event is counted and its messages can be deleted, but a repeated transaction is sent once', async () => {
  await using sandbox = await open();
  const before = Number(await sandbox.countToday());
  const to = ['customer-1001', 'customer-1001', { subscriberId: 'new-1', firstName: 'Noa' }];
  for (let times = 0; times < 2; times += 1) {
    const { status, data } = await sandbox.trigger(to, { transactionId: 't1' });
    expect([status, data]).toEqual([201, { acknowledged: true, status: 'processed', transactionId: 't1' }]);
  }
  expect(await sandbox.countToday()).toBe(before + 2);
  expect((await sandbox.send('GET /v1/subscribers/new-1')).data).toMatchObject({ firstName: 'Noa' });
  expect((await sandbox.send('DELETE /v1/messages/transaction/t1')).status).toBe(204);
  expect((await sandbox.send('DELETE /v1/messages/transaction/t1')).status).toBe(404);
  expect(await sandbox.countToday()).toBe(before + 2); // Statistics count what was sent.
  for (const { count, channel } of [
    { count: before + 4, channel: '?channel=email' },
    { count: before + 4, channel: '' },
    { count: before + 6, channel: '' },
  ]) {
    await sandbox.trigger(to, { transactionId: 't1' }); // It is sent again once all its messages are deleted.
    expect(await sandbox.countToday()).toBe(count);
    expect((await sandbox.send(`DELETE /v1/messages/transaction/t1${channel}`)).status).toBe(204);
  }
});

it('an event is not sent without a workflow that is active and has recipients', async () => {
  await using sandbox = await open();
  const before = await sandbox.countToday();
  const unknown = await sandbox.send('POST /v1/events/trigger', { body: { name: 'nope', to: 'customer-1001' } });
  expect(unknown.status).toBe(422);
  const profiles = [{ email: 5 }, { data: 'x' }, { channels: 'x' }].map((fields) => ({ subscriberId: 'a', ...fields }));
  for (const to of [[], {}, { type: 'Topic' }, [''], 5, ...profiles]) {
    expect((await sandbox.trigger(to)).status).toBe(422);
  }
  expect((await sandbox.trigger({ type: 'Topic', topicKey: 'none' })).data).toMatchObject({
    status: 'subscriber_id_missing',
  });
  const { data: workflow } = await sandbox.send('GET /v1/workflows/payment-failed');
  await sandbox.send(`PUT /v1/workflows/${workflow._id}/status`, { body: { active: false } });
  expect((await sandbox.trigger('customer-1001')).data).toMatchObject({ status: 'trigger_not_active' });
  expect(await sandbox.countToday()).toBe(before);
});

it('events in bulk have one result each, and nothing is left to cancel', async () => {
  await using sandbox = await open();
  const sent = ['a', 'b'].map((to) => ({ name: 'payment-failed', to, transactionId: `t-${to}` }));
  const events = [...sent, { name: 'nope', to: 'a' }];
  const { status, data } = await sandbox.send('POST /v1/events/trigger/bulk', { body: { events } });
  expect(status).toBe(201);
  expect(data).toMatchObject([
    { transactionId: 't-a' },
    { transactionId: 't-b' },
    { status: 'error', error: [expect.stringContaining('nope')] },
  ]);
  expect((await sandbox.send('DELETE /v1/events/trigger/t-a')).body).toEqual({ data: false });
});

it('subscribers are listed in pages, updated and deleted', async () => {
  await using sandbox = await open();
  const { body } = await sandbox.send('GET /v1/subscribers?limit=2&page=1');
  expect(body).toMatchObject({ page: 1, pageSize: 2, hasMore: true, data: [{}, {}] });
  expect((await sandbox.send('GET /v1/subscribers?page=1e300')).status).toBe(422);
  const updated = await sandbox.send('PUT /v1/subscribers/customer-1001', { body: { lastName: 'Adeyemi' } });
  expect(updated.data).toMatchObject({ firstName: 'Amara', lastName: 'Adeyemi' });
  expect((await sandbox.send('PUT /v1/subscribers/customer-1001', { body: { email: 'x' } })).status).toBe(422);
  expect((await sandbox.send('DELETE /v1/subscribers/customer-1001')).data).toEqual({
    acknowledged: true,
    status: 'deleted',
  });
  for (const target of ['GET', 'DELETE', 'PUT']) {
    expect(
      (await sandbox.send(`${target} /v1/subscribers/customer-1001`, target === 'PUT' ? { body: {} } : {})).status,
    ).toBe(404);
  }
});

it('topics have subscribers, to whom an event is sent', async () => {
  await using sandbox = await open();
  const topic = { body: { key: 'makers', name: 'Makers' } };
  expect((await sandbox.send('POST /v1/topics', topic)).status).toBe(201);
  expect((await sandbox.send('POST /v1/topics', topic)).status).toBe(409);
  const subscribers = { body: { subscribers: ['customer-1001', 'customer-1002', 'nobody'] } };
  const added = await sandbox.send('POST /v1/topics/makers/subscribers', subscribers);
  expect(added.data).toEqual({ succeeded: ['customer-1001', 'customer-1002'], failed: { notFound: ['nobody'] } });
  const before = Number(await sandbox.countToday());
  await sandbox.trigger([{ type: 'Topic', topicKey: 'makers' }, 'customer-1001']);
  expect(await sandbox.countToday()).toBe(before + 2);
  expect((await sandbox.send('DELETE /v1/topics/makers')).status).toBe(409);
  await sandbox.send('DELETE /v1/subscribers/customer-1002');
  const renamed = await sandbox.send('PATCH /v1/topics/makers', { body: { name: 'All makers' } });
  expect(renamed.data).toMatchObject({ key: 'makers', name: 'All makers', subscribers: ['customer-1001'] });
  expect((await sandbox.send('POST /v1/topics/makers/subscribers/removal', subscribers)).status).toBe(204);
  const { body } = await sandbox.send('GET /v1/topics?key=makers');
  expect(body).toMatchObject({ page: 0, totalCount: 1, data: [{ key: 'makers', subscribers: [] }] });
  expect((await sandbox.send('DELETE /v1/topics/makers')).status).toBe(204);
  expect((await sandbox.send('GET /v1/topics/makers')).status).toBe(404);
});

it('workflows are listed in pages, and searched by names and identifiers', async () => {
  await using sandbox = await open();
  const list = async (query = '') => {
    const { status, body } = await sandbox.send(`GET /v1/workflows?${query}`);
    const { data, ...page } = Object(body);
    return { status, page, identifiers: [data ?? []].flat().map(({ triggers }) => triggers[0].identifier) };
  };
  const all = await list('limit=100');
  expect(all.page).toEqual({ page: 0, pageSize: 100, totalCount: all.identifiers.length });
  expect(await list()).toEqual({
    ...all,
    page: { ...all.page, pageSize: 10 },
    identifiers: all.identifiers.slice(0, 10),
  });
  expect((await list('page=1&limit=3')).identifiers).toEqual(all.identifiers.slice(3, 6));
  expect(await list('query=PAYMENT-F')).toEqual({
    status: 200,
    page: { page: 0, pageSize: 10, totalCount: 1 },
    identifiers: ['payment-failed'],
  });
  expect((await list('query=payment%20f')).identifiers).toEqual(['payment-failed']); // The name.
  expect((await list('query=%25')).identifiers).toEqual([]);
  for (const query of ['page=-1', 'page=1e300', 'limit=0', 'limit=101', 'limit=x']) {
    expect([query, (await list(query)).status]).toEqual([query, 422]);
  }
  const { data: workflow } = await sandbox.send('GET /v1/workflows/payment-failed');
  await sandbox.send(`PUT /v1/workflows/${workflow._id}/status`, { body: { active: false } });
  const { body } = await sandbox.send('GET /v1/workflows?query=payment-failed');
  expect(body).toMatchObject({ data: [{ _id: workflow._id, active: false, draft: true }] });
});
