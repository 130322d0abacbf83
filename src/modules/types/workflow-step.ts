// Adds the steps of workflows, with their filters and templates.

import type { FieldMap } from '@pothos/core';
import type { StepBody, StepTemplateBody } from '../../upstream/endpoints.ts';
import { defineModule } from '../module.ts';
import { visibleJson } from './masking.ts';
import {
  contentFields,
  extraField,
  type Fields,
  idField,
  jsonField,
  listField,
  optional,
  shows,
  time,
} from './record-fields.ts';

type Metadata = NonNullable<StepBody['metadata']>;

type Filter = NonNullable<StepBody['filters']>[number];

type Condition = NonNullable<Filter['children']>[number];

/** Whether a condition's fields show a member. In a group, and without a field to compare, `value` and `operator` mean something else. */
const isShown = (condition: Condition, member: string): boolean =>
  member === 'on' ||
  (Boolean(condition.field) && !('children' in condition) && (member !== 'value' || isText(condition.value)));

/** Numbers and booleans are shown as text, unless a number isn't exact. */
const isText = (value: unknown): boolean =>
  value === null ||
  (typeof value !== 'object' && (typeof value !== 'number' || !Number.isInteger(value) || Number.isSafeInteger(value)));

const shown = (condition: Condition, member: 'field' | 'value' | 'operator') =>
  isShown(condition, member) ? condition[member] : null;

