import { describe, expect, it } from 'vitest';
import { openSandbox, openSandboxOfFile } from '../../../test/support/sandbox-client.ts';

const UNKNOWN_ID = '000000000000000000000000';

const send = openSandboxOfFile();

describe('workflows', () => {
  it('have neither a group object nor deletion fields', async () => {
    const { data } = await send('GET /v1/workflows/payment-failed');
    expect(data).not.toHaveProperty('notificationGroup');
    expect(data).not.toHaveProperty('deletedAt');
    expect(data).not.toHaveProperty('deletedBy');

    const group = await send(`GET /v1/notification-groups/${data._notificationGroupId}`);
    expect(group.data).toMatchObject({ name: 'Billing' });
  });

  it('include digests, delays, filters and all five channels', async () => {
    const identifiers = [
      'welcome-onboarding',
      'comment-mention',
      'weekly-digest',
      'payment-failed',
      'order-shipped',
      'password-reset',
      'incident-alert',
    ];
    const answers = await Promise.all(identifiers.map((identifier) => send(`GET /v1/workflows/${identifier}`)));
    const types = new Set(
      answers.flatMap(({ text }) => Array.from(text.matchAll(/"type":"(\w+)"/g), ([, type]) => type)),
    );
    for (const type of ['in_app', 'email', 'sms', 'chat', 'push', 'digest', 'delay', 'BOOLEAN']) {
      expect(types).toContain(type);
    }
    expect(answers[1]?.data.steps).toMatchObject([{ metadata: { backoff: true, backoffAmount: 2 } }, {}, {}]);
  });

  it('become drafts when they are switched off, and active again when they are switched on', async () => {
    const { data: before } = await send('GET /v1/workflows/order-shipped');

    const off = await send(`PUT /v1/workflows/${before._id}/status`, { body: { active: false } });
    expect(off.status).toBe(200);
    expect(off.data).toMatchObject({ _id: before._id, active: false, draft: true });
    expect(off.data.updatedAt).not.toBe(before.updatedAt);
    expect((await send('GET /v1/workflows/order-shipped')).data).toEqual(off.data);

    const on = await send(`PUT /v1/workflows/${before._id}/status`, { body: { active: true } });
    expect(on.data).toMatchObject({ active: true, draft: false });
  });

  it('have only the types of their templates in a list, with the newest first', async () => {
    await using sendOwn = await openSandbox();
    const { list } = await sendOwn('GET /v1/workflows?limit=100');
    const createdAt = list.map((each) => String(each.createdAt));
    expect(createdAt).toEqual(createdAt.toSorted().toReversed());
    for (const { _id, ...listed } of list) {
      const { data } = await sendOwn(`GET /v1/workflows/${_id}`);
      const { data: whole } = await sendOwn(`GET /v1/notification-groups/${data._notificationGroupId}`);
      const { _parentId, createdAt: _at, updatedAt: _of, __v, ...group } = whole;
      const thin = JSON.parse(JSON.stringify({ ...data, notificationGroup: group }), (name, value) =>
        name === 'id' ? undefined : name === 'template' ? { _id: value._id, type: value.type } : value,
      );
      expect({ _id, ...listed }).toEqual(thin);
    }
    expect(list).toHaveLength(8);
  });

  it('are switched on and off in the development environment only', async () => {
    const { list } = await send('GET /v1/workflows', { as: 'production' });
    for (const id of [list[0]?._id, UNKNOWN_ID, 'malformed']) {
      const answer = await send(`PUT /v1/workflows/${id}/status`, { as: 'production', body: { active: false } });
      expect(answer).toMatchObject({
        status: 401,
        body: { message: 'This action is only allowed in Development environment' },
      });
    }
  });
});

