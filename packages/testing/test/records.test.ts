import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { defineModule } from '../../../src/modules/index.ts';
import {
  CreateSubscriberDocument,
  createClient,
  DeleteMessagesByTransactionDocument,
  NotificationGroupsDocument,
  NotificationStatsDocument,
  WorkflowDocument,
} from '../../client/src/index.ts';
import { createTestGateway, type Records, SANDBOX_KEYS, type TestGateway } from '../src/index.ts';

const RECORDS: Records = {
  notificationGroups: ['Billing', { id: 'g1', name: 'Operations' }],
  feeds: [{ id: 'f1', name: 'Activity' }],
  workflows: [
    {
      identifier: 'invoice',
      group: 'Billing',
      steps: [
        { type: 'email', subject: 'Invoice {{number}}' },
        { type: 'in_app', feed: 'Activity' },
      ],
    },
    { id: 'w2', identifier: 'outage', name: 'Outage', group: 'g1', active: false, tags: ['on-call'] },
    { identifier: 'plain' },
  ],
  subscribers: [{ subscriberId: 'ada', firstName: 'Ada' }],
  messages: [{ transactionId: 't1', channels: ['email', 'sms'] }],
  statistics: [
    { date: '2027-01-14', workflows: ['invoice', 'w2'], count: 5, channels: ['email', 'push'] },
    { date: '2027-01-15' },
  ],
};

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await createTestGateway({ records: RECORDS, now: '2027-01-15T12:00:00Z' });
});
afterEach(() => gateway.reset());
afterAll(() => gateway.close());

const groupsOf = async (key: string): Promise<(string | undefined)[] | undefined> => {
  const client = createClient({ url: gateway.url, authorization: `ApiKey ${key}`, fetch: gateway.fetch });
  const { data } = await client.request(NotificationGroupsDocument);
  return data?.notificationGroups?.map((group) => group?.name);
};

async function findWorkflow(idOrIdentifier: string) {
  const { data } = await gateway.client.request(WorkflowDocument, { idOrIdentifier });
  return data?.workflow;
}

