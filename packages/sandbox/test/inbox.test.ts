import { expect, it } from 'vitest';
import { startSandbox } from '../../../test/service/targets.ts';
import {
  createSandboxClient,
  openSandbox,
  openSandboxOfFile,
  type SandboxClient,
} from '../../../test/support/sandbox-client.ts';
import { createTemporaryFolder } from '../../../test/support/sandbox-files.ts';

const UNKNOWN_ID = '000000000000000000000000';

/** Workflows of the sample with a step in the app, and their feeds. */
const [MENTION, PAYMENT] = ['comment-mention', 'payment-failed'];

const send = openSandboxOfFile();

/** Returns helpers for one subscriber. */
function inboxOf(subscriberId: string, client: SandboxClient = send) {
  const path = `/v1/subscribers/${subscriberId}`;
  const list = async (query = '') => (await client(`GET ${path}/notifications/feed${query}`)).list;
  return {
    path,
    list,
    contents: async (query = '') => (await list(query)).map(({ content }) => content),
    count: async (query = '') => (await client(`GET ${path}/notifications/unseen${query}`)).data.count,
    mark: (messageId: unknown, markAs = 'read') =>
      client(`POST ${path}/messages/mark-as`, { body: { messageId, markAs } }),
    markAll: async (body: object) => (await client(`POST ${path}/messages/mark-all`, { body })).body,
    prefer: (workflowId: string, body: object) =>
      client(`PATCH ${path}/preferences${workflowId && `/${workflowId}`}`, { body }),
  };
}

const mention = (to: unknown, authorName: string, client: SandboxClient = send) =>
  client('POST /v1/events/trigger', { body: { name: MENTION, to, payload: { authorName, discussionTitle: 'Looms' } } });

const contentOf = (authorName: string) => `${authorName} mentioned you in "Looms"`;

it('a triggered workflow puts its message into the inbox of each recipient, with the newest first', async () => {
  await send('POST /v1/topics', { body: { key: 'readers', name: 'Readers' } });
  for (const subscriberId of ['reader-1', 'reader-2', 'reader-3']) {
    await send('POST /v1/subscribers', { body: { subscriberId, firstName: 'Ada', email: 'ada@example.com' } });
  }
  await send('POST /v1/topics/readers/subscribers', { body: { subscribers: ['reader-2'] } });
  await mention(['reader-1', { type: 'Topic', topicKey: 'readers' }], 'Lukas');
  const { data } = await mention('reader-1', 'Mei');
  expect(await inboxOf('reader-1').contents()).toEqual(['Mei', 'Lukas'].map(contentOf));
  expect(await inboxOf('reader-2').contents()).toEqual([contentOf('Lukas')]);
  expect(await inboxOf('reader-3').contents()).toEqual([]);

  const [message] = await inboxOf('reader-1').list();
  const { data: workflow } = await send(`GET /v1/workflows/${MENTION}`);
  const { data: subscriber } = await send('GET /v1/subscribers/reader-1');
  expect(message).toMatchObject({
    _templateId: workflow._id,
    templateIdentifier: MENTION,
    _subscriberId: subscriber._id,
    transactionId: data.transactionId,
    channel: 'in_app',
    payload: { authorName: 'Mei', discussionTitle: 'Looms' },
    seen: false,
    read: false,
  });
  expect(message?.subscriber).toEqual({
    ...{ _id: subscriber._id, id: subscriber._id, subscriberId: 'reader-1', firstName: 'Ada' },
  });
});

it('placeholders are replaced by members of the payload and of the subscriber, and unknown ones by nothing', async () => {
  const body = { name: 'welcome-onboarding', to: { subscriberId: 'placeholder-1', firstName: 'Noa' } };
  await send('POST /v1/events/trigger', { body: { ...body, payload: { city: 'Lagos' } } });
  await send('POST /v1/events/trigger', { body });
  await send('POST /v1/events/trigger', { body: { ...body, payload: { city: 5, subscriber: { firstName: 'Eve' } } } });
  const contents = await inboxOf('placeholder-1').contents();
  expect(contents).toEqual(['5', '', 'Lagos'].map((city) => `Welcome, Noa! Start with the makers near ${city}.`));
  const { list: emails } = await send('GET /v1/messages?subscriberId=placeholder-1&channel=email');
  expect(emails).toHaveLength(3);
});

