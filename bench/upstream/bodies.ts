/** What the canned upstream answers: bodies in the shape and size of the service's own. */

const ORGANIZATION = '65f1c0ffee0123456789abc1';
const ENVIRONMENT = '65f1c0ffee0123456789abc2';
const CREATED = '2026-01-15T09:30:00.000Z';
const STEP_TYPES = ['in_app', 'email', 'sms', 'chat', 'push'];

/** How many workflows the days of the statistics name altogether. */
export const WORKFLOWS_IN_STATS = 10;

/** The bytes of a workflow with five steps, as services send it. */
export const WORKFLOW_BYTES = 8 * 1024;

const wrap = (data: unknown): Buffer => Buffer.from(JSON.stringify({ data }));

/** A workflow with five steps; its step contents are as long as it takes to reach the size. */
export function workflowBody(id: string, bytes = WORKFLOW_BYTES): Buffer {
  const bare = wrap(workflow(id, 0)).byteLength;
  return wrap(workflow(id, Math.max(0, Math.round((bytes - bare) / STEP_TYPES.length))));
}

function workflow(id: string, contentBytes: number) {
  const number = Number(/\d+$/.exec(id)?.[0] ?? 0);
  return {
    _id: id,
    id,
    name: `Workflow ${number}`,
    description: 'Sent when an order leaves the warehouse.',
    active: true,
    draft: false,
    critical: false,
    isBlueprint: false,
    preferenceSettings: { email: true, sms: true, in_app: true, chat: true, push: true },
    tags: ['orders', 'shipping'],
    steps: STEP_TYPES.map((type, index) => step(id, type, index, contentBytes)),
    triggers: [
      {
        _id: `${id}-trigger`,
        id: `${id}-trigger`,
        type: 'event',
        identifier: `order-shipped-${number}`,
        variables: [{ name: 'orderId', type: 'String', _id: `${id}-variable`, id: `${id}-variable` }],
        reservedVariables: [],
        subscriberVariables: [{ name: 'email' }],
      },
    ],
    _notificationGroupId: `group-${number}`,
    _organizationId: ORGANIZATION,
    _environmentId: ENVIRONMENT,
    _creatorId: '65f1c0ffee0123456789abc3',
    deleted: false,
    workflowIntegrationStatus: { hasActiveIntegrations: true },
    createdAt: CREATED,
    updatedAt: CREATED,
    __v: 3,
  };
}

function step(workflowId: string, type: string, index: number, contentBytes: number) {
  const id = `${workflowId}-step-${index}`;
  const templateId = `${id}-template`;
  return {
    _id: id,
    id,
    uuid: `0b8b6c1e-8f5e-4d5e-9c1a-00000000000${index}`,
    name: `Step ${index}`,
    _templateId: templateId,
    active: index !== 3,
    shouldStopOnFail: false,
    template: {
      _id: templateId,
      id: templateId,
      type,
      active: true,
      subject: 'Your order {{orderId}} is on its way',
      variables: [{ name: 'orderId', type: 'String', required: true, _id: `${templateId}-variable` }],
      content: fill('Hello {{subscriber.firstName}}, "{{orderId}}" has left our warehouse.\n', contentBytes),
      contentType: 'editor',
      _environmentId: ENVIRONMENT,
      _organizationId: ORGANIZATION,
      _creatorId: '65f1c0ffee0123456789abc3',
      _feedId: null,
      _layoutId: null,
      deleted: false,
      createdAt: CREATED,
      updatedAt: CREATED,
      __v: 0,
    },
    filters: [
      {
        _id: `${id}-filter`,
        id: `${id}-filter`,
        isNegated: false,
        type: 'BOOLEAN',
        value: 'AND',
        children: [{ field: 'total', value: '100', operator: 'LARGER', on: 'payload' }],
      },
    ],
    _parentId: null,
    metadata: { timed: { weekDays: [], monthDays: [] } },
  };
}

/** A text of at least its own length, repeated up to about so many bytes of JSON. */
const fill = (text: string, bytes: number): string =>
  text.repeat(Math.max(1, Math.round(bytes / (JSON.stringify(text).length - 2))));

const group = (number: number) => ({
  _id: `group-${number}`,
  name: `Group ${number}`,
  _environmentId: ENVIRONMENT,
  _organizationId: ORGANIZATION,
  createdAt: CREATED,
  updatedAt: CREATED,
  __v: 0,
});

export const groupsBody = (count: number): Buffer => wrap(Array.from({ length: count }, (_, number) => group(number)));

export const groupBody = (number: number): Buffer => wrap(group(number));

export const createdGroupBody = (): Buffer => wrap({ ...group(7), name: 'Made by the benchmark' });

/** Days of statistics, newest first and without an envelope, as the service sends them. */
export function statsBody(days: number): Buffer {
  const last = Date.UTC(2026, 5, 30);
  const entries = Array.from({ length: days }, (_, day) => ({
    _id: new Date(last - day * 86_400_000).toISOString().slice(0, 10),
    count: 1_000 + day,
    templates: [0, 1, 2].map((offset) => `workflow-${(day + offset) % WORKFLOWS_IN_STATS}`),
    channels: ['email', 'in_app'],
  }));
  return Buffer.from(JSON.stringify(entries));
}

export const subscriberBody = (): Buffer =>
  wrap({
    _id: '65f1c0ffee0123456789abc9',
    id: '65f1c0ffee0123456789abc9',
    subscriberId: 'customer-7',
    firstName: 'Ada',
    lastName: 'Example',
    email: 'ada@example.com',
    channels: [],
    _organizationId: ORGANIZATION,
    _environmentId: ENVIRONMENT,
    deleted: false,
    createdAt: CREATED,
    updatedAt: CREATED,
    __v: 0,
  });