export const workflowSteps = defineModule('workflowSteps', ({ builder }) => {
  const TimedSettings = builder.objectRef<NonNullable<Metadata['timed']>>('TimedSettings').implement({
    description: 'The days on which a timed digest is sent.',
    fields: (t) => ({
      weekDays: listField(t, 'weekDays', 'JSON', 'The days of the week, as sent by the service.'),
      monthDays: listField(t, 'monthDays', 'JSON', 'The days of the month, as sent by the service.'),
    }),
  });

  const StepMetadata = builder.objectRef<Metadata>('StepMetadata').implement({
    description: 'The settings of a digest or delay.',
    fields: (t) => ({
      amount: t.exposeFloat('amount', optional('The time to wait, or to collect events, in `unit`.')),
      unit: t.exposeString('unit', optional('The unit of `amount`, such as `seconds`.')),
      digestKey: t.exposeString(
        'digestKey',
        optional('The variable by which a digest groups events. Null if it groups only by subscriber.'),
      ),
      type: t.exposeString('type', optional('The kind of digest or delay, such as `regular` or `timed`.')),
      backoff: t.exposeBoolean(
        'backoff',
        optional('Whether the first event is sent immediately, and only further ones are collected.'),
      ),
      backoffAmount: t.exposeFloat(
        'backoffAmount',
        optional('The time to look back for an earlier event, in `backoffUnit`.'),
      ),
      backoffUnit: t.exposeString('backoffUnit', optional('The unit of `backoffAmount`, such as `seconds`.')),
      updateMode: t.exposeBoolean(
        'updateMode',
        optional('Whether a digest updates the message that it already sent instead of sending another.'),
      ),
      timed: t.expose('timed', {
        type: TimedSettings,
        nullable: true,
        description:
          'The days of a timed digest. Null for other kinds. `extra.timed` has the rest of the schedule, such as the time of day.',
      }),
      extra: extraField(t, 'workflows'),
    }),
  });

  const StepFilterCondition = builder.objectRef<Condition>('StepFilterCondition').implement({
    description:
      'A condition of a filter. A comparison has a `field`. In other conditions, such as a nested group, `field`, `operator` and `value` are null, and `extra` has the members.',
    fields: (t) => ({
      field: t.string({
        ...optional('The name of the field to compare. Null if the condition is not a comparison.'),
        resolve: (condition) => shown(condition, 'field'),
      }),
      value: t.string({
        ...optional('The value to compare the field with. Null if it is a list or an object, which `extra` has.'),
        resolve: (condition) => shown(condition, 'value'),
      }),
      operator: t.string({
        ...optional('The comparison, such as `LARGER` or `EQUAL`.'),
        resolve: (condition) => shown(condition, 'operator'),
      }),
      on: t.exposeString(
        'on',
        optional(
          'The object that has the field, such as `subscriber` or `payload`, or the kind of another condition, such as `previousStep`.',
        ),
      ),
      extra: extraField(t, 'workflows', isShown),
    }),
  });

  const StepFilter = builder.objectRef<Filter>('StepFilter').implement({
    description: 'A group of conditions that decide whether a step runs.',
    fields: (t) => ({
      id: idField(t, 'filter'),
      isNegated: t.exposeBoolean('isNegated', optional('Whether the step runs if the conditions do not hold.')),
      type: t.exposeString('type', optional('The kind of filter, such as `BOOLEAN`.')),
      value: t.exposeString('value', optional('The operator that combines the conditions: `AND` or `OR`.')),
      children: listField(t, 'children', StepFilterCondition, 'The conditions of the group.'),
      extra: extraField(t, 'workflows'),
    }),
  });

  /** Fields that a step also has in a list of workflows: all but its id and content. */
  const stepFields = (t: Fields<StepBody>): FieldMap => ({
    uuid: t.exposeString('uuid', optional('An id that the step has in every environment.')),
    name: t.exposeString('name', optional('The name that people see.')),
    templateId: t.exposeID('_templateId', optional('The id of `template`.')),
    active: t.exposeBoolean('active', optional('Whether the step runs when the workflow is triggered.')),
    shouldStopOnFail: t.exposeBoolean('shouldStopOnFail', optional('Whether the workflow stops if this step fails.')),
    filters: listField(t, 'filters', StepFilter, 'The conditions under which the step runs. Empty if it always runs.'),
    parentId: t.field({
      type: 'JSON',
      extensions: shows('_parentId'),
      ...optional('The previous step, as sent by the service. Null for the first step.'),
      resolve: ({ _parentId }, _args, { identity }) => visibleJson(_parentId, identity),
    }),
    metadata: t.expose('metadata', {
      type: StepMetadata,
      ...optional('The settings of a digest or delay. Null for other steps.'),
    }),
    replyCallback: jsonField(
      t,
      'The destination of replies to an email, as sent by the service.',
      (step) => step.replyCallback,
    ),
    extra: extraField(t, 'workflows'),
  });

  const WorkflowStep = builder.objectRef<StepBody>('WorkflowStep').implement({
    description: 'A step of a workflow: a message over one channel, a digest or a delay.',
    fields: (t) => ({
      id: idField(t, 'step'),
      ...stepFields(t),
      template: t.expose('template', {
        type: StepTemplate,
        ...optional('The content to send. Null if the service sent none.'),
      }),
    }),
  });

  const TemplateVariable = builder
    .objectRef<NonNullable<StepTemplateBody['variables']>[number]>('TemplateVariable')
    .implement({
      description: 'A placeholder in the content of a step.',
      fields: (t) => ({
        id: idField(t, 'placeholder'),
        name: t.exposeString('name', {
          description: 'The name, as written between the braces: `name` for `{{name}}`.',
        }),
        type: t.exposeString('type', optional('The type of the value, such as `String`.')),
        required: t.exposeBoolean('required', optional('Whether a trigger must send a value.')),
        extra: extraField(t, 'workflows'),
      }),
    });

  const StepTemplate = builder.objectRef<StepTemplateBody>('StepTemplate').implement({
    description: 'The content of the message that a step sends.',
    fields: (t) => ({
      templateId: idField(t, 'template', ' Unique only among templates: it can equal the id of the step.'),
      type: t.exposeString('type', optional('The channel or kind of the step, such as `email`, `in_app` or `digest`.')),
      active: t.exposeBoolean('active', optional('Whether the template is active.')),
      subject: t.exposeString('subject', optional('The subject of an email. Null for other channels.')),
      variables: listField(t, 'variables', TemplateVariable, 'The placeholders in the content.'),
      ...contentFields(t, 'The text with placeholders such as `{{name}}`.', (text) => text),
      contentType: t.exposeString('contentType', optional('The format of an email, such as `editor`.')),
      feedId: t.exposeID('_feedId', optional('The id of the feed that shows an in-app message. Null if none.')),
      layoutId: t.exposeID('_layoutId', optional('The id of the layout of an email. Null if none.')),
      creatorId: t.exposeID('_creatorId', optional('The id of the user who created the template.')),
      organizationId: t.exposeID('_organizationId', optional('The id of the organization that owns the template.')),
      environmentId: t.exposeID('_environmentId', optional('The id of the environment that the template belongs to.')),
      deleted: t.exposeBoolean('deleted', optional('Whether the template is deleted.')),
      createdAt: t.expose('createdAt', time('The time when the template was created.')),
      updatedAt: t.expose('updatedAt', time('The time when the template was last changed.')),
      revision: t.exposeInt('__v', optional('The revision number that the service assigned.')),
      extra: extraField(t, 'workflows'),
    }),
  });

  return { WorkflowStep, stepFields };
});
