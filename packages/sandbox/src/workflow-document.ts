// Writes a workflow as the service returns it.

import type { Environment } from './environments.ts';
import { sampleId } from './ids.ts';
import { CHANNELS, type StepRecord, type WorkflowRecord } from './records.ts';

/**
 * Creates the JSON object of a workflow.
 *
 * @param context ids of the workflow, its group and its feeds, and the time of a record without one
 */
export function createWorkflowDocument(
  environment: Environment,
  workflow: WorkflowRecord,
  { id, groupId, feedIdOf, now }: { id: string; groupId: string; feedIdOf(feed: string): string; now: string },
) {
  const { identifier, name = identifier, active = true, critical = false, tags = [], steps = [] } = workflow;
  const { createdAt = now, updatedAt = now } = workflow;

  const idOf = (kind: string, ...path: (string | number)[]) => sampleId(environment, kind, identifier, ...path);

  const idsOf = (kind: string, ...path: (string | number)[]) => {
    const partId = idOf(kind, ...path);
    return { _id: partId, id: partId };
  };

  const createTemplate = (step: StepRecord, index: number) => ({
    ...idsOf('template', index),
    type: step.type,
    active: true,
    subject: step.subject ?? '',
    variables: placeholdersOf([step]).map((placeholder) => ({
      ...idsOf('variable', index, placeholder),
      name: placeholder,
      type: 'String',
      required: false,
    })),
    content: step.content ?? '',
    contentType: 'editor',
    ...environment.owner,
    _creatorId: environment.creatorId,
    _feedId: step.feed === undefined ? null : feedIdOf(step.feed),
    _layoutId: step.type === 'email' ? sampleId(environment, 'layout', 'default') : null,
    deleted: false,
    createdAt,
    updatedAt,
    __v: 0,
    ...step.template,
  });

  function createStep(step: StepRecord, index: number) {
    const template = createTemplate(step, index);
    const { _id } = template; // As in the real service, the step and its template have the same id.
    const [head, tail] = [idOf('uuid', index), idOf('uuid-node', index)];
    return {
      _id,
      id: _id,
      uuid: `${head.slice(0, 8)}-${head.slice(8, 12)}-4${head.slice(12, 15)}-8${head.slice(15, 18)}-${tail.slice(0, 12)}`,
      name: step.name ?? step.type,
      _templateId: _id,
      active: step.active ?? true,
      shouldStopOnFail: step.shouldStopOnFail ?? false,
      template,
      type: 'REGULAR',
      filters: (step.filters ?? []).map((filter, at) => ({
        ...idsOf('filter', `${index}.${at}`),
        isNegated: false,
        type: 'BOOLEAN',
        ...filter,
      })),
      _parentId: null,
      metadata: step.metadata ?? { timed: { weekDays: [], monthDays: [] } },
      replyCallback: step.replyCallback ?? {},
    };
  }

  const types = new Set(steps.map(({ type }) => type));
  const trigger = {
    ...idsOf('trigger'),
    type: 'event',
    identifier,
    variables: placeholdersOf(steps).map((placeholder) => ({
      ...idsOf('trigger-variable', placeholder),
      name: placeholder,
      type: 'String',
    })),
    reservedVariables: [],
    subscriberVariables: [
      ...(types.has('email') ? [{ name: 'email' }] : []),
      ...(types.has('sms') ? [{ name: 'phone' }] : []),
    ],
  };
  return {
    _id: id,
    id,
    name,
    active,
    draft: !active,
    ...(workflow.description !== undefined && { description: workflow.description }),
    preferenceSettings: Object.fromEntries(
      CHANNELS.map((channel) => [channel, (workflow.preferred ?? CHANNELS).includes(channel)]),
    ),
    critical,
    tags,
    steps: steps.map(createStep),
    triggers: [trigger],
    ...environment.owner,
    _creatorId: environment.creatorId,
    _notificationGroupId: groupId,
    deleted: false,
    ...(workflow.data !== undefined && { data: workflow.data }),
    type: 'REGULAR',
    origin: 'novu-cloud',
    isBlueprint: false,
    createdAt,
    updatedAt,
    __v: 0,
  };
}

/** Returns the names of the {{placeholders}} to be set by the trigger. Placeholders of the subscriber are set by the service. */
function placeholdersOf(steps: readonly StepRecord[]): string[] {
  const texts = steps.map(({ subject = '', content = '' }) => `${subject} ${JSON.stringify(content)}`).join(' ');
  const names = Array.from(texts.matchAll(/{{\s*([\w.]+)\s*}}/g), ([, name = '']) => name);
  return [...new Set(names)].filter((name) => !/^(subscriber|step)\./.test(name));
}