describe('subscribers', () => {
  it('are updated if their subscriberId exists: absent fields stay, data is replaced', async () => {
    const first = await send('POST /v1/subscribers', {
      body: {
        subscriberId: 'again',
        firstName: 'Ada',
        phone: '+1',
        data: { a: 1, b: 2 },
        channels: [{ providerId: 'fcm' }],
      },
    });
    const second = await send('POST /v1/subscribers', {
      body: { subscriberId: 'again', firstName: 'Ada L.', data: { c: 3 } },
    });
    expect(second.status).toBe(201);
    expect(second.data).toMatchObject({
      _id: first.data._id,
      createdAt: first.data.createdAt,
      firstName: 'Ada L.',
      phone: '+1',
      channels: [{ providerId: 'fcm' }],
    });
    expect(second.data.data).toEqual({ c: 3 });
  });

  it('are created with an id without outer spaces, and answer an update with the time of the one before', async () => {
    let now = Date.parse('2026-03-17T12:00:00.000Z');
    await using sendOwn = await openSandbox({ now: () => new Date(now) });
    const timesOf = async (target: string, body?: object) => {
      now += 1000;
      const { data } = await sendOwn(target, body && { body });
      return [data.subscriberId, data.createdAt, data.updatedAt].map((each) => String(each).slice(-6));
    };
    expect(await timesOf('POST /v1/subscribers', { subscriberId: ' user-1 ' })).toEqual(['user-1', '1.000Z', '1.000Z']);
    expect(await timesOf('POST /v1/subscribers', { subscriberId: 'user-1' })).toEqual(['user-1', '1.000Z', '1.000Z']);
    expect(await timesOf('PUT /v1/subscribers/user-1', {})).toEqual(['user-1', '1.000Z', '2.000Z']);
    expect(await timesOf('GET /v1/subscribers/user-1')).toEqual(['user-1', '1.000Z', '3.000Z']);
    expect((await sendOwn('GET /v1/subscribers/%20user-1%20')).status).toBe(404);
  });

  it('get more channels with every update, and lose none', async () => {
    const update = async (channels: unknown) => {
      const { data } = await send('POST /v1/subscribers', { body: { subscriberId: 'channels', channels } });
      return [data.channels]
        .flat()
        .map(Object)
        .map(({ providerId, credentials }) => [providerId, credentials]);
    };
    const fcm = (deviceTokens: string[]) => ({ providerId: 'fcm', credentials: { deviceTokens } });
    const slack = { providerId: 'slack', credentials: { webhookUrl: 'https://example.com' } };
    const ofSlack = ['slack', slack.credentials];
    expect(await update([fcm(['a'])])).toEqual([['fcm', { deviceTokens: ['a'] }]]);
    expect(await update([slack, fcm(['b'])])).toEqual([['fcm', { deviceTokens: ['a', 'b'] }], ofSlack]);
    expect(await update(null)).toEqual([['fcm', { deviceTokens: ['a', 'b'] }], ofSlack]);
    expect(await update([])).toEqual([['fcm', { deviceTokens: ['a', 'b'] }], ofSlack]);
    expect(await update([fcm([])])).toEqual([['fcm', { deviceTokens: [] }], ofSlack]);
  });

  it('are stored although a channel is refused, because its provider has no active integration', async () => {
    const create = (fields: object) => send('POST /v1/subscribers', { body: { subscriberId: 'refused', ...fields } });
    for (const firstName of ['New', 'Known']) {
      const channels = [{ providerId: 'fcm', credentials: { deviceTokens: [firstName] } }, { providerId: 'none' }];
      expect(await create({ firstName, channels: [...channels, { providerId: 'slack' }] })).toMatchObject({
        status: 400,
        body: {
          message: expect.stringMatching(/^Subscribers environment \(\w+\) do not have active none integration\.$/),
        },
      });
      const { data } = await send('GET /v1/subscribers/refused');
      expect(data).toMatchObject({ firstName, channels: [{ providerId: 'fcm' }] });
    }
  });

  it('are created and updated in bulk', async () => {
    await send('POST /v1/subscribers', { body: { subscriberId: 'bulk-1', firstName: 'Ada', phone: '+1' } });
    const subscribers = [{ subscriberId: 'bulk-1', firstName: 'Noa' }, { subscriberId: 'bulk-2' }];
    expect(await send('POST /v1/subscribers/bulk', { body: { subscribers } })).toMatchObject({
      status: 201,
      data: { updated: [{ subscriberId: 'bulk-1' }], created: [{ subscriberId: 'bulk-2' }], failed: [] },
    });
    expect((await send('GET /v1/subscribers/bulk-1')).data).toMatchObject({ firstName: 'Noa', phone: '+1' });
    const many = Array.from({ length: 501 }, (_, at) => ({ subscriberId: `many-${at}` }));
    for (const invalid of [[], many, [{}], [{ subscriberId: 'bulk-3' }, { subscriberId: 'bulk-4', email: 'none' }]]) {
      expect((await send('POST /v1/subscribers/bulk', { body: { subscribers: invalid } })).status).toBe(422);
    }
    expect((await send('GET /v1/subscribers/bulk-3')).status).toBe(404);
  });

  it('that do not exist are 400 to an update, and 404 to a read and a deletion', async () => {
    const messageOf = async (target: string) => {
      const { status, body } = await send(target, target.startsWith('PUT') ? { body: {} } : {});
      return [status, Reflect.get(Object(body), 'message')];
    };
    const notFound = [404, 'Subscriber not found for id nobody'];
    expect(await messageOf('PUT /v1/subscribers/nobody')).toEqual([400, 'SubscriberId: nobody not found']);
    expect(await messageOf('GET /v1/subscribers/nobody')).toEqual(notFound);
    expect(await messageOf('DELETE /v1/subscribers/nobody')).toEqual(notFound);
  });

  it('are listed with hasMore on each full page, also on the last one', async () => {
    await using sendOwn = await openSandbox();
    const pageOf = async (query: string) => (await sendOwn(`GET /v1/subscribers?${query}`)).body;
    const { data, ...page } = Object(await pageOf('limit=100'));
    expect(page).toEqual({ page: 0, hasMore: false, pageSize: 100 });
    expect(await pageOf(`limit=${data.length}`)).toEqual({ page: 0, hasMore: true, pageSize: data.length, data });
    expect(await pageOf(`limit=${data.length}&page=1`)).toMatchObject({ hasMore: false, data: [] });
  });

  it('are rejected with one sentence per invalid field', async () => {
    const { status, body } = await send('POST /v1/subscribers', {
      body: { email: 7, channels: [{}, 'chat'], data: [] },
    });
    expect(status).toBe(422);
    expect(body).toMatchObject({
      message: [
        '"subscriberId" is required.',
        '"email" must be a string.',
        '"data" must be an object.',
        '"channels.1" must be an object.',
      ],
    });
  });
});

