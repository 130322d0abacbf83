import type { TriggerBody } from '../../upstream/resources/workflows.ts';
import { builder } from '../builder.ts';

const TriggerVariable = builder.objectRef<NonNullable<TriggerBody['variables']>[number]>('TriggerVariable').implement({
  description: 'A value that whoever triggers the workflow may give.',
  fields: (t) => ({
    id: t.id({ nullable: true, description: "The service's id.", resolve: ({ _id, id }) => _id ?? id }),
    name: t.exposeString('name', { description: 'Its name in templates.' }),
    type: t.exposeString('type', { nullable: true, description: 'Its type, such as String.' }),
  }),
});

export const WorkflowTrigger = builder.objectRef<TriggerBody>('WorkflowTrigger').implement({
  description: 'What starts a workflow.',
  fields: (t) => ({
    id: t.id({ nullable: true, description: "The service's id.", resolve: ({ _id, id }) => _id ?? id }),
    type: t.exposeString('type', { nullable: true, description: 'The kind of trigger, such as event.' }),
    identifier: t.exposeString('identifier', { description: 'The name that starts the workflow; it also finds it.' }),
    variables: t.field({
      type: [TriggerVariable],
      description: 'What the templates take from the event.',
      resolve: ({ variables }) => variables ?? [],
    }),
    reservedVariables: t.field({
      type: ['JSON'],
      description: 'Variables that the service itself fills in, as it sends them.',
      resolve: ({ reservedVariables }) => reservedVariables ?? [],
    }),
    subscriberVariables: t.field({
      type: [TriggerVariable],
      description: 'What the templates take from the subscriber.',
      resolve: ({ subscriberVariables }) => subscriberVariables ?? [],
    }),
  }),
});
