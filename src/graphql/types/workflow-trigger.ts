import type { TriggerBody } from '../../upstream/resources/workflows.ts';
import { builder } from '../builder.ts';

const TriggerVariable = builder.objectRef<NonNullable<TriggerBody['variables']>[number]>('TriggerVariable').implement({
  description: 'A value used by the templates of a workflow.',
  fields: (t) => ({
    id: t.id({ nullable: true, description: "The record's id.", resolve: ({ _id, id }) => _id ?? id }),
    name: t.exposeString('name', { description: 'Its name in templates.' }),
    type: t.exposeString('type', { nullable: true, description: 'Its type, such as `String`.' }),
  }),
});

export const WorkflowTrigger = builder.objectRef<TriggerBody>('WorkflowTrigger').implement({
  description: 'A trigger that starts a workflow.',
  fields: (t) => ({
    id: t.id({ nullable: true, description: "The record's id.", resolve: ({ _id, id }) => _id ?? id }),
    type: t.exposeString('type', { nullable: true, description: 'The kind of trigger, such as `event`.' }),
    identifier: t.exposeString('identifier', {
      description: 'The identifier used to trigger the workflow. You can also use it to query the workflow.',
    }),
    variables: t.field({
      type: [TriggerVariable],
      description: 'The variables that templates read from the event.',
      resolve: ({ variables }) => variables ?? [],
    }),
    reservedVariables: t.field({
      type: ['JSON'],
      description: 'The variables that the service sets, as sent by the service.',
      resolve: ({ reservedVariables }) => reservedVariables ?? [],
    }),
    subscriberVariables: t.field({
      type: [TriggerVariable],
      description: 'The variables that templates read from the subscriber.',
      resolve: ({ subscriberVariables }) => subscriberVariables ?? [],
    }),
  }),
});
