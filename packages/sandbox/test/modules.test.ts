import { DatabaseSync } from 'node:sqlite';
import { expect, it } from 'vitest';
import { openSandbox } from '../../../test/support/sandbox-client.ts';
import { createTemporaryFolder } from '../../../test/support/sandbox-files.ts';

/** Channels of the workflow. Statistics count a notification once per channel. */
const CHANNELS = 3;

// Endpoints of the shipped modules, beyond the contract.

async function open() {
  const send = await openSandbox();
  return {
    send,
    trigger: (to: unknown, fields: object = {}) =>
      send('POST /v1/events/trigger', { body: { name: 'payment-failed', to, ...fields } }),
    async countToday(): Promise<unknown> {
      const { list } = await send('GET /v1/notifications/graph/stats?days=1');
      return list[0]?.count;
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
  expect(await sandbox.countToday()).toBe(before + 2 * CHANNELS);
  expect((await sandbox.send('GET /v1/subscribers/new-1')).data).toMatchObject({ firstName: 'Noa' });
  expect((await sandbox.send('DELETE /v1/messages/transaction/t1')).status).toBe(204);
  expect((await sandbox.send('DELETE /v1/messages/transaction/t1')).status).toBe(404);
  expect(await sandbox.countToday()).toBe(before + 2 * CHANNELS); // Statistics count what was sent.
  for (const { count, channel } of [
    { count: before + 4 * CHANNELS, channel: '?channel=email' },
    { count: before + 4 * CHANNELS, channel: '' },
    { count: before + 6 * CHANNELS, channel: '' },
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
  expect(unknown).toMatchObject({ status: 422, body: { message: 'workflow_not_found' } });
  const profiles = [{ email: 5 }, { data: 'x' }, { channels: 'x' }].map((fields) => ({ subscriberId: 'a', ...fields }));
  for (const to of [[], {}, { type: 'Topic' }, [''], 5, ...profiles]) {
    expect((await sandbox.trigger(to)).status).toBe(422);
  }
  const { data: workflow } = await sandbox.send('GET /v1/workflows/payment-failed');
  await sandbox.send(`PUT /v1/workflows/${workflow._id}/status`, { body: { active: false } });
  expect((await sandbox.trigger('customer-1001')).data).toEqual({ acknowledged: true, status: 'trigger_not_active' });
  expect(await sandbox.countToday()).toBe(before);
});

it('an event to a workflow without active steps, for an unknown tenant or only to invalid ids is not sent', async () => {
  await using folder = await createTemporaryFolder();
  const file = folder.path('sandbox.db');
  await using send = await openSandbox({ file });
  using database = new DatabaseSync(file);
  const setSteps = database.prepare("UPDATE workflows SET document = json_set(document, '$.steps', json(?))");
  const trigger = async (fields: object) => {
    const event = { name: 'payment-failed', to: 'customer-1001', transactionId: 't1', ...fields };
    const { data, status } = await send('POST /v1/events/trigger', { body: event });
    return { ...data, http: status };
  };
  const answer = (status: string, rest = {}) => ({ acknowledged: true, status, http: 201, ...rest });
  const sent = { transactionId: 't1' };
  expect(await trigger({ tenant: 'acme' })).toEqual(answer('no_tenant_found'));
  const invalid = ['user 1', { subscriberId: 'a/b' }, ' customer-1001', 'kund:å', { type: 'Topic', topicKey: 'a b' }];
  expect(await trigger({ to: invalid })).toEqual(answer('invalid_recipients', sent));
  expect((await send('GET /v1/subscribers/user%201')).status).toBe(404);
  const toSome = { to: [...invalid, 'ada+1@example.com', 'User_1-b', 'org:1.b'], transactionId: 't2' };
  expect(await trigger(toSome)).toEqual(answer('processed', { transactionId: 't2' }));
  expect((await send('GET /v1/subscribers/ada%2B1@example.com')).status).toBe(200);
  expect((await send('GET /v1/subscribers/org:1.b')).status).toBe(200);
  expect((await send('GET /v1/subscribers/a%2Fb')).status).toBe(404);
  setSteps.run('[]');
  expect(await trigger({})).toEqual(answer('no_workflow_steps_defined'));
  setSteps.run('[{ "active": false, "template": { "type": "email" } }]');
  expect(await trigger({})).toEqual(answer('no_workflow_active_steps_defined'));
  setSteps.run('[{ "active": true, "template": { "type": "digest" } }]');
  expect(await trigger({})).toEqual(answer('processed', sent));
});

it('events in bulk have one result each, and nothing is left to cancel', async () => {
  await using sandbox = await open();
  const sent = ['a', 'b'].map((to) => ({ name: 'payment-failed', to, transactionId: `t-${to}`, payload: {} }));
  const withoutPayload = [undefined, null].map((payload) => ({ name: 'payment-failed', to: 'c', payload }));
  const events = [...sent, { name: 'nope', to: 'a', payload: {} }, ...withoutPayload];
  const { status, data } = await sandbox.send('POST /v1/events/trigger/bulk', { body: { events } });
  expect(status).toBe(201);
  expect(data).toMatchObject([
    { transactionId: 't-a' },
    { transactionId: 't-b' },
    { acknowledged: true, status: 'error', error: ['workflow_not_found'] },
    ...[1, 2].map(() => ({ status: 'error', error: ['payload should not be null or undefined'] })),
  ]);
  expect((await sandbox.send('GET /v1/subscribers/c')).status).toBe(404);
  const alone = await sandbox.send('POST /v1/events/trigger', { body: withoutPayload[1] });
  expect(alone.data).toMatchObject({ status: 'processed' });
  expect((await sandbox.send('DELETE /v1/events/trigger/t-a')).body).toEqual({ data: false });
});

it('an event is sent to the subscribers of a topic, which it loses with them', async () => {
  await using sandbox = await open();
  await sandbox.send('POST /v1/topics', { body: { key: 'makers', name: 'Makers' } });
  const body = { subscribers: ['customer-1001', 'customer-1002'] };
  await sandbox.send('POST /v1/topics/makers/subscribers', { body });
  const before = Number(await sandbox.countToday());
  await sandbox.trigger([{ type: 'Topic', topicKey: 'makers' }, 'customer-1001']);
  expect(await sandbox.countToday()).toBe(before + 2 * CHANNELS);
  await sandbox.send('DELETE /v1/subscribers/customer-1002');
  expect((await sandbox.send('GET /v1/topics/makers')).data).toMatchObject({ subscribers: ['customer-1001'] });
});

it('an event to topics is not sent to its actor, and to none of them if one is unknown', async () => {
  await using sandbox = await open();
  const makers = { type: 'Topic', topicKey: 'makers' };
  await sandbox.send('POST /v1/topics/makers/subscribers', {
    body: { subscribers: ['customer-1001', 'customer-1002'] },
  });
  const before = Number(await sandbox.countToday());
  const recipients: [to: object, count: number, fields?: object][] = [
    [[makers, 'customer-1003'], 3],
    [makers, 1, { actor: 'customer-1001' }],
    [makers, 1, { actor: { subscriberId: 'customer-1002' } }],
    [[makers, { type: 'Topic', topicKey: 'none' }, 'customer-1003'], 1],
    [{ type: 'Topic', topicKey: 'none' }, 0],
  ];
  let expected = before;
  for (const [to, count, fields] of recipients) {
    expect((await sandbox.trigger(to, fields)).data).toMatchObject({ status: 'processed' });
    expected += count * CHANNELS;
    expect(await sandbox.countToday()).toBe(expected);
  }
});

it('adding subscribers creates the topic, and removing them needs none', async () => {
  await using sandbox = await open();
  const add = async (subscribers: string[]) =>
    (await sandbox.send('POST /v1/topics/makers/subscribers', { body: { subscribers } })).data;
  expect(await add(['nobody'])).toEqual({ succeeded: [], failed: { notFound: ['nobody'] } });
  expect(await add(['customer-1001'])).toEqual({ succeeded: ['customer-1001'] });
  const topic = { key: 'makers', name: 'Autogenerated-makers', subscribers: ['customer-1001'] };
  expect((await sandbox.send('GET /v1/topics/makers')).data).toMatchObject(topic);
  const body = { subscribers: ['customer-1001'] };
  expect((await sandbox.send('POST /v1/topics/none/subscribers/removal', { body })).status).toBe(204);
  expect((await sandbox.send('GET /v1/topics/none')).status).toBe(404);
});

it('pages of topics have at most 10, and an empty key is none', async () => {
  await using sandbox = await open();
  await sandbox.send('POST /v1/topics', { body: { key: 'makers', name: 'Makers' } });
  const countOf = async (query: string) => (await sandbox.send(`GET /v1/topics?${query}`)).list.length;
  expect([await countOf('pageSize=10'), await countOf('key='), await countOf('key=none')]).toEqual([1, 1, 0]);
  const { status, body } = await sandbox.send('GET /v1/topics?pageSize=11');
  expect([status, body]).toMatchObject([400, { message: 'Page size can not be larger then 10' }]);
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
