import type { StepTemplateBody } from '../../upstream/resources/workflows.ts';
import { builder } from '../builder.ts';

const TemplateVariable = builder
  .objectRef<NonNullable<StepTemplateBody['variables']>[number]>('TemplateVariable')
  .implement({
    description: 'A placeholder of a template.',
    fields: (t) => ({
      id: t.id({ nullable: true, description: "The record's id.", resolve: ({ _id, id }) => _id ?? id }),
      name: t.exposeString('name', { description: 'Its name, as written between the braces.' }),
      type: t.exposeString('type', { nullable: true, description: 'Its type, such as `String`.' }),
      required: t.exposeBoolean('required', { nullable: true, description: 'Whether a value is required.' }),
    }),
  });

export const StepTemplate = builder.objectRef<StepTemplateBody>('StepTemplate').implement({
  description: 'The content that a step sends.',
  fields: (t) => ({
    id: t.id({ nullable: true, description: "The record's id.", resolve: ({ _id, id }) => _id ?? id }),
    type: t.exposeString('type', {
      nullable: true,
      description: 'The channel or kind of step, such as `chat` or `digest`.',
    }),
    active: t.exposeBoolean('active', { nullable: true, description: 'Whether it is active.' }),
    subject: t.exposeString('subject', { nullable: true, description: 'The subject of an email.' }),
    variables: t.field({
      type: [TemplateVariable],
      description: 'The placeholders.',
      resolve: ({ variables }) => variables ?? [],
    }),
    content: t.string({
      nullable: true,
      description: 'The text with placeholders such as `{{name}}`, or null if the content consists of editor blocks.',
      resolve: ({ content }) => (typeof content === 'string' ? content : null),
    }),
    contentBlocks: t.field({
      type: ['JSONObject'],
      nullable: true,
      description: 'The editor blocks of an email, or null if the content is text.',
      resolve: ({ content }) => (Array.isArray(content) ? content : null),
    }),
    contentType: t.exposeString('contentType', {
      nullable: true,
      description: 'The format of the content, such as `editor`.',
    }),
    feedId: t.exposeID('_feedId', {
      nullable: true,
      description: 'The id of the feed of an in-app message, or null if none.',
    }),
    layoutId: t.exposeID('_layoutId', {
      nullable: true,
      description: 'The id of the layout of an email, or null if none.',
    }),
    creatorId: t.exposeID('_creatorId', { nullable: true, description: 'The id of the user who created it.' }),
    organizationId: t.exposeID('_organizationId', { nullable: true, description: 'The id of its organization.' }),
    environmentId: t.exposeID('_environmentId', { nullable: true, description: 'The id of its environment.' }),
    deleted: t.exposeBoolean('deleted', { nullable: true, description: 'Whether it is deleted.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', nullable: true, description: 'When it was created.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', nullable: true, description: 'When it was last updated.' }),
    revision: t.exposeInt('__v', { nullable: true, description: 'The revision of the record (`__v` in REST).' }),
  }),
});
