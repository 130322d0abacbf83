import { getNamedType, isObjectType } from 'graphql';
import { expect, it } from 'vitest';
import { createSchema } from '../../src/graphql/schema.ts';
import { startScriptedGateway } from '../support/gateway.ts';

const TIME = '2026-03-04T05:06:07.890Z';
const OWNER = { _organizationId: 'org', _environmentId: 'env' };

const schema = createSchema();

/** Returns a selection of all fields of a type and of its parts, except those with arguments. */
function allFieldsOf(typeName: string): string {
  const type = schema.getType(typeName);
  const fields = isObjectType(type) ? Object.values(type.getFields()).filter(({ args }) => args.length === 0) : [];
  const selections = fields.map(({ name, type }) => {
    const part = getNamedType(type);
    return isObjectType(part) ? `${name} ${allFieldsOf(part.name)}` : name;
  });
  return `{ ${selections.join(' ')} }`;
}

/** Names of fields that differ from those of records by more than an underscore. */
const NAMES: Readonly<Record<string, string>> = { __v: 'revision', in_app: 'inApp' };

/** Returns a record or a result with the names of the schema, without members that are null or an empty list. */
function normalize(value: unknown): unknown {
  if (Array.isArray(value)) {
    return value.map(normalize);
  }
  if (typeof value !== 'object' || value === null) {
    return value;
  }
  const members = Object.entries(value).filter(([, member]) => member !== null && String(member) !== '');
  return Object.fromEntries(
    members.map(([name, member]) => {
      const isBlocks = name === 'content' && Array.isArray(member);
      const isTemplateId = 'content' in value && /^_?id$/.test(name);
      const special = isBlocks ? 'contentBlocks' : isTemplateId ? 'templateId' : NAMES[name];
      return [special ?? name.replace(/^_/, ''), normalize(member)];
    }),
  );
}

/** Workflow with every field of section 2 of the contract, each with a distinct value. */
const WORKFLOW = {
  _id: 'w1',
  name: 'n',
  description: 'd',
  active: true,
  draft: false,
  preferenceSettings: { email: true, sms: false, in_app: true, chat: false, push: true },
  critical: true,
  tags: ['a', 'b'],
  steps: [
    {
      _id: 's1',
      id: 's1',
      uuid: 'u1',
      name: 'step',
      _templateId: 't1',
      active: true,
      shouldStopOnFail: false,
      template: {
        _id: 't1',
        id: 't1',
        type: 'chat',
        active: true,
        subject: 'sub',
        variables: [{ name: 'v', type: 'String', required: true, _id: 'v1', id: 'v1' }],
        content: 'Hello {{v}}',
        contentType: 'editor',
        ...OWNER,
        _creatorId: 'creator',
        _feedId: 'f1',
        _layoutId: 'l1',
        deleted: false,
        createdAt: TIME,
        updatedAt: TIME,
        __v: 3,
      },
      filters: [
        {
          isNegated: false,
          type: 'BOOLEAN',
          value: 'AND',
          children: [{ field: 'age', value: '18', operator: 'LARGER', on: 'subscriber' }],
          _id: 'x1',
          id: 'x1',
        },
      ],
      _parentId: { nested: 'object' },
      metadata: {
        amount: 1.5,
        unit: 'seconds',
        digestKey: 'key',
        type: 'regular',
        backoff: true,
        backoffAmount: 2,
        backoffUnit: 'minutes',
        updateMode: false,
        timed: { weekDays: ['monday'], monthDays: [1] },
      },
      replyCallback: { active: true },
    },
    { template: { content: [{ type: 'text' }], _feedId: null, _layoutId: null }, _parentId: null },
  ],
  ...OWNER,
  _creatorId: 'creator',
  triggers: [
    {
      type: 'event',
      identifier: 'ident',
      variables: [{ name: 'v', type: 'String', _id: 'tv', id: 'tv' }],
      reservedVariables: [{ type: 'tenant' }],
      subscriberVariables: [{ name: 'email' }],
      _id: 'tr',
      id: 'tr',
    },
  ],
  _notificationGroupId: 'g1',
  _parentId: 'p1',
  deleted: true,
  deletedAt: TIME,
  deletedBy: 'someone',
  notificationGroup: { name: 'g', ...OWNER, _id: 'g1', _parentId: 'gp' },
  data: { any: ['thing', 1, null] },
  workflowIntegrationStatus: { hasActiveIntegrations: true },
  isBlueprint: false,
  createdAt: TIME,
  updatedAt: TIME,
  __v: 7,
  id: 'w1',
};