it('pages say whether there are more messages, and at most how many they have', async () => {
  for (const author of ['A', 'B', 'C', 'D', 'E']) {
    await mention('page-1', author);
  }
  const page = async (query: string) => {
    const { body } = await send(`GET /v1/subscribers/page-1/notifications/feed?${query}`);
    const { data, ...rest } = Object(body);
    return [data.map(({ content }: { content: string }) => content[0]).join(''), rest];
  };
  const expected = (at: number, totalCount: number, hasMore: boolean) => ({
    page: at,
    pageSize: 2,
    totalCount,
    hasMore,
  });
  expect(await page('limit=2')).toEqual(['ED', expected(0, 2, true)]);
  expect(await page('limit=2&page=1')).toEqual(['CB', expected(1, 2, true)]);
  expect(await page('limit=2&page=2')).toEqual(['A', expected(2, 1, false)]);
  expect(await page('limit=2&page=3')).toEqual(['', expected(3, 0, false)]);
  expect(await page('limit=5')).toEqual(['EDCBA', { page: 0, pageSize: 5, totalCount: 5, hasMore: false }]);
  expect(await inboxOf('page-1').list('?limit=100')).toHaveLength(5);
  expect(await send('GET /v1/subscribers/page-1/notifications/feed?limit=101')).toMatchObject({
    status: 422,
    body: { message: ['limit must not be greater than 100'] },
  });
});

it('messages are found and counted by state and by the identifiers of feeds', async () => {
  const inbox = inboxOf('feeds-1');
  await mention('feeds-1', 'Mei');
  const payload = { amount: 3, currency: 'EUR' };
  await send('POST /v1/events/trigger', { body: { name: PAYMENT, to: 'feeds-1', payload } });
  const failed = 'Your payment of 3 EUR failed.';
  const { list: feeds } = await send('GET /v1/feeds');
  expect(feeds.map(({ identifier }) => identifier)).toEqual([
    'Activity',
    'Billing',
    'Getting started',
    'Announcements',
  ]);
  const activity = feeds[0]?._id;
  expect(await inbox.list('?feedIdentifier=Activity')).toMatchObject([{ _feedId: activity }]);
  expect(await inbox.contents('?feedIdentifier=Billing&feedIdentifier=Activity')).toEqual([failed, contentOf('Mei')]);
  expect(await inbox.contents('?feedIdentifier=Billing')).toEqual([failed]);
  for (const none of ['Announcements', 'no-such-feed', activity]) {
    expect(await inbox.contents(`?feedIdentifier=${none}`)).toEqual([]);
    expect(await inbox.count(`?feedIdentifier=${none}`)).toBe(0);
  }
  expect(await inbox.count('?feedIdentifier=Billing')).toBe(1);
  expect(await inbox.count('?feedId=Billing&feedId=Activity')).toBe(2);
  expect([await inbox.count(), await inbox.count('?limit=1'), await inbox.count('?seen=true')]).toEqual([2, 1, 0]);

  const [message] = await inbox.list('?feedIdentifier=Billing');
  await inbox.mark([message?._id], 'seen');
  expect([await inbox.count(), await inbox.count('?seen=true')]).toEqual([1, 1]);
  expect(await inbox.contents('?seen=true')).toEqual([failed]);
  expect(await inbox.contents('?seen=false')).toEqual([contentOf('Mei')]);
  expect(await inbox.contents('?seen=true&read=true')).toEqual([]);
  expect(await inbox.contents('?read=false')).toHaveLength(2);
});

it('marking changes only messages of the subscriber, and answers with them, without what a mark cannot change', async () => {
  const [own, other] = [inboxOf('mark-1'), inboxOf('mark-2')];
  await send('POST /v1/events/trigger', { body: { name: PAYMENT, to: ['mark-1', 'mark-2'], payload: { amount: 3 } } });
  const [message] = await own.list();
  const [hidden] = await other.list();
  const { status, list } = await own.mark([message?._id, hidden?._id, UNKNOWN_ID]);
  expect([status, list]).toMatchObject([201, [{ _id: message?._id, read: true, templateIdentifier: PAYMENT }]]);
  expect(list).toHaveLength(1);
  const { id: _id, subscriber: _subscriber, ...rest } = message ?? {};
  expect(
    Object.keys(rest)
      .filter((name) => !Object.hasOwn(list[0] ?? {}, name))
      .toSorted(),
  ).toEqual([...['__v', 'archived', 'data', 'deleted', 'tags', 'updatedAt']]);
  expect(await other.list()).toMatchObject([{ seen: false, read: false }]);
});

