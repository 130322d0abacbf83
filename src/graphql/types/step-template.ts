import type { StepTemplateBody } from '../../upstream/resources/workflows.ts';
import { builder } from '../builder.ts';

const TemplateVariable = builder
  .objectRef<NonNullable<StepTemplateBody['variables']>[number]>('TemplateVariable')
  .implement({
    description: 'A placeholder of a template.',
    fields: (t) => ({
      id: t.id({ nullable: true, description: "The service's id.", resolve: ({ _id, id }) => _id ?? id }),
      name: t.exposeString('name', { description: 'Its name between the braces.' }),
      type: t.exposeString('type', { nullable: true, description: 'Its type, such as String.' }),
      required: t.exposeBoolean('required', { nullable: true, description: 'Whether a value must be given.' }),
    }),
  });

export const StepTemplate = builder.objectRef<StepTemplateBody>('StepTemplate').implement({
  description: 'What a step sends.',
  fields: (t) => ({
    id: t.id({ nullable: true, description: "The service's id.", resolve: ({ _id, id }) => _id ?? id }),
    type: t.exposeString('type', {
      nullable: true,
      description: 'The channel or kind of step, such as chat or digest.',
    }),
    active: t.exposeBoolean('active', { nullable: true, description: 'Whether it is used.' }),
    subject: t.exposeString('subject', { nullable: true, description: 'The subject of an e-mail.' }),
    variables: t.field({
      type: [TemplateVariable],
      description: 'The placeholders.',
      resolve: ({ variables }) => variables ?? [],
    }),
    content: t.string({
      nullable: true,
      description: 'The text, with placeholders such as {{name}}; null when the service stored editor blocks.',
      resolve: ({ content }) => (typeof content === 'string' ? content : null),
    }),
    contentBlocks: t.field({
      type: ['JSONObject'],
      nullable: true,
      description: 'The editor blocks of an e-mail; null when the service stored text.',
      resolve: ({ content }) => (Array.isArray(content) ? content : null),
    }),
    contentType: t.exposeString('contentType', {
      nullable: true,
      description: 'How the content was written, such as editor.',
    }),
    feedId: t.exposeID('_feedId', { nullable: true, description: 'The feed of an in-app message; null: none.' }),
    layoutId: t.exposeID('_layoutId', { nullable: true, description: 'The layout around an e-mail; null: none.' }),
    creatorId: t.exposeID('_creatorId', { nullable: true, description: 'The user who created it.' }),
    organizationId: t.exposeID('_organizationId', { nullable: true, description: 'The organization it belongs to.' }),
    environmentId: t.exposeID('_environmentId', { nullable: true, description: 'The environment it belongs to.' }),
    deleted: t.exposeBoolean('deleted', { nullable: true, description: 'Whether it is deleted.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', nullable: true, description: 'When it was created.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', nullable: true, description: 'When it was changed last.' }),
    revision: t.exposeInt('__v', { nullable: true, description: "The record's revision. On the wire: __v." }),
  }),
});