it('every field of a workflow is reachable', async () => {
  await using gateway = await startScriptedGateway(() => ({ body: { data: WORKFLOW } }));
  const { workflow } = await gateway.data(`{ workflow(idOrIdentifier: "w1") ${allFieldsOf('Workflow')} }`);
  expect(normalize(workflow)).toEqual(normalize({ ...WORKFLOW, identifier: 'ident' }));
  expect(gateway.service.requests).toHaveLength(1);
});

it('every field of a subscriber is reachable', async () => {
  const record = {
    subscriberId: 'u1',
    ...OWNER,
    deleted: false,
    createdAt: TIME,
    updatedAt: TIME,
    _id: 's1',
    id: 's1',
    firstName: 'A',
    lastName: 'L',
    email: 'a@example.com',
    phone: '+1',
    avatar: 'http://example.com/a.png',
    locale: 'en-GB',
    data: { plan: 'team' },
    channels: [{ providerId: 'fcm' }],
    isOnline: true,
    lastOnlineAt: TIME,
    __v: 1,
  };
  await using gateway = await startScriptedGateway(() => ({ status: 201, body: { data: record } }));
  const { createSubscriber } = await gateway.data<{ createSubscriber: { subscriber: unknown } }>(
    `mutation ($input: CreateSubscriberInput!) {
      createSubscriber(input: $input) { ... on CreateSubscriberSuccess { subscriber ${allFieldsOf('Subscriber')} } } }`,
    { input: { subscriberId: 'u1', channels: record.channels, data: record.data, avatar: record.avatar } },
  );
  expect(normalize(createSubscriber.subscriber)).toEqual(normalize(record));
  expect(JSON.parse(gateway.service.requests[0]?.body ?? '')).toEqual({
    subscriberId: 'u1',
    channels: record.channels,
    data: record.data,
    avatar: record.avatar,
  });
});

const BARE = { name: 'bare', ...OWNER };
const FEED = { name: 'f', identifier: 'i', ...OWNER, _id: 'f1' };

it('every field of groups, feeds, deletions and statistics is reachable', async () => {
  await using gateway = await startScriptedGateway(({ method, path }) => {
    if (path.startsWith('/v1/notifications')) {
      return {
        body: [
          { _id: '2026-01-02', count: 3, templates: ['w1'], channels: ['in_app', 'email', 'sms', 'chat', 'push'] },
        ],
      };
    }
    if (path.startsWith('/v1/feeds')) {
      return { status: 201, body: { data: FEED } };
    }
    return method === 'DELETE'
      ? { body: { data: { acknowledged: true, status: 'deleted' } } }
      : { body: { data: [WORKFLOW.notificationGroup, BARE] } };
  });
  const { notificationGroups, notificationStats } = await gateway.data(
    `{ notificationGroups ${allFieldsOf('NotificationGroup')} notificationStats ${allFieldsOf('StatsEntry')} }`,
  );
  expect(normalize(notificationGroups)).toEqual([normalize(WORKFLOW.notificationGroup), normalize(BARE)]);
  expect(notificationStats).toEqual([
    {
      key: '2026-01-02',
      date: '2026-01-02',
      count: 3,
      channels: ['IN_APP', 'EMAIL', 'SMS', 'CHAT', 'PUSH'],
      workflowIds: ['w1'],
    },
  ]);
  const writes = await gateway.data(`mutation {
    createFeed(input: { name: "f" }) { ... on CreateFeedSuccess { replayed feed ${allFieldsOf('Feed')} } }
    deleteNotificationGroup(input: { id: "g1" }) { ... on DeleteNotificationGroupSuccess { deletedId acknowledged status } } }`);
  expect(writes).toEqual({
    createFeed: { replayed: false, feed: normalize(FEED) },
    deleteNotificationGroup: { deletedId: 'g1', acknowledged: true, status: 'DELETED' },
  });
});
