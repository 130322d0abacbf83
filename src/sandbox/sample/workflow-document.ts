import type { Environment } from '../environments.ts';
import { type Channel, type SampleFilter, type SampleStep, type SampleWorkflow, sampleId } from './definition.ts';

const CHANNELS: readonly Channel[] = ['in_app', 'email', 'sms', 'chat', 'push'];

/** Creates the JSON object of a workflow as the service returns it, without `active`, `draft` and `updatedAt`, which have their own columns. */
export function createWorkflowDocument(environment: Environment, workflow: SampleWorkflow) {
  const id = sampleId(environment, 'workflow', workflow.identifier);
  return {
    _id: id,
    id,
    name: workflow.name,
    ...(workflow.description !== undefined && { description: workflow.description }),
    preferenceSettings: Object.fromEntries(
      CHANNELS.map((channel) => [channel, (workflow.preferred ?? CHANNELS).includes(channel)]),
    ),
    critical: workflow.critical,
    tags: workflow.tags,
    steps: workflow.steps.map((step, index) => createStep(environment, workflow, step, index)),
    triggers: [createTrigger(environment, workflow)],
    _organizationId: environment.organizationId,
    _environmentId: environment.id,
    _creatorId: environment.creatorId,
    _notificationGroupId: sampleId(environment, 'group', workflow.group),
    _parentId: null,
    deleted: false,
    ...(workflow.data !== undefined && { data: workflow.data }),
    isBlueprint: false,
    createdAt: workflow.createdAt,
    __v: 0,
  };
}

function createStep(environment: Environment, workflow: SampleWorkflow, step: SampleStep, index: number) {
  const id = sampleId(environment, 'step', workflow.identifier, index);
  const template = createTemplate(environment, workflow, step, index);
  return {
    _id: id,
    id,
    uuid: createUuid(environment, workflow.identifier, index),
    name: step.name,
    _templateId: template._id,
    active: true,
    shouldStopOnFail: step.shouldStopOnFail ?? false,
    template,
    filters: (step.filters ?? []).map((filter, at) => createFilter(environment, workflow, filter, `${index}.${at}`)),
    _parentId: null,
    metadata: step.metadata ?? { timed: { weekDays: [], monthDays: [] } },
    replyCallback: step.replyCallback ?? {},
  };
}

function createTemplate(environment: Environment, workflow: SampleWorkflow, step: SampleStep, index: number) {
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
    _feedId: step.feed === undefined ? null : sampleId(environment, 'feed', step.feed),
    _layoutId: step.type === 'email' ? sampleId(environment, 'layout', 'default') : null,
    deleted: false,
    createdAt: workflow.createdAt,
    updatedAt: workflow.updatedAt,
    __v: 0,
  };
}

function createFilter(environment: Environment, workflow: SampleWorkflow, filter: SampleFilter, place: string) {
  const id = sampleId(environment, 'filter', workflow.identifier, place);
  return { _id: id, id, isNegated: false, type: 'BOOLEAN', ...filter };
}

function createTrigger(environment: Environment, workflow: SampleWorkflow) {
  const id = sampleId(environment, 'trigger', workflow.identifier);
  const types = new Set(workflow.steps.map(({ type }) => type));
  return {
    _id: id,
    id,
    type: 'event',
    identifier: workflow.identifier,
    variables: placeholdersOf(workflow.steps).map((name) => {
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
function placeholdersOf(steps: readonly SampleStep[]): string[] {
  const texts = steps.map(({ subject = '', content = '' }) => `${subject} ${JSON.stringify(content)}`).join(' ');
  const names = Array.from(texts.matchAll(/{{\s*([\w.]+)\s*}}/g), ([, name = '']) => name);
  return [...new Set(names)].filter((name) => !/^(subscriber|step)\./.test(name));
}

function createUuid(environment: Environment, ...path: (string | number)[]): string {
  const [head, tail] = [sampleId(environment, 'uuid', ...path), sampleId(environment, 'uuid-node', ...path)];
  return `${head.slice(0, 8)}-${head.slice(8, 12)}-4${head.slice(12, 15)}-8${head.slice(15, 18)}-${tail.slice(0, 12)}`;
}
