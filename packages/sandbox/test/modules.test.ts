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

it('an event is sent to the subscribers of a topic, which it loses with them', async () => {
  await using sandbox = await open();
  await sandbox.send('POST /v1/topics', { body: { key: 'makers', name: 'Makers' } });
  const body = { subscribers: ['customer-1001', 'customer-1002'] };
  await sandbox.send('POST /v1/topics/makers/subscribers', { body });
  const before = Number(await sandbox.countToday());
  await sandbox.trigger([{ type: 'Topic', topicKey: 'makers' }, 'customer-1001']);
  expect(await sandbox.countToday()).toBe(before + 2);
  await sandbox.send('DELETE /v1/subscribers/customer-1002');
  expect((await sandbox.send('GET /v1/topics/makers')).data).toMatchObject({ subscribers: ['customer-1001'] });
});

it('pages of workflows have texts of names and identifiers literally, and limits', async () => {
  await using sandbox = await open();
  const countOf = async (text: string) =>
    Reflect.get(Object((await sandbox.send(`GET /v1/workflows?query=${text}`)).body), 'totalCount');
  const texts = ['PAYMENT-F', 'payment%20f', '%25'];
  expect(await Promise.all(texts.map(countOf))).toEqual([1, 1, 0]);
  for (const query of ['page=-1', 'page=1e300', 'limit=0', 'limit=101', 'limit=x']) {
    expect([query, (await sandbox.send(`GET /v1/workflows?${query}`)).status]).toEqual([query, 422]);
  }
});
