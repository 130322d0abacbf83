import { expect, it } from 'vitest';
import { startScriptedGateway } from '../support/gateway.ts';

const TIME = '2026-03-04T05:06:07.890Z';
const OWNER = { _organizationId: 'org', _environmentId: 'env' };

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

const OWNER_FIELDS = 'organizationId environmentId';

it('every field of a workflow is reachable', async () => {
  await using gateway = await startScriptedGateway(() => ({ body: { data: WORKFLOW } }));
  const { workflow } = await gateway.data(`{ workflow(idOrIdentifier: "w1") {
    id identifier name description active draft critical isBlueprint tags
    preferenceSettings { email sms inApp chat push }
    steps {
      id uuid name templateId active shouldStopOnFail parentId replyCallback
      template { id type active subject content contentBlocks contentType feedId layoutId creatorId ${OWNER_FIELDS} deleted
        createdAt updatedAt revision variables { id name type required } }
      filters { id isNegated type value children { field value operator on } }
      metadata { amount unit digestKey type backoff backoffAmount backoffUnit updateMode timed { weekDays monthDays } }
    }
    triggers { id type identifier variables { id name type } reservedVariables subscriberVariables { id name type } }
    notificationGroupId notificationGroup { id name parentId ${OWNER_FIELDS} }
    parentId data workflowIntegrationStatus creatorId ${OWNER_FIELDS} deleted deletedAt deletedBy createdAt updatedAt revision
  } }`);
  expect(workflow).toMatchInlineSnapshot(`
    {
      "active": true,
      "createdAt": "2026-03-04T05:06:07.890Z",
      "creatorId": "creator",
      "critical": true,
      "data": {
        "any": [
          "thing",
          1,
          null,
        ],
      },
      "deleted": true,
      "deletedAt": "2026-03-04T05:06:07.890Z",
      "deletedBy": "someone",
      "description": "d",
      "draft": false,
      "environmentId": "env",
      "id": "w1",
      "identifier": "ident",
      "isBlueprint": false,
      "name": "n",
      "notificationGroup": {
        "environmentId": "env",
        "id": "g1",
        "name": "g",
        "organizationId": "org",
        "parentId": "gp",
      },
      "notificationGroupId": "g1",
      "organizationId": "org",
      "parentId": "p1",
      "preferenceSettings": {
        "chat": false,
        "email": true,
        "inApp": true,
        "push": true,
        "sms": false,
      },
      "revision": 7,
      "steps": [
        {
          "active": true,
          "filters": [
            {
              "children": [
                {
                  "field": "age",
                  "on": "subscriber",
                  "operator": "LARGER",
                  "value": "18",
                },
              ],
              "id": "x1",
              "isNegated": false,
              "type": "BOOLEAN",
              "value": "AND",
            },
          ],
          "id": "s1",
          "metadata": {
            "amount": 1.5,
            "backoff": true,
            "backoffAmount": 2,
            "backoffUnit": "minutes",
            "digestKey": "key",
            "timed": {
              "monthDays": [
                1,
              ],
              "weekDays": [
                "monday",
              ],
            },
            "type": "regular",
            "unit": "seconds",
            "updateMode": false,
          },
          "name": "step",
          "parentId": {
            "nested": "object",
          },
          "replyCallback": {
            "active": true,
          },
          "shouldStopOnFail": false,
          "template": {
            "active": true,
            "content": "Hello {{v}}",
            "contentBlocks": null,
            "contentType": "editor",
            "createdAt": "2026-03-04T05:06:07.890Z",
            "creatorId": "creator",
            "deleted": false,
            "environmentId": "env",
            "feedId": "f1",
            "id": "t1",
            "layoutId": "l1",
            "organizationId": "org",
            "revision": 3,
            "subject": "sub",
            "type": "chat",
            "updatedAt": "2026-03-04T05:06:07.890Z",
            "variables": [
              {
                "id": "v1",
                "name": "v",
                "required": true,
                "type": "String",
              },
            ],
          },
          "templateId": "t1",
          "uuid": "u1",
        },
        {
          "active": null,
          "filters": [],
          "id": null,
          "metadata": null,
          "name": null,
          "parentId": null,
          "replyCallback": null,
          "shouldStopOnFail": null,
          "template": {
            "active": null,
            "content": null,
            "contentBlocks": [
              {
                "type": "text",
              },
            ],
            "contentType": null,
            "createdAt": null,
            "creatorId": null,
            "deleted": null,
            "environmentId": null,
            "feedId": null,
            "id": null,
            "layoutId": null,
            "organizationId": null,
            "revision": null,
            "subject": null,
            "type": null,
            "updatedAt": null,
            "variables": [],
          },
          "templateId": null,
          "uuid": null,
        },
      ],
      "tags": [
        "a",
        "b",
      ],
      "triggers": [
        {
          "id": "tr",
          "identifier": "ident",
          "reservedVariables": [
            {
              "type": "tenant",
            },
          ],
          "subscriberVariables": [
            {
              "id": null,
              "name": "email",
              "type": null,
            },
          ],
          "type": "event",
          "variables": [
            {
              "id": "tv",
              "name": "v",
              "type": "String",
            },
          ],
        },
      ],
      "updatedAt": "2026-03-04T05:06:07.890Z",
      "workflowIntegrationStatus": {
        "hasActiveIntegrations": true,
      },
    }
  `);
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
    `mutation ($input: CreateSubscriberInput!) { createSubscriber(input: $input) { ... on CreateSubscriberSuccess { subscriber {
      subscriberId id firstName lastName email phone avatar locale data channels isOnline lastOnlineAt ${OWNER_FIELDS} deleted
      createdAt updatedAt revision } } } }`,
    { input: { subscriberId: 'u1', channels: record.channels, data: record.data, avatar: record.avatar } },
  );
  const { _id, __v, _organizationId, _environmentId, ...same } = record;
  expect(createSubscriber.subscriber).toEqual({ ...same, revision: 1, organizationId: 'org', environmentId: 'env' });
  expect(JSON.parse(gateway.service.requests[0]?.body ?? '')).toEqual({
    subscriberId: 'u1',
    channels: record.channels,
    data: record.data,
    avatar: record.avatar,
  });
});

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
      return { status: 201, body: { data: { name: 'f', identifier: 'i', ...OWNER, _id: 'f1' } } };
    }
    return method === 'DELETE'
      ? { body: { data: { acknowledged: true, status: 'deleted' } } }
      : { body: { data: [WORKFLOW.notificationGroup, { name: 'bare', ...OWNER }] } };
  });
  expect(
    await gateway.data(`{ notificationGroups { id name parentId ${OWNER_FIELDS} }
      notificationStats { key date count channels workflowIds } }`),
  ).toMatchInlineSnapshot(`
    {
      "notificationGroups": [
        {
          "environmentId": "env",
          "id": "g1",
          "name": "g",
          "organizationId": "org",
          "parentId": "gp",
        },
        {
          "environmentId": "env",
          "id": null,
          "name": "bare",
          "organizationId": "org",
          "parentId": null,
        },
      ],
      "notificationStats": [
        {
          "channels": [
            "IN_APP",
            "EMAIL",
            "SMS",
            "CHAT",
            "PUSH",
          ],
          "count": 3,
          "date": "2026-01-02",
          "key": "2026-01-02",
          "workflowIds": [
            "w1",
          ],
        },
      ],
    }
  `);
  expect(
    await gateway.data(`mutation {
      createFeed(input: { name: "f" }) { ... on CreateFeedSuccess { replayed feed { id identifier name ${OWNER_FIELDS} } } }
      deleteNotificationGroup(input: { id: "g1" }) { ... on DeleteNotificationGroupSuccess { deletedId acknowledged status } } }`),
  ).toMatchInlineSnapshot(`
    {
      "createFeed": {
        "feed": {
          "environmentId": "env",
          "id": "f1",
          "identifier": "i",
          "name": "f",
          "organizationId": "org",
        },
        "replayed": false,
      },
      "deleteNotificationGroup": {
        "acknowledged": true,
        "deletedId": "g1",
        "status": "DELETED",
      },
    }
  `);
});