it('a message that is read or unread is also seen, and the times of changes are kept', async () => {
  let now = Date.parse('2026-03-18T10:00:00.000Z');
  await using sendOwn = await openSandbox({ now: () => new Date(now) });
  const inbox = inboxOf('states-1', sendOwn);
  await mention('states-1', 'Mei', sendOwn);
  const id = (await inbox.list())[0]?._id;
  const states: unknown[] = [];
  for (const markAs of ['seen', 'unseen', 'read', 'unread']) {
    now += 1000;
    await inbox.mark([id], markAs);
    const [message] = await inbox.list();
    states.push([
      message?.seen,
      message?.read,
      ...[message?.lastSeenDate, message?.lastReadDate].map((at) => at && Date.parse(String(at)) === now),
    ]);
  }
  expect(states).toEqual([
    [true, false, true, undefined],
    [false, false, true, undefined],
    [true, true, true, true],
    [true, false, true, true],
  ]);
});

it('all messages, or those of feeds, are marked, and the changed ones are counted', async () => {
  const inbox = inboxOf('mark-all-1');
  for (const name of [MENTION, MENTION, PAYMENT]) {
    await send('POST /v1/events/trigger', { body: { name, to: ['mark-all-1', 'mark-all-2'] } });
  }
  expect(await inbox.markAll({ markAs: 'seen', feedIdentifier: ['Billing'] })).toEqual({ data: 1 });
  expect(await inbox.markAll({ markAs: 'seen', feedIdentifier: ['no-such-feed'] })).toEqual({ data: 0 });
  expect(await inbox.markAll({ markAs: 'seen', feedIdentifier: [] })).toEqual({ data: 0 });
  expect(await inbox.count()).toBe(2);
  expect(await inbox.markAll({ markAs: 'seen' })).toEqual({ data: 2 });
  expect(await inbox.markAll({ markAs: 'unseen' })).toEqual({ data: 3 });
  expect(await inbox.markAll({ markAs: 'read' })).toEqual({ data: 3 });
  expect(await inbox.markAll({ markAs: 'read' })).toEqual({ data: 0 });
  expect(await inbox.markAll({ markAs: 'unread', feedIdentifier: ['Activity'] })).toEqual({ data: 2 });
  expect([await inbox.count(), await inbox.contents('?read=true')]).toEqual([0, ['Your payment of   failed.']]);
  expect(await inboxOf('mark-all-2').count()).toBe(3);
});

it('a subscriber that does not exist is 400 to reads of messages, and 404 to everything else', async () => {
  const { data: workflow } = await send(`GET /v1/workflows/${MENTION}`);
  const answer = async (target: string, body?: object) => {
    const { status, body: sent } = await send(target, body && { body });
    return [status, Reflect.get(Object(sent), 'message')];
  };
  const nobody = '/v1/subscribers/nobody';
  expect(await answer(`GET ${nobody}/notifications/feed`)).toEqual([
    400,
    'Subscriber not found for this environment with the id: nobody. Make sure to create a subscriber before fetching the feed.',
  ]);
  expect(await answer(`GET ${nobody}/notifications/unseen`)).toEqual([
    400,
    expect.stringMatching(
      /^Subscriber nobody is not exist in environment [0-9a-f]{24}, please provide a valid subscriber identifier$/,
    ),
  ]);
  const notFound = [404, 'Subscriber not found for id nobody'];
  expect(await answer(`POST ${nobody}/messages/mark-as`, { messageId: [UNKNOWN_ID], markAs: 'read' })).toEqual(
    notFound,
  );
  expect(await answer(`POST ${nobody}/messages/mark-all`, { markAs: 'read' })).toEqual(notFound);
  expect(await answer(`GET ${nobody}/preferences`)).toEqual(notFound);
  expect(await answer(`GET ${nobody}/preferences/global`)).toEqual(notFound);
  expect(await answer(`PATCH ${nobody}/preferences`, { enabled: false })).toEqual(notFound);
  expect(await answer(`PATCH ${nobody}/preferences/${workflow._id}`, { enabled: false })).toEqual(notFound);
  expect(await answer('GET /v1/messages?subscriberId=nobody')).toEqual(notFound);
});

