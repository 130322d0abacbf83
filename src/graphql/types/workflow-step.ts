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
    amount: t.exposeFloat('amount', { nullable: true, description: 'How many units to wait or to collect.' }),
    unit: t.exposeString('unit', { nullable: true, description: 'The unit of amount, such as seconds.' }),
    digestKey: t.exposeString('digestKey', {
      nullable: true,
      description: 'The variable by which events are put together.',
    }),
    type: t.exposeString('type', { nullable: true, description: 'The kind of digest or delay, such as regular.' }),
    backoff: t.exposeBoolean('backoff', {
      nullable: true,
      description: 'Whether the first event is sent at once and the digest starts with the second.',
    }),
    backoffAmount: t.exposeFloat('backoffAmount', {
      nullable: true,
      description: 'How many units the backoff looks back.',
    }),
    backoffUnit: t.exposeString('backoffUnit', {
      nullable: true,
      description: 'The unit of backoffAmount, such as seconds.',
    }),
    updateMode: t.exposeBoolean('updateMode', {
      nullable: true,
      description: 'Whether a message that was sent is updated instead of sending another.',
    }),
    timed: t.expose('timed', {
      type: TimedSettings,
      nullable: true,
      description: 'When a timed digest is sent; null: it is not timed.',
    }),
  }),
});

const StepFilterCondition = builder
  .objectRef<NonNullable<Filter['children']>[number]>('StepFilterCondition')
  .implement({
    description: 'One comparison of a filter.',
    fields: (t) => ({
      field: t.exposeString('field', { nullable: true, description: 'What is compared.' }),
      value: t.exposeString('value', { nullable: true, description: 'What it is compared with.' }),
      operator: t.exposeString('operator', { nullable: true, description: 'How, such as LARGER.' }),
      on: t.exposeString('on', { nullable: true, description: 'Whose field it is, such as subscriber.' }),
    }),
  });

const StepFilter = builder.objectRef<Filter>('StepFilter').implement({
  description: 'Conditions under which a step is carried out.',
  fields: (t) => ({
    id: t.id({ nullable: true, description: "The service's id.", resolve: ({ _id, id }) => _id ?? id }),
    isNegated: t.exposeBoolean('isNegated', { nullable: true, description: 'Whether the conditions must not hold.' }),
    type: t.exposeString('type', { nullable: true, description: 'The kind of filter, such as BOOLEAN.' }),
    value: t.exposeString('value', { nullable: true, description: 'How the conditions are joined, such as AND.' }),
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
    id: t.id({ nullable: true, description: "The service's id.", resolve: ({ _id, id }) => _id ?? id }),
    uuid: t.exposeString('uuid', { nullable: true, description: 'An id that stays the same across environments.' }),
    name: t.exposeString('name', { nullable: true, description: 'The name shown to people.' }),
    templateId: t.exposeID('_templateId', { nullable: true, description: 'The id of its template.' }),
    active: t.exposeBoolean('active', { nullable: true, description: 'Whether it is carried out.' }),
    shouldStopOnFail: t.exposeBoolean('shouldStopOnFail', {
      nullable: true,
      description: 'Whether a failure ends the workflow.',
    }),
    template: t.expose('template', {
      type: StepTemplate,
      nullable: true,
      description: 'What is sent; null: the service sent none.',
    }),
    filters: t.field({
      type: [StepFilter],
      description: 'When it is carried out; empty: always.',
      resolve: ({ filters }) => filters ?? [],
    }),
    parentId: t.expose('_parentId', {
      type: 'JSON',
      nullable: true,
      description: 'The step before it, as the service sends it: null or an object.',
    }),
    metadata: t.expose('metadata', {
      type: StepMetadata,
      nullable: true,
      description: 'Settings of a digest or delay; null for other steps.',
    }),
    replyCallback: t.expose('replyCallback', {
      type: 'JSONObject',
      nullable: true,
      description: 'Where replies to an e-mail go, as the service sends it.',
    }),
  }),
});
