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
});

describe('subscribers', () => {
  it('are updated if their subscriberId exists: absent fields stay, data is replaced', async () => {
    const first = await send('POST /v1/subscribers', {
      body: {
        subscriberId: 'again',
        firstName: 'Ada',
        phone: '+1',
        data: { a: 1, b: 2 },
        channels: [{ providerId: 'x' }],
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
      channels: [{ providerId: 'x' }],
    });
    expect(second.data.data).toEqual({ c: 3 });
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

describe('notification groups', () => {
  it('that do not exist return 404', async () => {
    for (const id of [UNKNOWN_ID, 'malformed', '%00']) {
      expect((await send(`GET /v1/notification-groups/${id}`)).status).toBe(404);
      expect((await send(`PATCH /v1/notification-groups/${id}`, { body: { name: 'x' } })).status).toBe(404);
      expect((await send(`DELETE /v1/notification-groups/${id}`)).status).toBe(404);
    }
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
