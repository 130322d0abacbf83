import type { StepBody } from '../../upstream/resources/workflows.ts';
import { builder } from '../builder.ts';
import { StepTemplate } from './step-template.ts';

type Metadata = NonNullable<StepBody['metadata']>;
type Filter = NonNullable<StepBody['filters']>[number];

const TimedSettings = builder.objectRef<NonNullable<Metadata['timed']>>('TimedSettings').implement({
  description: 'The days on which a timed digest is sent.',
  fields: (t) => ({
    weekDays: t.field({ type: ['JSON'], description: 'Days of the week.', resolve: ({ weekDays }) => weekDays ?? [] }),
    monthDays: t.field({
      type: ['JSON'],
      description: 'Days of the month.',
      resolve: ({ monthDays }) => monthDays ?? [],
    }),
  }),
});

const StepMetadata = builder.objectRef<Metadata>('StepMetadata').implement({
  description: 'The settings of a digest or delay step.',
  fields: (t) => ({
    amount: t.exposeFloat('amount', {
      nullable: true,
      description: 'The number of units to wait or to collect events.',
    }),
    unit: t.exposeString('unit', { nullable: true, description: 'The unit of `amount`, such as `seconds`.' }),
    digestKey: t.exposeString('digestKey', {
      nullable: true,
      description: 'The variable by which events are grouped.',
    }),
    type: t.exposeString('type', { nullable: true, description: 'The kind of digest or delay, such as `regular`.' }),
    backoff: t.exposeBoolean('backoff', {
      nullable: true,
      description: 'Whether the first event is sent immediately and the digest starts with the second.',
    }),
    backoffAmount: t.exposeFloat('backoffAmount', {
      nullable: true,
      description: 'The number of units that the backoff looks back.',
    }),
    backoffUnit: t.exposeString('backoffUnit', {
      nullable: true,
      description: 'The unit of `backoffAmount`, such as `seconds`.',
    }),
    updateMode: t.exposeBoolean('updateMode', {
      nullable: true,
      description: 'Whether to update a sent message instead of sending another.',
    }),
    timed: t.expose('timed', {
      type: TimedSettings,
      nullable: true,
      description: 'The schedule of a timed digest, or null if the digest is not timed.',
    }),
  }),
});

const StepFilterCondition = builder
  .objectRef<NonNullable<Filter['children']>[number]>('StepFilterCondition')
  .implement({
    description: 'One comparison of a filter.',
    fields: (t) => ({
      field: t.exposeString('field', { nullable: true, description: 'The field to compare.' }),
      value: t.exposeString('value', { nullable: true, description: 'The value to compare the field with.' }),
      operator: t.exposeString('operator', { nullable: true, description: 'The operator, such as `LARGER`.' }),
      on: t.exposeString('on', { nullable: true, description: 'The owner of the field, such as `subscriber`.' }),
    }),
  });

const StepFilter = builder.objectRef<Filter>('StepFilter').implement({
  description: 'Conditions for running a step.',
  fields: (t) => ({
    id: t.id({ nullable: true, description: "The record's id.", resolve: ({ _id, id }) => _id ?? id }),
    isNegated: t.exposeBoolean('isNegated', { nullable: true, description: 'Whether the conditions are negated.' }),
    type: t.exposeString('type', { nullable: true, description: 'The kind of filter, such as `BOOLEAN`.' }),
    value: t.exposeString('value', {
      nullable: true,
      description: 'The operator that combines the conditions, such as `AND`.',
    }),
    children: t.field({
      type: [StepFilterCondition],
      description: 'The conditions.',
      resolve: ({ children }) => children ?? [],
    }),
  }),
});

export const WorkflowStep = builder.objectRef<StepBody>('WorkflowStep').implement({
  description: 'One step of a workflow: a message over one channel, or a digest or delay.',
  fields: (t) => ({
    id: t.id({ nullable: true, description: "The record's id.", resolve: ({ _id, id }) => _id ?? id }),
    uuid: t.exposeString('uuid', { nullable: true, description: 'An id that stays the same across environments.' }),
    name: t.exposeString('name', { nullable: true, description: 'The display name.' }),
    templateId: t.exposeID('_templateId', { nullable: true, description: 'The id of its template.' }),
    active: t.exposeBoolean('active', { nullable: true, description: 'Whether the step runs.' }),
    shouldStopOnFail: t.exposeBoolean('shouldStopOnFail', {
      nullable: true,
      description: 'Whether the workflow stops if this step fails.',
    }),
    template: t.expose('template', {
      type: StepTemplate,
      nullable: true,
      description: 'The content to send, or null if the service sent none.',
    }),
    filters: t.field({
      type: [StepFilter],
      description: 'The conditions for running the step; empty if it always runs.',
      resolve: ({ filters }) => filters ?? [],
    }),
    parentId: t.expose('_parentId', {
      type: 'JSON',
      nullable: true,
      description: 'The previous step as sent by the service: null or an object.',
    }),
    metadata: t.expose('metadata', {
      type: StepMetadata,
      nullable: true,
      description: 'The settings of a digest or delay; null for other steps.',
    }),
    replyCallback: t.expose('replyCallback', {
      type: 'JSONObject',
      nullable: true,
      description: 'The reply settings of an email, as sent by the service.',
    }),
  }),
});
