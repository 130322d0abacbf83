import type { Environment } from '../environments.ts';
import { sampleId } from './definition.ts';
import type { Channel, FilterRecord, StepRecord, WorkflowRecord } from './records.ts';

const CHANNELS: readonly Channel[] = ['in_app', 'email', 'sms', 'chat', 'push'];

/** Ids that a workflow contains, and the time of a record without one. */
export interface WorkflowContext {
  id: string;
  groupId: string;
  /** Returns the id of a feed by its name. */
  feedIdOf(feed: string): string;
  now: string;
}

/** Creates the JSON object of a workflow as the service returns it, without `active`, `draft` and `updatedAt`, which have their own columns. */
export function createWorkflowDocument(environment: Environment, workflow: WorkflowRecord, context: WorkflowContext) {
  const { id, groupId, now } = context;
  const { identifier, name = identifier, critical = false, tags = [], steps = [], createdAt = now } = workflow;
  return {
    _id: id,
    id,
    name,
    ...(workflow.description !== undefined && { description: workflow.description }),
    preferenceSettings: Object.fromEntries(
      CHANNELS.map((channel) => [channel, (workflow.preferred ?? CHANNELS).includes(channel)]),
    ),
    critical,
    tags,
    steps: steps.map((step, index) => createStep(environment, workflow, step, index, context)),
    triggers: [createTrigger(environment, workflow)],
    _organizationId: environment.organizationId,
    _environmentId: environment.id,
    _creatorId: environment.creatorId,
    _notificationGroupId: groupId,
    _parentId: null,
    deleted: false,
    ...(workflow.data !== undefined && { data: workflow.data }),
    isBlueprint: false,
    createdAt,
    __v: 0,
  };
}

function createStep(
  environment: Environment,
  workflow: WorkflowRecord,
  step: StepRecord,
  index: number,
  context: WorkflowContext,
) {
  const template = createTemplate(environment, workflow, step, index, context);
  return {
    _id: template._id, // As in the real service.
    id: template._id,
    uuid: createUuid(environment, workflow.identifier, index),
    name: step.name ?? step.type,
    _templateId: template._id,
    active: step.active ?? true,
    shouldStopOnFail: step.shouldStopOnFail ?? false,
    template,
    filters: (step.filters ?? []).map((filter, at) => createFilter(environment, workflow, filter, `${index}.${at}`)),
    _parentId: null,
    metadata: step.metadata ?? { timed: { weekDays: [], monthDays: [] } },
    replyCallback: step.replyCallback ?? {},
  };
}

function createTemplate(
  environment: Environment,
  workflow: WorkflowRecord,
  step: StepRecord,
  index: number,
  { feedIdOf, now }: WorkflowContext,
) {
  const { createdAt = now, updatedAt = now } = workflow;
  const id = sampleId(environment, 'template', workflow.identifier, index);
  return {
    _id: id,
    id,
    type: step.type,
    active: true,
    subject: step.subject ?? '',
    variables: placeholdersOf([step]).map((name) => {
      const variableId = sampleId(environment, 'variable', workflow.identifier, index, name);
      return { _id: variableId, id: variableId, name, type: 'String', required: false };
    }),
    content: step.content ?? '',
    contentType: 'editor',
    _environmentId: environment.id,
    _organizationId: environment.organizationId,
    _creatorId: environment.creatorId,
    _feedId: step.feed === undefined ? null : feedIdOf(step.feed),
    _layoutId: step.type === 'email' ? sampleId(environment, 'layout', 'default') : null,
    deleted: false,
    createdAt,
    updatedAt,
    __v: 0,
    ...step.template,
  };
}

function createFilter(environment: Environment, workflow: WorkflowRecord, filter: FilterRecord, place: string) {
  const id = sampleId(environment, 'filter', workflow.identifier, place);
  return { _id: id, id, isNegated: false, type: 'BOOLEAN', ...filter };
}

function createTrigger(environment: Environment, workflow: WorkflowRecord) {
  const { steps = [] } = workflow;
  const id = sampleId(environment, 'trigger', workflow.identifier);
  const types = new Set(steps.map(({ type }) => type));
  return {
    _id: id,
    id,
    type: 'event',
    identifier: workflow.identifier,
    variables: placeholdersOf(steps).map((name) => {
      const variableId = sampleId(environment, 'trigger-variable', workflow.identifier, name);
      return { _id: variableId, id: variableId, name, type: 'String' };
    }),
    reservedVariables: [],
    subscriberVariables: [
      ...(types.has('email') ? [{ name: 'email' }] : []),
      ...(types.has('sms') ? [{ name: 'phone' }] : []),
    ],
  };
}

/** Returns the names of the {{placeholders}} to be set by the trigger. Placeholders of the subscriber are set by the service. */
function placeholdersOf(steps: readonly StepRecord[]): string[] {
  const texts = steps.map(({ subject = '', content = '' }) => `${subject} ${JSON.stringify(content)}`).join(' ');
  const names = Array.from(texts.matchAll(/{{\s*([\w.]+)\s*}}/g), ([, name = '']) => name);
  return [...new Set(names)].filter((name) => !/^(subscriber|step)\./.test(name));
}

function createUuid(environment: Environment, ...path: (string | number)[]): string {
  const [head, tail] = [sampleId(environment, 'uuid', ...path), sampleId(environment, 'uuid-node', ...path)];
  return `${head.slice(0, 8)}-${head.slice(8, 12)}-4${head.slice(12, 15)}-8${head.slice(15, 18)}-${tail.slice(0, 12)}`;
}