it('lists have the recipient as it is, answers to marks have none, and its deletion removes its messages', async () => {
  const inbox = inboxOf('recipient-1');
  await mention({ subscriberId: 'recipient-1', firstName: 'Ada' }, 'Mei');
  await send('PUT /v1/subscribers/recipient-1', { body: { firstName: 'Noa' } });
  const [message] = await inbox.list();
  expect(message).toMatchObject({
    ...{ subscriber: { firstName: 'Noa' }, providerId: 'novu', tags: ['community', 'digest'] },
    ...{ archived: false, deleted: false, __v: 0, cta: { action: { buttons: [] } } },
  });
  expect(message).not.toHaveProperty('overrides');
  expect((await send('GET /v1/messages?subscriberId=recipient-1&channel=in_app')).list).toEqual([message]);
  const [marked] = (await inbox.mark([message?._id])).list;
  expect([marked?.read, marked?.subscriber, marked?.id]).toEqual([true, undefined, undefined]);
  await send('DELETE /v1/subscribers/recipient-1');
  expect((await send(`GET /v1/messages?transactionId=${message?.transactionId}`)).list).toEqual([]);
});

it('what an event puts into texts is escaped as HTML, except for the apostrophe and in three braces', async () => {
  const markup = `&<>"'\`=/ &amp;`;
  const escaped = `&amp;&lt;&gt;&quot;'&#x60;&#x3D;/ &amp;amp;`;
  const template = {
    cta: {
      type: 'redirect',
      data: { url: '/a?b=1&c={{text}}' },
      action: { buttons: [{ type: 'primary', content: '{{text}}', url: '{{text}}', target: '_blank' }] },
    },
    actor: { type: 'system_custom', data: '{{text}}' },
    data: { note: ['{{text}}'] },
  };
  const steps = [{ type: 'in_app', content: '<b>"{{text}}"</b> {{{ text }}}{{a.b}}', template }] as const;
  await using sandbox = await startSandbox('texts', { workflows: [{ identifier: 'texts', steps }] }, []);
  const client = await createSandboxClient(sandbox.url);
  const event = { name: 'texts', to: 'html-1', payload: { text: markup, a: { b: 1 } } };
  await client('POST /v1/events/trigger', { body: event });
  const { cta } = template;
  expect(await inboxOf('html-1', client).list()).toMatchObject([
    {
      content: `<b>"${escaped}"</b> ${markup}1`,
      cta: {
        data: { url: `/a?b=1&c=${escaped}` },
        action: { buttons: [{ ...cta.action.buttons[0], content: escaped, url: escaped }] },
      },
      actor: template.actor,
      data: { note: [escaped] },
      payload: event.payload,
    },
  ]);
});

it('a message whose recipient is gone has none, and cannot be deleted alone', async () => {
  await using client = await openSandbox({ traits: ['soft-deletions'] });
  await mention('gone-1', 'Mei', client);
  const [message] = await inboxOf('gone-1', client).list();
  await client('DELETE /v1/subscribers/gone-1');
  const read = `GET /v1/messages?transactionId=${message?.transactionId}&channel=in_app`;
  expect((await client(read)).list).toMatchObject([{ _id: message?._id, subscriber: null }]);
  expect(await client(`DELETE /v1/messages/${message?._id}`)).toMatchObject({
    status: 400,
    body: { message: `A subscriber was not found for message ${message?._id}` },
  });
  expect((await client(read)).list).toHaveLength(1);
});

it('what cannot be marked is rejected', async () => {
  await mention('rejected-1', 'Mei');
  const inbox = inboxOf('rejected-1');
  expect(await inbox.mark([])).toMatchObject({ status: 400, body: { message: 'messageId is required' } });
  expect((await inbox.mark(['malformed'])).status).toBe(500);
  expect((await inbox.mark([UNKNOWN_ID], 'deleted')).status).toBe(422);
  expect(await inbox.mark([UNKNOWN_ID])).toMatchObject({ status: 201, list: [] });
});

