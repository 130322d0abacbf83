import { environmentId, groupId, groupOfWorkflow, idOf, padded, workflowId } from '../ids.ts';

/** Id of the organization that all records belong to. */
export const ORGANIZATION = idOf('organization', 0);
/** Creation time of all records. */
export const CREATED = '2026-01-15T09:30:00.000Z';

const CREATOR = idOf('user', 0);
/** Environment of the workflows. Its id has no run of digits, so that only the workflows' ids decide about that. */
const ENVIRONMENT = environmentId(0);
const STEP_TYPES = ['in_app', 'email', 'sms', 'chat', 'push'];

/** Size of a workflow with five steps, in bytes, as services send it. */
export const WORKFLOW_BYTES = 8 * 1024;

/** Wraps data in the service's envelope. */
export const wrap = (data: unknown): Buffer => Buffer.from(JSON.stringify({ data }));

/** Returns a workflow with five steps, whose contents are filled up to reach the size. */
export function workflowBody(number: number, bytes = WORKFLOW_BYTES): Buffer {
  const bare = wrap(workflow(number, 0)).byteLength;
  return wrap(workflow(number, Math.max(0, Math.round((bytes - bare) / STEP_TYPES.length))));
}

function workflow(number: number, contentBytes: number) {
  const id = workflowId(number);
  const triggerId = idOf('trigger', number);
  const variableId = idOf('trigger variable', number);
  return {
    _id: id,
    id,
    name: `Workflow ${padded(number)}`,
    description: 'Sent when an order leaves the warehouse.',
    active: true,
    draft: false,
    critical: false,
    isBlueprint: false,
    preferenceSettings: { email: true, sms: true, in_app: true, chat: true, push: true },
    tags: ['orders', 'shipping'],
    steps: STEP_TYPES.map((type, index) => step(number, type, index, contentBytes)),
    triggers: [
      {
        _id: triggerId,
        id: triggerId,
        type: 'event',
        identifier: `order-shipped-${padded(number)}`,
        variables: [{ name: 'orderId', type: 'String', _id: variableId, id: variableId }],
        reservedVariables: [],
        subscriberVariables: [{ name: 'email' }],
      },
    ],
    _notificationGroupId: groupId(groupOfWorkflow(number)),
    _organizationId: ORGANIZATION,
    _environmentId: ENVIRONMENT,
    _creatorId: CREATOR,
    deleted: false,
    workflowIntegrationStatus: { hasActiveIntegrations: true },
    createdAt: CREATED,
    updatedAt: CREATED,
    __v: 3,
  };
}

function step(workflow: number, type: string, index: number, contentBytes: number) {
  const id = idOf(`step ${index}`, workflow);
  const templateId = idOf(`template ${index}`, workflow);
  const filterId = idOf(`filter ${index}`, workflow);
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
      variables: [{ name: 'orderId', type: 'String', required: true, _id: idOf(`variable ${index}`, workflow) }],
      content: fill('Hello {{subscriber.firstName}}, "{{orderId}}" has left our warehouse.\n', contentBytes),
      contentType: 'editor',
      _environmentId: ENVIRONMENT,
      _organizationId: ORGANIZATION,
      _creatorId: CREATOR,
      _feedId: null,
      _layoutId: null,
      deleted: false,
      createdAt: CREATED,
      updatedAt: CREATED,
      __v: 0,
    },
    filters: [
      {
        _id: filterId,
        id: filterId,
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

/** Repeats a text at least once, up to about `bytes` bytes of JSON. */
const fill = (text: string, bytes: number): string =>
  text.repeat(Math.max(1, Math.round(bytes / (JSON.stringify(text).length - 2))));