describe('an id that is none of a record', () => {
  it('is an internal error where the service looks for it without a check', async () => {
    const body = { name: 'x', active: true };
    for (const path of ['notification-groups/malformed', 'notification-groups/%00', 'feeds/malformed']) {
      expect((await send(`DELETE /v1/${path}`)).status).toBe(500);
    }
    expect((await send('PATCH /v1/notification-groups/malformed', { body })).status).toBe(500);
    const response = await send('GET /v1/notification-groups/malformed');
    expect(response).toMatchObject({
      status: 500,
      body: { message: expect.stringContaining('Internal server error'), errorId: expect.any(String) },
    });
  });
});

it('an id that is none of a record is invalid input where the service checks it', async () => {
  const action = '/v1/subscribers/customer-1001/messages/malformed/actions/primary';
  const requests: [string, string, object?][] = [
    ['PUT /v1/workflows/payment-failed/status', 'templateId', { active: true }],
    ['DELETE /v1/messages/malformed', 'messageId'],
    [`POST ${action}`, 'messageId', { status: 'done' }],
  ];
  for (const [target, parameter, body] of requests) {
    const message = [`"${parameter}" must be a mongodb id.`];
    expect(await send(target, body && { body })).toMatchObject({ status: 422, body: { message } });
  }
});