it('the action of a message is completed by its recipient only', async () => {
  await send('POST /v1/events/trigger', {
    body: { name: PAYMENT, to: ['action-1', 'action-2'], payload: { billingUrl: 'https://juniper.example/b/1' } },
  });
  const [message] = await inboxOf('action-1').list();
  const cta = {
    type: 'redirect',
    data: { url: 'https://juniper.example/b/1', target: '_self' },
    action: {
      status: 'pending',
      buttons: [
        { type: 'primary', content: 'Update your card', url: 'https://juniper.example/b/1', target: '_blank' },
        { type: 'secondary', content: 'Remind me' },
      ],
    },
  };
  expect(message?.cta).toEqual(cta);
  const complete = (subscriberId: string, id: unknown, payload?: object) =>
    send(`POST /v1/subscribers/${subscriberId}/messages/${id}/actions/primary`, { body: { status: 'done', payload } });
  const id = message?._id;
  expect((await complete('action-1', UNKNOWN_ID)).status).toBe(404);
  expect((await complete('nobody', id)).status).toBe(400);
  expect(await complete('action-2', id)).toMatchObject({
    status: 400,
    body: { message: `Message with the id: ${id} was not found for this environment.` },
  });
  expect(await inboxOf('action-1').list()).toMatchObject([{ cta }]);
  const done = { ...cta, action: { ...cta.action, status: 'done', result: { type: 'primary', payload: { card: 1 } } } };
  const { status, data } = await complete('action-1', id, { card: 1 });
  expect([status, data.cta]).toEqual([201, done]);
  expect(await inboxOf('action-1').list()).toMatchObject([{ cta: done, read: false }]);
});

const ALL = { email: true, sms: true, in_app: true, chat: true, push: true };

it('preferences are listed for active workflows that are not critical, with the channels of their active steps', async () => {
  await send('POST /v1/subscribers', { body: { subscriberId: 'prefers-1' } });
  const inbox = inboxOf('prefers-1');
  const { list } = await send(`GET ${inbox.path}/preferences`);
  const { list: workflows } = await send('GET /v1/workflows?limit=100');
  const listed = workflows.filter(({ active, critical }) => active === true && critical === false);
  expect(list.map(({ template }) => Object(template)._id).toSorted()).toEqual(listed.map(({ _id }) => _id).toSorted());
  const { data: mentions } = await send(`GET /v1/workflows/${MENTION}`);
  const { _id, name, triggers } = mentions;
  expect(list.find(({ template }) => Object(template)._id === _id)).toEqual({
    template: { _id, name, critical: false, tags: ['community', 'digest'], triggers },
    preference: { enabled: true, channels: { in_app: true, push: true } },
  });

  const changed = await inbox.prefer(MENTION, { channel: { type: 'push', enabled: false } });
  expect([changed.status, changed.data]).toEqual([
    200,
    {
      template: {
        ...{ _id, name, critical: false, tags: ['community', 'digest'] },
        triggers: [{ type: 'event', identifier: MENTION, variables: [] }],
      },
      preference: { enabled: true, channels: { in_app: true, push: false } },
    },
  ]);
  for (const nothing of [{}, { enabled: false }]) {
    expect(await inbox.prefer(String(_id), nothing)).toMatchObject({ status: 200, data: changed.data });
  }
  expect((await inbox.prefer(UNKNOWN_ID, {})).status).toBe(404);
  expect((await inbox.prefer('no-such-workflow', {})).status).toBe(404);
});

it('the later of a global choice and one for a workflow wins, on each channel', async () => {
  await send('POST /v1/subscribers', { body: { subscriberId: 'prefers-2' } });
  const inbox = inboxOf('prefers-2');
  const read = async () => {
    const { list } = await send(`GET ${inbox.path}/preferences`);
    const of = (identifier: string) =>
      list.find(({ template }) => Object(template).triggers[0].identifier === identifier)?.preference;
    return [MENTION, 'weekly-digest'].map((identifier) => Object(of(identifier)).channels);
  };
  const global = async (...preferences: object[]) => (await inbox.prefer('', { enabled: false, preferences })).data;
  expect(await read()).toEqual([{ in_app: true, push: true }, { email: true }]);
  await inbox.prefer('', { enabled: false });
  await inbox.prefer(MENTION, { channel: { type: 'push', enabled: false } });
  await inbox.prefer(MENTION, { channel: { type: 'in_app', enabled: false } });
  const push = await global({ type: 'push', enabled: true });
  expect(push).toEqual({ preference: { enabled: true, channels: ALL } });
  expect(await read()).toEqual([{ in_app: false, push: true }, { email: true }]);
  const email = await global({ type: 'email', enabled: false });
  expect(email).toEqual({ preference: { enabled: true, channels: { ...ALL, email: false } } });
  expect((await send(`GET ${inbox.path}/preferences/global`)).list).toEqual([email]);
  expect(await read()).toEqual([{ in_app: false, push: true }, { email: false }]);
  await inbox.prefer('weekly-digest', { channel: { type: 'email', enabled: true } });
  expect(await read()).toEqual([{ in_app: false, push: true }, { email: true }]);
});