describe('own records', () => {
  it('are the only ones, with defaults', async () => {
    expect(await groupsOf(gateway.key)).toEqual(['Billing', 'Operations']);
    expect(await groupsOf(gateway.keys.production)).toEqual([]);
    expect(await findWorkflow('invoice')).toMatchObject({
      id: expect.stringMatching(/^[0-9a-f]{24}$/),
      name: 'invoice',
      active: true,
      tags: [],
      notificationGroup: { name: 'Billing' },
      createdAt: '2027-01-15T12:00:00.000Z',
      steps: [
        { name: 'email', template: { subject: 'Invoice {{number}}', variables: [{ name: 'number' }] } },
        { name: 'in_app' },
      ],
    });
    expect(await findWorkflow('w2')).toMatchObject({
      identifier: 'outage',
      active: false,
      notificationGroup: { id: 'g1', name: 'Operations' },
    });
    expect(await findWorkflow('plain')).toMatchObject({ notificationGroup: null, steps: [] });
    expect(await findWorkflow('payment-failed')).toBeNull();
  });

  it('can have messages in the inbox of a subscriber, of a workflow or with a content of their own', async () => {
    const inboxes = defineModule('inboxes', ({ builder, declareCalls, endpoint, requireScopes }) => {
      const list = endpoint('GET /v1/subscribers/{subscriberId}/notifications/feed', { expect: 'page' }).returns<{
        data: object[];
      }>();
      builder.queryFields((t) => ({
        inboxOf: t.field({
          type: ['JSONObject'],
          nullable: true,
          extensions: { ...requireScopes('inboxes:read'), ...declareCalls('1') },
          description: 'Reads an inbox.',
          args: { id: t.arg.id({ required: true, description: 'Its subscriber.' }) },
          resolve: async (_root, { id }, ctx) =>
            (await ctx.upstream.read(list, { subscriberId: id }))?.data.map((each) => ({ ...each })) ?? null,
        }),
      }));
    });
    const sent = { subscriberId: 'ada', channels: ['in_app'] } as const;
    const records: Records = {
      feeds: ['Activity'],
      workflows: [{ identifier: 'reply', steps: [{ type: 'in_app', content: 'From {{name}}', feed: 'Activity' }] }],
      subscribers: [{ subscriberId: 'ada' }, { subscriberId: 'eve' }],
      messages: [
        { ...sent, transactionId: 't1', id: 'm1', content: 'Hello', seen: true, createdAt: '2027-01-02T03:04:05.000Z' },
        { ...sent, transactionId: 't2', workflow: 'reply', payload: { name: 'Noa' } },
        { ...sent, transactionId: 't3', subscriberId: 'eve', content: 'Private' },
      ],
    };
    await using extended = await createTestGateway({ records, modules: [inboxes], now: '2027-01-15T12:00:00Z' });
    const { data } = await extended.client.request('{ inboxOf(id: "ada") }');
    expect(data).toMatchObject({
      inboxOf: [
        { content: 'From Noa', templateIdentifier: 'reply', createdAt: '2027-01-15T12:00:00.000Z', seen: false },
        { _id: 'm1', content: 'Hello', _feedId: null, createdAt: '2027-01-02T03:04:05.000Z', seen: true },
      ],
    });
    expect(JSON.stringify(data)).not.toContain('Private');
  });

  it('can have inactive steps, and members and conditions that only `extra` shows', async () => {
    const group = { value: 'OR', children: [{ field: 'a', value: '1', operator: 'EQUAL', on: 'payload' }] };
    gateway.seed({
      workflows: [
        {
          identifier: 'special',
          steps: [
            {
              type: 'email',
              active: false,
              template: { preheader: 'p' },
              filters: [{ value: 'AND', children: [group] }],
            },
          ],
        },
      ],
    });
    const steps = '{ steps { active template { active extra } filters { children { value extra } } } }';
    const { data } = await gateway.client.request(`{ workflow(idOrIdentifier: "special") ${steps} }`);
    expect(data).toEqual({
      workflow: {
        steps: [
          {
            active: false,
            template: { active: true, extra: { preheader: 'p' } },
            filters: [{ children: [{ value: null, extra: group }] }],
          },
        ],
      },
    });
  });

  it('have statistics, messages and subscribers', async () => {
    const { data } = await gateway.client.request(NotificationStatsDocument, { days: 3 });
    const workflow = (await findWorkflow('invoice'))?.id;
    expect(data?.notificationStats).toMatchObject([
      { date: '2027-01-14', count: 5 * 2, channels: ['EMAIL', 'PUSH'], workflows: [{ id: workflow }, { id: 'w2' }] },
      { date: '2027-01-15', count: 1, channels: ['EMAIL'] },
    ]);
    const input = { transactionId: 't1', channel: 'SMS' } as const;
    const deleted = await gateway.client.request(DeleteMessagesByTransactionDocument, { input });
    expect(deleted.data?.deleteMessagesByTransaction?.__typename).toBe('DeleteMessagesByTransactionSuccess');
    const updated = await gateway.client.request(CreateSubscriberDocument, {
      input: { subscriberId: 'ada', lastName: 'Byron' },
    });
    expect(updated.data?.createSubscriber).toMatchObject({ subscriber: { firstName: 'Ada', lastName: 'Byron' } });
  });

  it('have messages for every notification that the statistics count', async () => {
    const remove = async (transactionId: string, channel: 'EMAIL' | 'SMS' | null = null, from = gateway) => {
      const { data } = await from.client.request(DeleteMessagesByTransactionDocument, {
        input: { transactionId, channel },
      });
      return data?.deleteMessagesByTransaction?.__typename;
    };
    expect(await remove('2027-01-14-4', 'SMS')).toBe('NotFoundError');
    expect(await remove('2027-01-14-4', 'EMAIL')).toBe('DeleteMessagesByTransactionSuccess');
    expect(await remove('2027-01-14-4')).toBe('DeleteMessagesByTransactionSuccess');
    expect(await remove('2027-01-14-4')).toBe('NotFoundError');
    expect(await remove('2027-01-14-5')).toBe('NotFoundError');
    const { data } = await gateway.client.request(NotificationStatsDocument, { days: 3 });
    expect(data?.notificationStats).toMatchObject([{ count: 5 * 2 }, { count: 1 }]);

    // The sample's notifications are written when they are needed, also after a deletion that was rejected.
    await using sample = await createTestGateway({ now: '2027-01-15T12:00:00Z' });
    expect(await remove('order-shipped-2027-01-15-99', null, sample)).toBe('NotFoundError');
    expect(await remove('order-shipped-2027-01-15-1', null, sample)).toBe('DeleteMessagesByTransactionSuccess');
  });

  it('have the same ids in every run', async () => {
    await using other = await createTestGateway({ records: RECORDS });
    const { data } = await other.client.request(WorkflowDocument, { idOrIdentifier: 'invoice' });
    expect(data?.workflow?.id).toBe((await findWorkflow('invoice'))?.id);
    expect(data?.workflow?.steps).toEqual((await findWorkflow('invoice'))?.steps);
  });

  it.each<[string, Records, string]>([
    [
      'an unknown group',
      { workflows: [{ identifier: 'w', group: 'Biling' }] },
      'The workflow "w" refers to the notification group "Biling", which doesn\'t exist. Add it to the records.',
    ],
    [
      'a misspelled member and without the identifier',
      { workflows: [{ identifer: 'w' }] } as object,
      'records.workflows[0].identifier must be a text; records.workflows[0] has the unknown member "identifer" (did you mean "identifier"?).',
    ],
    [
      'an unknown channel',
      { messages: [{ transactionId: 't', channels: ['fax'] }] } as object,
      'records.messages[0].channels[0] must be one of in_app, email, sms, chat, push.',
    ],
    [
      'a message to an unknown subscriber',
      { messages: [{ transactionId: 't', subscriberId: 'eve' }] },
      'The transaction "t" refers to the subscriber "eve", which doesn\'t exist. Add it to the records.',
    ],
    [
      'a state that is a text',
      { messages: [{ transactionId: 't', seen: 'yes' }] } as object,
      'records.messages[0].seen must be true or false.',
    ],
    [
      'a day in another form',
      { statistics: [{ date: '1/2/2027' }] },
      'The statistics have the day "1/2/2027". Use YYYY-MM-DD.',
    ],
    [
      'too few notifications',
      { statistics: [{ date: '2027-01-01', workflows: ['invoice', 'w2'], count: 1 }] },
      'a count of at least 2',
    ],
    [
      'a name twice',
      { feeds: ['New', { id: 'f2', name: 'New' }] },
      'A record with the same name already exists (feeds.name).',
    ],
  ])('are rejected with %s, and none is added', async (_title, records, message) => {
    expect(() => gateway.seed({ notificationGroups: ['Added'], ...records })).toThrow(message);
    expect(await groupsOf(gateway.key)).not.toContain('Added');
  });
});