describe('notification groups', () => {
  it('have the first group of the organization as parent, and the times of their changes', async () => {
    let now = Date.parse('2026-03-17T12:00:00.000Z');
    await using sendOwn = await openSandbox({ now: () => new Date(now) });
    const { list } = await sendOwn('GET /v1/notification-groups');
    now += 1000;
    const { data } = await sendOwn('POST /v1/notification-groups', { body: { name: 'New' } });
    const created = new Date(now).toISOString();
    expect(data).toMatchObject({ _parentId: list[0]?._id, createdAt: created, updatedAt: created, __v: 0 });
    now += 1000;
    const renamed = await sendOwn(`PATCH /v1/notification-groups/${data._id}`, { body: { name: 'Newer' } });
    expect(renamed.data).toEqual({ ...data, name: 'Newer', updatedAt: new Date(now).toISOString() });
    expect(list[0]?._parentId).toBeNull();
  });

  it('that do not exist return 404', async () => {
    expect((await send(`GET /v1/notification-groups/${UNKNOWN_ID}`)).status).toBe(404);
    expect((await send(`PATCH /v1/notification-groups/${UNKNOWN_ID}`, { body: { name: 'x' } })).status).toBe(404);
    expect((await send(`DELETE /v1/notification-groups/${UNKNOWN_ID}`)).status).toBe(404);
  });

  it('may be deleted while workflows refer to them', async () => {
    await using sendOwn = await openSandbox();
    const { data: workflow } = await sendOwn('GET /v1/workflows/payment-failed');
    const address = `/v1/notification-groups/${workflow._notificationGroupId}`;
    expect((await sendOwn(`DELETE ${address}`)).status).toBe(200);
    expect((await sendOwn('GET /v1/workflows/payment-failed')).data).toEqual(workflow);
    expect((await sendOwn(`GET ${address}`)).status).toBe(404);
  });

  it('need a name', async () => {
    const missing = await send('POST /v1/notification-groups', { body: {} });
    expect(missing).toMatchObject({ status: 422, body: { message: ['"name" is required.'] } });
    const empty = await send('POST /v1/notification-groups', { body: { name: '' } });
    expect(empty).toMatchObject({ status: 422, body: { message: ['"name" must not be empty.'] } });
    const none = await send('POST /v1/notification-groups');
    expect(none).toMatchObject({ status: 422, body: { message: ['A JSON body is required.'] } });
    const list = await send('POST /v1/notification-groups', { body: [] });
    expect(list).toMatchObject({ status: 422, body: { message: ['The body must be a JSON object.'] } });
  });
});

describe('feeds', () => {
  it('have the time of their creation', async () => {
    const { data } = await send('POST /v1/feeds', { body: { name: 'Timed' } });
    const { list } = await send('GET /v1/feeds');
    const { id, ...listed } = data;
    expect(list.at(-1)).toEqual(listed);
    expect(data).toMatchObject({ _id: id, deleted: false, createdAt: data.updatedAt, __v: 0 });
  });

  it('that are unknown or used by a message template return 400', async () => {
    const unknown = await send(`DELETE /v1/feeds/${UNKNOWN_ID}`);
    expect(unknown).toMatchObject({ status: 400, body: { message: expect.stringContaining('no feed') } });

    const { data } = await send('GET /v1/workflows/comment-mention');
    const feedId = /"_feedId":"(\w+)"/.exec(JSON.stringify(data))?.[1];
    const used = await send(`DELETE /v1/feeds/${feedId}`);
    expect(used).toMatchObject({ status: 400, body: { message: expect.stringContaining('"comment-mention"') } });
  });
});

describe('messages', () => {
  it('reject an unknown channel', async () => {
    const { status, body } = await send('DELETE /v1/messages/transaction/sample-transaction-0003?channel=fax');
    expect(status).toBe(422);
    expect(body).toMatchObject({ message: ['"channel" must be one of in_app, email, sms, chat, push.'] });
  });
});