it('what is off keeps the next message from the inbox of its subscriber only', async () => {
  const choice = (enabled: boolean) => ({ type: 'in_app', enabled });
  const ofWorkflow = (enabled: boolean) => ({ workflowId: MENTION, body: { channel: choice(enabled) } });
  const ofAll = (enabled: boolean) => ({ workflowId: '', body: { preferences: [choice(enabled)] } });
  const changes = [
    [ofWorkflow(false), ofWorkflow(true)],
    [ofAll(false), ofAll(true)],
    [ofWorkflow(false), ofAll(true)],
    [ofAll(false), ofWorkflow(true)],
  ] as const;
  for (const [index, [off, on]] of changes.entries()) {
    const [own, other] = [`off-${index}`, `on-${index}`];
    await mention([own, other], 'First');
    await inboxOf(own).prefer(off.workflowId, off.body);
    const { data } = await mention([own, other], 'Second');
    expect(data.status).toBe('processed');
    expect(await inboxOf(own).contents()).toEqual([contentOf('First')]);
    expect(await inboxOf(other).contents()).toEqual([contentOf('Second'), contentOf('First')]);
    await inboxOf(own).prefer(on.workflowId, on.body);
    await mention(own, 'Third');
    expect(await inboxOf(own).contents()).toEqual([contentOf('Third'), contentOf('First')]);
  }
});

it('another channel that is off does not matter to the inbox', async () => {
  const { data: workflow } = await send(`GET /v1/workflows/${MENTION}`);
  await mention('push-off', 'First');
  await inboxOf('push-off').prefer(String(workflow._id), { channel: { type: 'push', enabled: false } });
  await mention('push-off', 'Second');
  const { list } = await send('GET /v1/messages?subscriberId=push-off');
  expect(list.map(({ channel }) => channel).toSorted()).toEqual(['in_app', 'in_app', 'push']);
});

it('critical workflows cannot be switched off', async () => {
  const { data: workflow } = await send(`GET /v1/workflows/${PAYMENT}`);
  await send('POST /v1/subscribers', { body: { subscriberId: 'critical-1' } });
  const inbox = inboxOf('critical-1');
  expect(await inbox.prefer(String(workflow._id), { enabled: false })).toMatchObject({
    status: 400,
    body: { message: `Critical workflow with id: ${workflow._id} can not be updated` },
  });
  await inbox.prefer('', { preferences: [{ type: 'in_app', enabled: false }] });
  await mention('critical-1', 'Mei');
  await send('POST /v1/events/trigger', { body: { name: PAYMENT, to: 'critical-1' } });
  expect(await inbox.list()).toMatchObject([{ templateIdentifier: PAYMENT }]);
});

it('messages are listed by channel, subscriber and transaction, and deleted one by one', async () => {
  const first = (await mention(['admin-1', 'admin-2'], 'First')).data.transactionId;
  const second = (await mention('admin-1', 'Second')).data.transactionId;
  const read = async (query: string) => {
    const { list, body } = await send(`GET /v1/messages?${query}`);
    const { data: _data, ...page } = Object(body);
    return { page, found: list.map(({ channel, transactionId }) => `${channel} ${transactionId === first ? 1 : 2}`) };
  };
  const ofBoth = `transactionId=${first}&transactionId=${second}`;
  expect(await read(`${ofBoth}&limit=4`)).toEqual({
    page: { page: 0, pageSize: 4, totalCount: 6, hasMore: true },
    found: ['push 2', 'in_app 2', 'push 1', 'in_app 1'],
  });
  expect((await read(`${ofBoth}&limit=4&page=1`)).page).toMatchObject({ page: 1, hasMore: false });
  expect((await read(`transactionId=${second}`)).found).toEqual(['push 2', 'in_app 2']);
  expect((await read('subscriberId=admin-1&channel=in_app')).found).toEqual(['in_app 2', 'in_app 1']);
  expect((await read('subscriberId=admin-2')).found).toEqual(['push 1', 'in_app 1']);
  expect((await send(`GET /v1/messages?${ofBoth}`, { as: 'production' })).list).toEqual([]);

  const [message] = await inboxOf('admin-1').list();
  expect((await send(`DELETE /v1/messages/${message?._id}`, { as: 'production' })).status).toBe(404);
  const { status, data } = await send(`DELETE /v1/messages/${message?._id}`);
  expect([status, data]).toEqual([200, { acknowledged: true, status: 'deleted' }]);
  expect((await send(`DELETE /v1/messages/${message?._id}`)).status).toBe(404);
  expect(await inboxOf('admin-1').contents()).toEqual([contentOf('First')]);
  expect((await send(`DELETE /v1/messages/transaction/${first}?channel=email`)).status).toBe(404);
  expect((await send(`DELETE /v1/messages/transaction/${first}?channel=in_app`)).status).toBe(204);
  expect(await inboxOf('admin-1').contents()).toEqual([]);
  expect(await inboxOf('admin-2').contents()).toEqual([]);
  expect((await read('subscriberId=admin-2')).found).toEqual(['push 1']);
});

