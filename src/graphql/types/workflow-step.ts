import type { StepBody, StepTemplateBody } from '../../upstream/endpoints.ts';
import { defineModule } from '../module.ts';

type Metadata = NonNullable<StepBody['metadata']>;

type Filter = NonNullable<StepBody['filters']>[number];

/** Steps of workflows. */
export const workflowSteps = defineModule('workflowSteps', ({ builder }) => {
  const TimedSettings = builder.objectRef<NonNullable<Metadata['timed']>>('TimedSettings').implement({
    description: 'The days on which a timed digest is sent.',
    fields: (t) => ({
      weekDays: t.field({
        type: ['JSON'],
        description: 'The days of the week, as sent by the service.',
        resolve: ({ weekDays }) => weekDays ?? [],
      }),
      monthDays: t.field({
        type: ['JSON'],
        description: 'The days of the month, as sent by the service.',
        resolve: ({ monthDays }) => monthDays ?? [],
      }),
    }),
  });

  const StepMetadata = builder.objectRef<Metadata>('StepMetadata').implement({
    description: 'The settings of a digest or delay.',
    fields: (t) => ({
      amount: t.exposeFloat('amount', {
        nullable: true,
        description: 'The time to wait, or to collect events, in `unit`.',
      }),
      unit: t.exposeString('unit', { nullable: true, description: 'The unit of `amount`, such as `seconds`.' }),
      digestKey: t.exposeString('digestKey', {
        nullable: true,
        description: 'The variable by which a digest groups events. Null if it groups only by subscriber.',
      }),
      type: t.exposeString('type', {
        nullable: true,
        description: 'The kind of digest or delay, such as `regular` or `timed`.',
      }),
      backoff: t.exposeBoolean('backoff', {
        nullable: true,
        description: 'Whether the first event is sent immediately, and only further ones are collected.',
      }),
      backoffAmount: t.exposeFloat('backoffAmount', {
        nullable: true,
        description: 'The time to look back for an earlier event, in `backoffUnit`.',
      }),
      backoffUnit: t.exposeString('backoffUnit', {
        nullable: true,
        description: 'The unit of `backoffAmount`, such as `seconds`.',
      }),
      updateMode: t.exposeBoolean('updateMode', {
        nullable: true,
        description: 'Whether a digest updates the message that it already sent instead of sending another.',
      }),
      timed: t.expose('timed', {
        type: TimedSettings,
        nullable: true,
        description: 'The schedule of a timed digest. Null for other kinds.',
      }),
    }),
  });

  const StepFilterCondition = builder
    .objectRef<NonNullable<Filter['children']>[number]>('StepFilterCondition')
    .implement({
      description: 'One comparison of a filter.',
      fields: (t) => ({
        field: t.exposeString('field', { nullable: true, description: 'The name of the field to compare.' }),
        value: t.exposeString('value', { nullable: true, description: 'The value to compare the field with.' }),
        operator: t.exposeString('operator', {
          nullable: true,
          description: 'The comparison, such as `LARGER` or `EQUAL`.',
        }),
        on: t.exposeString('on', {
          nullable: true,
          description: 'The object that has the field, such as `subscriber` or `payload`.',
        }),
      }),
    });

  const StepFilter = builder.objectRef<Filter>('StepFilter').implement({
    description: 'A group of conditions that decide whether a step runs.',
    fields: (t) => ({
      id: t.id({
        nullable: true,
        description: "The filter's id, or null if the service sent none.",
        resolve: ({ _id, id }) => _id ?? id,
      }),
      isNegated: t.exposeBoolean('isNegated', {
        nullable: true,
        description: 'Whether the step runs if the conditions do not hold.',
      }),
      type: t.exposeString('type', { nullable: true, description: 'The kind of filter, such as `BOOLEAN`.' }),
      value: t.exposeString('value', {
        nullable: true,
        description: 'The operator that combines the conditions: `AND` or `OR`.',
      }),
      children: t.field({
        type: [StepFilterCondition],
        description: 'The conditions of the group.',
        resolve: ({ children }) => children ?? [],
      }),
    }),
  });

  const WorkflowStep = builder.objectRef<StepBody>('WorkflowStep').implement({
    description: 'A step of a workflow: a message over one channel, a digest or a delay.',
    fields: (t) => ({
      id: t.id({
        nullable: true,
        description: "The step's id, or null if the service sent none.",
        resolve: ({ _id, id }) => _id ?? id,
      }),
      uuid: t.exposeString('uuid', { nullable: true, description: 'An id that the step has in every environment.' }),
      name: t.exposeString('name', { nullable: true, description: 'The name that people see.' }),
      templateId: t.exposeID('_templateId', { nullable: true, description: 'The id of `template`.' }),
      active: t.exposeBoolean('active', {
        nullable: true,
        description: 'Whether the step runs when the workflow is triggered.',
      }),
      shouldStopOnFail: t.exposeBoolean('shouldStopOnFail', {
        nullable: true,
        description: 'Whether the workflow stops if this step fails.',
      }),
      template: t.expose('template', {
        type: StepTemplate,
        nullable: true,
        description: 'The content to send. Null if the service sent none.',
      }),
      filters: t.field({
        type: [StepFilter],
        description: 'The conditions under which the step runs. Empty if it always runs.',
        resolve: ({ filters }) => filters ?? [],
      }),
      parentId: t.expose('_parentId', {
        type: 'JSON',
        nullable: true,
        description: 'The previous step, as sent by the service. Null for the first step.',
      }),
      metadata: t.expose('metadata', {
        type: StepMetadata,
        nullable: true,
        description: 'The settings of a digest or delay. Null for other steps.',
      }),
      replyCallback: t.expose('replyCallback', {
        type: 'JSONObject',
        nullable: true,
        description: 'The destination of replies to an email, as sent by the service.',
      }),
    }),
  });

  const TemplateVariable = builder
    .objectRef<NonNullable<StepTemplateBody['variables']>[number]>('TemplateVariable')
    .implement({
      description: 'A placeholder in the content of a step.',
      fields: (t) => ({
        id: t.id({
          nullable: true,
          description: "The placeholder's id, or null if the service sent none.",
          resolve: ({ _id, id }) => _id ?? id,
        }),
        name: t.exposeString('name', {
          description: 'The name, as written between the braces: `name` for `{{name}}`.',
        }),
        type: t.exposeString('type', { nullable: true, description: 'The type of the value, such as `String`.' }),
        required: t.exposeBoolean('required', { nullable: true, description: 'Whether a trigger must send a value.' }),
      }),
    });

  const StepTemplate = builder.objectRef<StepTemplateBody>('StepTemplate').implement({
    description: 'The content of the message that a step sends.',
    fields: (t) => ({
      id: t.id({
        nullable: true,
        description: "The template's id, or null if the service sent none.",
        resolve: ({ _id, id }) => _id ?? id,
      }),
      type: t.exposeString('type', {
        nullable: true,
        description: 'The channel or kind of the step, such as `email`, `in_app` or `digest`.',
      }),
      active: t.exposeBoolean('active', { nullable: true, description: 'Whether the template is active.' }),
      subject: t.exposeString('subject', {
        nullable: true,
        description: 'The subject of an email. Null for other channels.',
      }),
      variables: t.field({
        type: [TemplateVariable],
        description: 'The placeholders in the content.',
        resolve: ({ variables }) => variables ?? [],
      }),
      content: t.string({
        nullable: true,
        description: 'The text with placeholders such as `{{name}}`. Null if the content is in `contentBlocks`.',
        resolve: ({ content }) => (typeof content === 'string' ? content : null),
      }),
      contentBlocks: t.field({
        type: ['JSONObject'],
        nullable: true,
        description: 'The blocks of an email made with the visual editor. Null if the content is in `content`.',
        resolve: ({ content }) => (Array.isArray(content) ? content : null),
      }),
      contentType: t.exposeString('contentType', {
        nullable: true,
        description: 'The format of an email, such as `editor`.',
      }),
      feedId: t.exposeID('_feedId', {
        nullable: true,
        description: 'The id of the feed that shows an in-app message. Null if none.',
      }),
      layoutId: t.exposeID('_layoutId', {
        nullable: true,
        description: 'The id of the layout of an email. Null if none.',
      }),
      creatorId: t.exposeID('_creatorId', {
        nullable: true,
        description: 'The id of the user who created the template.',
      }),
      organizationId: t.exposeID('_organizationId', {
        nullable: true,
        description: 'The id of the organization that owns the template.',
      }),
      environmentId: t.exposeID('_environmentId', {
        nullable: true,
        description: 'The id of the environment that the template belongs to.',
      }),
      deleted: t.exposeBoolean('deleted', { nullable: true, description: 'Whether the template is deleted.' }),
      createdAt: t.expose('createdAt', {
        type: 'DateTime',
        nullable: true,
        description: 'The time when the template was created.',
      }),
      updatedAt: t.expose('updatedAt', {
        type: 'DateTime',
        nullable: true,
        description: 'The time when the template was last changed.',
      }),
      revision: t.exposeInt('__v', { nullable: true, description: 'The revision number that the service assigned.' }),
    }),
  });

  return { WorkflowStep };
});
