import type { TriggerBody } from '../../upstream/resources/workflows.ts';
import { builder } from '../builder.ts';

const TriggerVariable = builder.objectRef<NonNullable<TriggerBody['variables']>[number]>('TriggerVariable').implement({
  description: 'A variable that the content of a workflow uses.',
  fields: (t) => ({
    id: t.id({
      nullable: true,
      description: "The variable's id, or null if the service sent none.",
      resolve: ({ _id, id }) => _id ?? id,
    }),
    name: t.exposeString('name', { description: 'The name, as used in the content.' }),
    type: t.exposeString('type', { nullable: true, description: 'The type of the value, such as `String`.' }),
  }),
});

export const WorkflowTrigger = builder.objectRef<TriggerBody>('WorkflowTrigger').implement({
  description: 'A trigger with which an app starts a workflow.',
  fields: (t) => ({
    id: t.id({
      nullable: true,
      description: "The trigger's id, or null if the service sent none.",
      resolve: ({ _id, id }) => _id ?? id,
    }),
    type: t.exposeString('type', { nullable: true, description: 'The kind of trigger, such as `event`.' }),
    identifier: t.exposeString('identifier', {
      description: 'The identifier with which apps trigger the workflow. The query `workflow` accepts it too.',
    }),
    variables: t.field({
      type: [TriggerVariable],
      description: 'The variables that a trigger sends.',
      resolve: ({ variables }) => variables ?? [],
    }),
    reservedVariables: t.field({
      type: ['JSON'],
      description: 'The variables that the service sets itself, as sent by the service.',
      resolve: ({ reservedVariables }) => reservedVariables ?? [],
    }),
    subscriberVariables: t.field({
      type: [TriggerVariable],
      description: 'The variables that are read from the subscriber.',
      resolve: ({ subscriberVariables }) => subscriberVariables ?? [],
    }),
  }),
});