it('a transaction whose messages were deleted one by one is sent again', async () => {
  const body = { name: MENTION, to: 'again-1', transactionId: 'again' };
  for (let times = 0; times < 2; times += 1) {
    await send('POST /v1/events/trigger', { body });
    await send('POST /v1/events/trigger', { body });
    const { list } = await send('GET /v1/messages?transactionId=again');
    expect(list).toHaveLength(2);
    for (const { _id } of list) {
      await send(`DELETE /v1/messages/${_id}`);
    }
  }
});

it('messages, their states and preferences are in the file', async () => {
  await using folder = await createTemporaryFolder();
  const file = folder.path('sandbox.db');
  const read = async (client: SandboxClient) => [
    await inboxOf('saved-1', client).list(),
    (await client('GET /v1/messages')).body,
    (await client('GET /v1/subscribers/saved-1/preferences/global')).list,
  ];
  let before: unknown;
  {
    await using sendFirst = await openSandbox({ file });
    await mention('saved-1', 'Mei', sendFirst);
    await inboxOf('saved-1', sendFirst).markAll({ markAs: 'read' });
    await inboxOf('saved-1', sendFirst).prefer('', { preferences: [{ type: 'in_app', enabled: false }] });
    before = await read(sendFirst);
  }
  await using sendSecond = await openSandbox({ file });
  expect(await read(sendSecond)).toEqual(before);
  await mention('saved-1', 'Noor', sendSecond);
  expect(await inboxOf('saved-1', sendSecond).list()).toMatchObject([{ content: contentOf('Mei'), read: true }]);
});

it('customer-1001 of the sample has an inbox with unseen messages, a button, feeds and several days', async () => {
  await using sendOwn = await openSandbox();
  const inbox = inboxOf('customer-1001', sendOwn);
  const messages = await inbox.list();
  expect(messages.map(({ content, seen, read }) => [content, seen, read])).toEqual([
    ['Noor Haddad mentioned you in "Natural dyes"', false, false],
    ['Lukas Brandt mentioned you in "Natural dyes"', false, false],
    ['Mei Tanaka mentioned you in "Looms for small rooms"', true, false],
    ['Your payment of 24.00 EUR failed.', true, false],
    ['How do you like the indigo vat?', true, true],
    ['Welcome, Amara! Start with the makers near Lagos.', true, true],
  ]);
  expect(await inbox.count()).toBe(2);
  const buttons = messages.map(({ cta }) => Object(cta).action.buttons.length);
  expect(buttons).toEqual([0, 0, 0, 2, 0, 0]); // As in the service, messages without a call to action have an empty one.
  const url = 'https://juniper.example/billing?card&#x3D;4242&amp;from&#x3D;inbox';
  expect(messages[3]).toMatchObject({
    tags: ['billing', 'dunning'],
    data: { kind: 'payment', cardEnding: '4242' },
    severity: 'high',
    cta: { data: { url, target: '_self' }, action: { buttons: [{ url, target: '_blank' }, { type: 'secondary' }] } },
  });
  expect(new Set(messages.map(({ _feedId }) => _feedId)).size).toBe(3);
  expect(new Set(messages.map(({ createdAt }) => String(createdAt).slice(0, 10))).size).toBeGreaterThanOrEqual(5);
  expect(await inboxOf('customer-1002', sendOwn).count()).toBe(1);
});