describe('seed', () => {
  it('adds records to an environment until the next reset', async () => {
    gateway.seed({ notificationGroups: ['Live'] }, { environment: 'production' });
    gateway.seed({ workflows: [{ identifier: 'later', group: 'Operations' }] });
    expect(await groupsOf(SANDBOX_KEYS.production)).toEqual(['Live']);
    expect(await findWorkflow('later')).toMatchObject({ notificationGroup: { id: 'g1' } });
    await gateway.reset();
    expect(await groupsOf(SANDBOX_KEYS.production)).toEqual([]);
    expect(await findWorkflow('later')).toBeNull();
  });
});

it('the default is the sample of the sandbox, up to the day of the clock', async () => {
  await using sample = await createTestGateway({ now: '2027-01-15T12:00:00Z' });
  const countDays = async () => {
    const { data } = await sample.client.request(NotificationStatsDocument, { days: 3 });
    return data?.notificationStats?.map((day) => day?.date);
  };
  expect(await countDays()).toEqual(['2027-01-13', '2027-01-14', '2027-01-15']);
  sample.clock.advance({ days: 2 });
  expect(await countDays()).toEqual(['2027-01-15', '2027-01-16', '2027-01-17']);
  await sample.reset();
  sample.clock.advance({ days: 1 });
  expect(await countDays()).toEqual(['2027-01-14', '2027-01-15', '2027-01-16']);
});
